#include "comm/shared/shared_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

#include "comm/collectives.h"
#include "core/file_descriptor.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

// Before the area, on a line of its own: how often its rank has published (u64), and its key (u64).
constexpr std::size_t kHeadBytes = 64;

// Where a rank's area is to be found.
struct Place {
  std::uint64_t machine = 0;  // of processes that can find one another by number; 0: there is no area
  std::int64_t process = 0;
  std::int64_t file = 0;  // its descriptor there
  std::uint64_t key = 0;  // that its area begins with; any other file is another one
};

std::uint64_t random_key() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// Ranks share where host name, running kernel and numbering of processes are the same. The host name is what makes a
// machine in the eyes of a user; ranks that were given names of their own share nothing.
std::uint64_t machine_of(const std::string& host) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  const std::string processes = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  if (boot.empty() || error) return 0;
  return hash_label(host + '\n' + boot + '\n' + processes) | 1;
}

// A file in memory, without a name; its pages are there, so that no access can fail later. None where that fails.
FileDescriptor make_file(std::size_t bytes) {
  FileDescriptor file(memfd_create("cpt shared space", MFD_CLOEXEC));
  int failure = file.get() < 0 ? errno : EINTR;
  while (failure == EINTR) failure = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  return failure == 0 ? std::move(file) : FileDescriptor();
}

// The file of another rank. None where this one may not open it, or where what it finds cannot be one: /proc may show
// other processes than those that the ranks are.
FileDescriptor open_file(const Place& place, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return FileDescriptor();
  const bool fits = S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == bytes;
  return fits ? std::move(file) : FileDescriptor();
}

std::uint64_t& key_of(std::byte* mapping) { return *reinterpret_cast<std::uint64_t*>(mapping + sizeof(std::uint64_t)); }

std::atomic_ref<std::uint64_t> times_published(std::byte* mapping) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(mapping));
}

}  // namespace

void SharedWindow::Unmap::operator()(std::byte* at) const { munmap(at, bytes); }

// Nothing where that fails.
SharedWindow::Mapping SharedWindow::map(int file, std::size_t bytes, int protection) {
  void* at = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
  return {at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at), Unmap{bytes}};
}

SharedWindow::SharedWindow(Communicator& comm, std::size_t bytes)
    : rank_(static_cast<std::size_t>(comm.rank())), mappings_(static_cast<std::size_t>(comm.size())) {
  const std::size_t mapped = kHeadBytes + bytes;
  const FileDescriptor file = make_file(mapped);
  mappings_[rank_] = map(file.get(), mapped, PROT_READ | PROT_WRITE);
  Place mine;
  if (std::byte* own = mappings_[rank_].get(); own != nullptr) {
    mine = {machine_of(comm.host()), getpid(), file.get(), random_key()};
    key_of(own) = mine.key;
  }
  const std::vector<Place> places = all_gather_value(comm, mine, "share memory");
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (rank == rank_ || places[rank].machine == 0 || places[rank].machine != mine.machine) continue;
    Mapping mapping = map(open_file(places[rank], mapped).get(), mapped, PROT_READ);
    if (mapping != nullptr && key_of(mapping.get()) == places[rank].key) mappings_[rank] = std::move(mapping);
  }
  tell_readers(comm);  // and all have opened what they could
}

void SharedWindow::tell_readers(Communicator& comm) {
  std::vector<unsigned char> reads;
  for (const Mapping& mapping : mappings_) reads.push_back(mapping == nullptr ? 0 : 1);
  read_by_.resize(reads.size());
  std::vector<ConstBytes> told;
  std::vector<Bytes> heard;
  for (std::size_t rank = 0; rank < reads.size(); ++rank) {
    told.push_back(bytes_of(reads[rank]));
    heard.push_back(writable_bytes_of(read_by_[rank]));
  }
  comm.wait(*comm.start_exchange(std::move(told), std::move(heard)), "share memory");
}

Bytes SharedWindow::area_of(const Mapping& mapping) {
  if (mapping == nullptr) return {};
  return {mapping.get() + kHeadBytes, mapping.get_deleter().bytes - kHeadBytes};
}

Bytes SharedWindow::mine() const { return area_of(mappings_[rank_]); }

void SharedWindow::publish() const {
  const Mapping& mapping = mappings_[rank_];
  if (mapping != nullptr) times_published(mapping.get()).fetch_add(1, std::memory_order_release);
}

ConstBytes SharedWindow::of(int rank) const {
  const Mapping& mapping = mappings_[static_cast<std::size_t>(rank)];
  if (mapping != nullptr) static_cast<void>(times_published(mapping.get()).load(std::memory_order_acquire));
  return area_of(mapping);
}

}  // namespace cpt
