#%Module
# Environment Modules: modulefiles/forebay/0.1.0. Set prefix; load the MPI, HDF5 and PnetCDF that Forebay was built
# with before.
set prefix /opt/forebay/0.1.0
set libdir [expr {[file isdirectory $prefix/lib64/forebay] ? "$prefix/lib64" : "$prefix/lib"}]

module-whatis "forebay 0.1.0: merges small parallel HDF5 and PnetCDF writes into few large ones"
proc ModulesHelp {} {
  puts stderr "Under an unchanged program:   mpiexec -n 64 forebay run ./model"
  puts stderr "Whether it works here:        forebay doctor FOLDER"
}

conflict forebay
# prereq openmpi/5.0.7 hdf5/1.14.5
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
append-path MANPATH "" ;# the system's own pages stay
prepend-path CMAKE_PREFIX_PATH $prefix
prepend-path PKG_CONFIG_PATH $libdir/pkgconfig
prepend-path CPATH $prefix/include
prepend-path LIBRARY_PATH $libdir
prepend-path LD_LIBRARY_PATH $libdir
setenv FOREBAY_ROOT $prefix
