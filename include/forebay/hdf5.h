/** @file
 * Forebay's HDF5 virtual file driver in C: how a program selects it, and how it is configured. A program that
 * cannot be changed needs none of this: HDF5_DRIVER=forebay with HDF5_PLUGIN_PATH, or `forebay run`. */
#ifndef FOREBAY_HDF5_H
#define FOREBAY_HDF5_H

#include <forebay/status.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the driver: HDF5_DRIVER, H5Pset_driver_by_name. */
#define H5FD_FOREBAY_NAME "forebay"
/** Number of the driver, from the range that HDF5 leaves to drivers that are not registered with it. */
#define H5FD_FOREBAY_VALUE 447
/** Identifier of the driver in this process; negative, with an entry on the error stack, where it cannot be
 * used. */
#define H5FD_FOREBAY (H5FD_forebay_init())

/** H5FD_forebay_config_t.magic */
#define H5FD_FOREBAY_CONFIG_MAGIC 0x46624859u
/** H5FD_forebay_config_t.version */
#define H5FD_FOREBAY_CONFIG_VERSION 1u
/** Room for hints, the closing zero included. */
#define H5FD_FOREBAY_HINTS_SIZE 2048

/**
 * How a file is to be written. Begin with H5FD_FOREBAY_CONFIG_INIT, which says how much of the struct the
 * program knows: later versions append.
 */
typedef struct H5FD_forebay_config_t {
  uint32_t magic;                      /**< H5FD_FOREBAY_CONFIG_MAGIC */
  uint32_t version;                    /**< H5FD_FOREBAY_CONFIG_VERSION */
  uint32_t size;                       /**< sizeof(H5FD_forebay_config_t) where the program was compiled */
  uint32_t flags;                      /**< 0 */
  char hints[H5FD_FOREBAY_HINTS_SIZE]; /**< "key=value;key=value", as in FOREBAY_HINTS and HDF5_DRIVER_CONFIG;
                                          may be empty */
} H5FD_forebay_config_t;

/** No hints. */
#define H5FD_FOREBAY_CONFIG_INIT \
  {H5FD_FOREBAY_CONFIG_MAGIC, H5FD_FOREBAY_CONFIG_VERSION, (uint32_t)sizeof(H5FD_forebay_config_t), 0u, {0}}

/** Registers the driver with the HDF5 library if it is not yet, and returns its identifier. */
FOREBAY_API hid_t H5FD_forebay_init(void);

/**
 * Selects Forebay for files opened with this access list, as H5Pset_fapl_mpio selects the stock driver:
 * all ranks of the communicator call it together, and communicator and info are duplicated. `config` NULL
 * means the defaults. A malformed hint is refused here, with the reason on the error stack of every rank.
 */
FOREBAY_API herr_t H5Pset_fapl_forebay(hid_t fapl_id, MPI_Comm comm, MPI_Info info,
                                       const H5FD_forebay_config_t* config);

/**
 * What the access list holds. Each of the three may be NULL; communicator and info are duplicates that the
 * caller frees, `config` has to be initialized with H5FD_FOREBAY_CONFIG_INIT. Fails for an access list with
 * another driver.
 */
FOREBAY_API herr_t H5Pget_fapl_forebay(hid_t fapl_id, MPI_Comm* comm, MPI_Info* info,
                                       H5FD_forebay_config_t* config);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_HDF5_H */
