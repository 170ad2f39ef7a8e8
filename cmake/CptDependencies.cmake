# What the libraries up to api link. The installed package includes this file too, so that it finds the same and no more:
# no MPI. All are Debian packages; launch/install_packages installs them.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
find_dependency(hwy)
find_dependency(PkgConfig)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
