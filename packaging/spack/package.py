# For Spack 1.0 and later. packaging/README.md says where to put it.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Forebay(CMakePackage):
    """Merges the many small HDF5 and PnetCDF writes of an MPI program into few large, stripe-aligned ones: across
    datasets, calls and the ranks of a node. The file is the one that the stock library would have made."""

    homepage = "https://example.org/forebay"  # the site's mirror of the sources
    url = "https://example.org/forebay/forebay-0.1.0.tar.gz"
    git = "https://example.org/forebay/forebay.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("hdf5", default=True, description="The HDF5 driver")
    variant("pnetcdf", default=True, description="The PnetCDF driver")
    variant("kokkos", default=False, description="Kokkos views")
    variant("fortran", default=True, description="The Fortran module")
    variant("tools", default=True, description="The forebay command")
    variant("hwloc", default=True, description="Aggregators by NUMA domains and network cards")
    variant("config", default=True, description="Settings by file (FOREBAY_CONFIG)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("mpi@3.1:")
    depends_on("nlohmann-json", type="build")
    depends_on("xxhash@0.8:", type="build")
    depends_on("hdf5@1.14: +mpi +shared", when="+hdf5")
    depends_on("parallel-netcdf@1.12.3: +shared", when="+pnetcdf")
    depends_on("kokkos@4:", when="+kokkos")
    depends_on("cli11", type="build", when="+tools")
    depends_on("fmt", when="+tools")
    depends_on("hwloc@2.1:2", when="+hwloc")
    depends_on("tomlplusplus@3:", type="build", when="+config")

    conflicts("%gcc@:11", msg="Forebay is written in C++20")

    def cmake_args(self):
        features = ["hdf5", "pnetcdf", "kokkos", "fortran", "tools", "config", "hwloc"]
        args = [self.define_from_variant("FOREBAY_" + name.upper(), name) for name in features]
        args += [self.define("FOREBAY_TESTS", False), self.define("FOREBAY_BENCH", False)]
        args += [self.define("FOREBAY_EXAMPLES", False)]
        if self.spec.satisfies("+hdf5"):
            args.append(self.define("HDF5_ROOT", self.spec["hdf5"].prefix))
        if self.spec.satisfies("+pnetcdf"):
            args.append(self.define("PnetCDF_ROOT", self.spec["parallel-netcdf"].prefix))
        # For plots in reports: args.append(self.define("FOREBAY_CHART_JS", "/path/chart.umd.js"))
        return args

    def test_doctor(self):
        """the drivers write right files"""
        if not self.spec.satisfies("+tools +hdf5 +pnetcdf"):
            raise SkipTest("the command and both drivers are needed")
        which(self.prefix.bin.forebay)("doctor")
