// A library that stands before the C library and MPI in every rank of a job (LD_PRELOAD). It writes down the calls by
// which the rank changes files of the run directory and those by which it talks to other ranks, and kills the rank, or
// all of them, right before one such call. What it does is told by the environment:
//   CPT_CRASH_RUN     the run directory: calls on files elsewhere do not count
//   CPT_CRASH_FOLDER  where each rank writes its calls, "calls-RANK", a line each: KIND NAME PATH; and PROCESS.pid
//   CPT_CRASH_AT      "RANK KIND NUMBER WHO": before the NUMBER-th call of this kind, counted from 1, this rank kills
//                     itself or, if WHO is "all", all ranks; none are killed if it is not set
// Killed processes leave in files all that they wrote, synced or not. So syncs are counted but not done; what a power
// failure leaves is for the tests of the store.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

class Watch {
 public:
  Watch() : run_(variable("CPT_CRASH_RUN")), folder_(variable("CPT_CRASH_FOLDER")) {
    const std::string rank = variable("OMPI_COMM_WORLD_RANK");
    std::istringstream at(variable("CPT_CRASH_AT"));
    std::string victim;
    std::string lost;
    at >> victim >> kind_ >> number_ >> lost;
    dies_ = victim == rank;
    takes_all_along_ = lost == "all";
    calls_ = make("calls-" + rank);
    make(std::to_string(::getpid()) + ".pid");
  }

  // Whether the file belongs to the run.
  bool file_call(const char* name, const fs::path& path) {
    if (!(path.string() + '/').starts_with(run_.string() + '/')) return false;
    count(files_, "file", name, path);
    return true;
  }
  void message_call(const char* name) { count(messages_, "message", name, "-"); }

 private:
  // By a system call, because open() asks for this very object.
  int make(const std::string& name) const {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, (folder_ / name).c_str(), kFlags, 0600));
  }

  void count(std::atomic<std::uint64_t>& counter, const std::string& kind, const char* name, const fs::path& path) {
    const std::uint64_t number = ++counter;
    const std::string line = kind + ' ' + name + ' ' + path.string() + '\n';
    ::syscall(SYS_write, calls_, line.data(), line.size());
    if (dies_ && kind == kind_ && number == number_) kill();
  }

  void kill() const {
    if (takes_all_along_) {
      for (const auto& entry : fs::directory_iterator(folder_)) {
        const auto process = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
        if (entry.path().extension() == ".pid" && process != ::getpid()) ::kill(process, SIGKILL);
      }
    }
    ::kill(::getpid(), SIGKILL);
  }

  fs::path run_;
  fs::path folder_;
  std::string kind_;
  std::uint64_t number_ = 0;
  bool dies_ = false;
  bool takes_all_along_ = false;
  int calls_ = -1;
  std::atomic<std::uint64_t> files_ = 0;
  std::atomic<std::uint64_t> messages_ = 0;
};

// Never destroyed: files are closed until the process is gone.
Watch& watch() {
  static Watch& only = *new Watch;
  return only;
}

// From the start on, so that a rank that is not the first to die is known to the one that is.
[[gnu::constructor]] void begin() { watch(); }

fs::path path_of(int file) {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(file), unknown);
}

fs::path absolute(int directory, const char* path) {
  if (directory != AT_FDCWD && *path != '/') return path_of(directory) / path;
  std::error_code unknown;
  return fs::absolute(path, unknown);
}

bool told(const char* name, const fs::path& path) {
  const int reason = errno;
  const bool of_run = watch().file_call(name, path);
  errno = reason;
  return of_run;
}

bool told(const char* name, int file) {
  const int reason = errno;
  const fs::path path = path_of(file);
  errno = reason;
  return told(name, path);
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  if ((flags & (O_CREAT | O_TRUNC)) != 0) told("open", absolute(directory, path));
  return static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

int remove_at(const char* name, int directory, const char* path, int flags) {
  told(name, absolute(directory, path));
  return static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
}

// The function of this name that stands behind the one here.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

FILE* open_stream(const char* name, const char* path, const char* mode) {
  if (*mode != 'r') told("open", absolute(AT_FDCWD, path));
  return next<FILE*(const char*, const char*)>(name)(path, mode);
}

// The mode that follows the flags of an open(), if one does.
mode_t mode_after(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
}  // namespace cpt::testing

extern "C" {

using cpt::testing::told;
using cpt::testing::watch;

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cpt::testing::mode_after(flags, arguments);
  va_end(arguments);
  return cpt::testing::open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cpt::testing::mode_after(flags, arguments);
  va_end(arguments);
  return cpt::testing::open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cpt::testing::mode_after(flags, arguments);
  va_end(arguments);
  return cpt::testing::open_at(directory, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) { return cpt::testing::open_stream("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return cpt::testing::open_stream("fopen64", path, mode); }

// What writes the lines of logs and reports.
int fflush(FILE* stream) {
  if (stream != nullptr) told("write", ::fileno(stream));
  return cpt::testing::next<int(FILE*)>("fflush")(stream);
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  told("write", file);
  return ::syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  told("pwrite", file);
  return ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

int ftruncate(int file, off_t length) noexcept {
  told("ftruncate", file);
  return static_cast<int>(::syscall(SYS_ftruncate, file, length));
}

int fsync(int file) {
  if (told("fsync", file)) return 0;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  told("rename", cpt::testing::absolute(AT_FDCWD, to));
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  told("renameat2", cpt::testing::absolute(to_directory, to));
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

int link(const char* from, const char* to) noexcept {
  told("link", cpt::testing::absolute(AT_FDCWD, to));
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int mkdir(const char* path, mode_t mode) noexcept {
  told("mkdir", cpt::testing::absolute(AT_FDCWD, path));
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  return cpt::testing::remove_at("unlinkat", directory, path, flags);
}
int unlink(const char* path) noexcept { return cpt::testing::remove_at("unlink", AT_FDCWD, path, 0); }
int rmdir(const char* path) noexcept { return cpt::testing::remove_at("rmdir", AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char* path) noexcept {
  struct stat status {};
  const int reason = errno;
  const bool is_directory = ::lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  errno = reason;
  return is_directory ? ::rmdir(path) : ::unlink(path);
}

// Calls that start something; those that ask whether it is done come as often as there is time.

int MPI_Isend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request* request) {
  watch().message_call("MPI_Isend");
  return PMPI_Isend(data, count, type, target, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  watch().message_call("MPI_Irecv");
  return PMPI_Irecv(data, count, type, source, tag, comm, request);
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  watch().message_call("MPI_Imrecv");
  return PMPI_Imrecv(data, count, type, message, request);
}

int MPI_Iallgather(const void* mine, int my_count, MPI_Datatype my_type, void* all, int count, MPI_Datatype type,
                   MPI_Comm comm, MPI_Request* request) {
  watch().message_call("MPI_Iallgather");
  return PMPI_Iallgather(mine, my_count, my_type, all, count, type, comm, request);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  watch().message_call("MPI_Ibcast");
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Finalize() {
  watch().message_call("MPI_Finalize");
  return PMPI_Finalize();
}
}
