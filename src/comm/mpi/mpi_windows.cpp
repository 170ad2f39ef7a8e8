#include "comm/mpi/mpi_windows.h"

#include <sys/statvfs.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "comm/mpi/mpi_messages.h"

namespace cpt {

namespace {

constexpr std::size_t kAlignment = 64;

// MPI keeps windows in files of this memory file system. Containers often limit it to 64 MiB.
constexpr const char* kSharedMemory = "/dev/shm";
// The bytes that MPI itself needs in the file of a window, per rank.
constexpr std::uint64_t kBytesOfMpi = std::uint64_t{1} << 16;

std::uint64_t free_shared_memory() {
  struct statvfs status {};
  return statvfs(kSharedMemory, &status) == 0 ? std::uint64_t{status.f_bavail} * status.f_frsize : 0;
}

// The ranks of this host.
class Host {
 public:
  explicit Host(MPI_Comm comm) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm_), "MPI_Comm_split_type");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  ~Host() { MPI_Comm_free(&comm_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  MPI_Comm comm() const { return comm_; }
  int size() const { return size_; }

  bool all(bool mine) const {
    int value = mine ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
    return value != 0;
  }

  // The rank in `comm` of each rank of this host.
  std::vector<int> ranks_in(MPI_Comm comm) const {
    MPI_Group host_group = MPI_GROUP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    std::vector<int> ours(static_cast<std::size_t>(size_));
    std::iota(ours.begin(), ours.end(), 0);
    std::vector<int> ranks(ours.size());
    check_mpi(MPI_Comm_group(comm_, &host_group), "MPI_Comm_group");
    check_mpi(MPI_Comm_group(comm, &group), "MPI_Comm_group");
    check_mpi(MPI_Group_translate_ranks(host_group, size_, ours.data(), group, ranks.data()),
              "MPI_Group_translate_ranks");
    MPI_Group_free(&host_group);
    MPI_Group_free(&group);
    return ranks;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int size_ = 0;
};

// Whether a plain load sees plain stores of other ranks, as on all machines with coherent caches.
bool has_unified_memory(MPI_Win window) {
  int* model = nullptr;
  int found = 0;
  return MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found != 0 &&
         *model == MPI_WIN_UNIFIED;
}

// A window with an area of `bytes` for each rank of a host, each on its own pages; MPI_WIN_NULL if MPI refuses.
MPI_Win create_window(const Host& host, std::size_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  check_mpi(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, host.comm(), &base, &window);
  MPI_Info_free(&info);
  return code == MPI_SUCCESS ? window : MPI_WIN_NULL;
}

Bytes area_of(MPI_Win window, int rank, std::size_t bytes) {
  MPI_Aint size = 0;
  int unit = 0;
  void* base = nullptr;
  check_mpi(MPI_Win_shared_query(window, rank, &size, &unit, &base), "MPI_Win_shared_query");
  std::size_t room = static_cast<std::size_t>(size);
  if (std::align(kAlignment, bytes, base, room) == nullptr) {
    throw Error(Fault::kFailed, "MPI_Win_shared_query: an area is smaller than requested");
  }
  return {static_cast<std::byte*>(base), bytes};
}

}  // namespace

MpiWindows::~MpiWindows() {
  for (MPI_Win& window : windows_) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
}

// Checks the free memory first: a rank that runs out of it inside MPI_Win_allocate_shared leaves the others waiting
// there (Open MPI 4.1), and a process that writes to a page that cannot be allocated is killed.
std::vector<Bytes> MpiWindows::allocate(MPI_Comm comm, std::size_t bytes) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::vector<Bytes> areas(static_cast<std::size_t>(ranks));
  const Host host(comm);
  const std::uint64_t free = free_shared_memory() / static_cast<std::uint64_t>(host.size());
  const std::size_t size = bytes + kAlignment;
  const bool fits = bytes <= std::numeric_limits<std::uint32_t>::max() && size + kBytesOfMpi <= free;
  if (!host.all(fits)) return areas;

  const MPI_Win window = create_window(host, size);
  if (!host.all(window != MPI_WIN_NULL)) return areas;
  windows_.push_back(window);
  check_mpi(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
  if (!host.all(has_unified_memory(window))) return areas;

  const std::vector<int> rank_of = host.ranks_in(comm);
  int mine = 0;
  check_mpi(MPI_Comm_rank(comm, &mine), "MPI_Comm_rank");
  for (int rank = 0; rank < host.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank_of[static_cast<std::size_t>(rank)]);
    areas[at] = area_of(window, rank, bytes);
  }
  const Bytes own = areas[static_cast<std::size_t>(mine)];
  std::memset(own.data(), 0, own.size());  // allocates its pages now, so that later windows see what is left
  host.all(true);
  return areas;
}

}  // namespace cpt
