# The dependencies of the libraries up to api, without MPI. The installed package includes this file, too. All are Debian
# packages; launch/install_packages installs them.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
find_dependency(hwy)
find_dependency(PkgConfig)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
