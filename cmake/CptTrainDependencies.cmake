# The further dependencies of comm and train. The installed package includes this file for its component `train`.
find_dependency(MPI COMPONENTS CXX)
find_dependency(Boost 1.74 COMPONENTS mpi serialization)
