#include "comm/shared_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "comm/collectives.h"
#include "core/file_descriptor.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

// Before the area: how often its rank has published, on a line of its own.
constexpr std::size_t kHeadBytes = 64;

// Where a rank's area is to be found.
struct Place {
  std::uint64_t machine = 0;  // of processes that can find one another by number; 0: there is no area
  std::int64_t process = 0;
  std::int64_t file = 0;  // its descriptor there
};

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
  if (file.get() < 0 || posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) == 0) return file;
  return FileDescriptor();
}

// The file of another rank. None where this one may not open it.
FileDescriptor open_file(const Place& place) {
  const std::string path = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

class SharedSpace::Mapping {
 public:
  // nullptr where that fails.
  static std::unique_ptr<Mapping> of_file(const FileDescriptor& file, std::size_t bytes, int protection) {
    if (file.get() < 0) return nullptr;
    void* at = mmap(nullptr, bytes, protection, MAP_SHARED, file.get(), 0);
    return at == MAP_FAILED ? nullptr : std::make_unique<Mapping>(at, bytes);
  }

  Mapping(void* at, std::size_t bytes) : at_(static_cast<std::byte*>(at)), bytes_(bytes) {}
  ~Mapping() { munmap(at_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  Bytes area() const { return {at_ + kHeadBytes, bytes_ - kHeadBytes}; }
  std::atomic_ref<std::uint64_t> published() const { return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at_)); }

 private:
  std::byte* at_;
  std::size_t bytes_;
};

SharedSpace::SharedSpace(Communicator& comm, std::size_t bytes) : rank_(static_cast<std::size_t>(comm.rank())) {
  const std::size_t mapped = kHeadBytes + bytes;
  const FileDescriptor file = make_file(mapped);
  std::unique_ptr<Mapping> own = Mapping::of_file(file, mapped, PROT_READ | PROT_WRITE);
  const Place mine{own == nullptr ? 0 : machine_of(comm.host()), getpid(), file.get()};
  const std::vector<Place> places = all_gather_value(comm, mine, "share memory");
  for (const Place& place : places) {
    const bool here = place.machine != 0 && place.machine == mine.machine;
    areas_.push_back(here ? Mapping::of_file(open_file(place), mapped, PROT_READ) : nullptr);
  }
  areas_[rank_] = std::move(own);
  tell_readers(comm);  // and all have opened what they could
}

SharedSpace::~SharedSpace() = default;

void SharedSpace::tell_readers(Communicator& comm) {
  std::vector<unsigned char> reads;
  for (const auto& area : areas_) reads.push_back(area == nullptr ? 0 : 1);
  read_by_.resize(reads.size());
  std::vector<ConstBytes> told;
  std::vector<Bytes> heard;
  for (std::size_t rank = 0; rank < reads.size(); ++rank) {
    told.push_back(bytes_of(reads[rank]));
    heard.push_back(writable_bytes_of(read_by_[rank]));
  }
  comm.wait(*comm.start_exchange(std::move(told), std::move(heard)), "share memory");
}

Bytes SharedSpace::mine() const { return areas_[rank_] == nullptr ? Bytes{} : areas_[rank_]->area(); }

void SharedSpace::publish() const {
  if (areas_[rank_] != nullptr) areas_[rank_]->published().fetch_add(1, std::memory_order_release);
}

ConstBytes SharedSpace::of(int rank) const {
  const auto& area = areas_[static_cast<std::size_t>(rank)];
  if (area == nullptr) return {};
  static_cast<void>(area->published().load(std::memory_order_acquire));
  return area->area();
}

}  // namespace cpt
