-- Lmod: modulefiles/forebay/0.1.0.lua. Set `prefix`; load the MPI, HDF5 and PnetCDF that Forebay was built with before.
local prefix = "/opt/forebay/0.1.0"
local libdir = pathJoin(prefix, isDir(pathJoin(prefix, "lib64/forebay")) and "lib64" or "lib")

whatis("Name: forebay")
whatis("Version: 0.1.0")
whatis("Description: merges small parallel HDF5 and PnetCDF writes into few large ones")
help([[
Under an unchanged program:   mpiexec -n 64 forebay run ./model
Whether it works here:        forebay doctor FOLDER
]])

-- prereq("openmpi/5.0.7", "hdf5/1.14.5")
family("forebay")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
append_path("MANPATH", "") -- the system's own pages stay
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(libdir, "pkgconfig"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("LIBRARY_PATH", libdir)
prepend_path("LD_LIBRARY_PATH", libdir)
setenv("FOREBAY_ROOT", prefix)
