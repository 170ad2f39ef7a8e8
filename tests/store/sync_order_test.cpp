// C2: what a name promises is on disk before the name is given. A power failure cannot be staged here, so the order of
// the system calls is watched instead: this program defines write, fsync and rename itself, and so stands before the C
// library.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "store/blob_set.h"
#include "store_fixture.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;

// The calls made while one of these lives, as "sync NAME"; equal ones in a row count once.
class CallLog {
 public:
  CallLog() { current() = this; }
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;
  ~CallLog() { current() = nullptr; }

  static CallLog*& current() {
    static CallLog* log = nullptr;
    return log;
  }
  static void record(const std::string& call, const std::filesystem::path& path) {
    CallLog* log = current();
    if (log == nullptr) return;
    const std::string line = call + ' ' + path.filename().string();
    if (log->calls_.empty() || log->calls_.back() != line) log->calls_.push_back(line);
  }
  static std::filesystem::path path_of(int file) {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), unknown);
  }

  const std::vector<std::string>& calls() const { return calls_; }

 private:
  std::vector<std::string> calls_;
};

struct SyncOrderTest : ::testing::Test {
  std::string temporary_of(const std::string& name) const { return temporary_name(name).string(); }

  TemporaryDirectory root;
  std::string top = root.path().filename().string();
};

TEST_F(SyncOrderTest, ASetGetsItsNameAfterAllOfItIsSynced) {
  BlobSetWriter writer(root / "set", kKind);
  const CallLog log;
  writer.add("a").append(noise(std::size_t{2} * kMaxSegmentBytes + 1));
  writer.add("b").append(noise(1));
  writer.commit();
  const std::string names = "sync " + temporary_of("set");
  EXPECT_THAT(log.calls(), ElementsAre("write a", "sync a", names, "write b", "sync b", names, "write MANIFEST",
                                       "sync MANIFEST", names, "rename set", "sync " + top));
}

TEST_F(SyncOrderTest, APartIsSyncedBeforeItIsDescribed) {
  BlobSetWriter writer(root / "set", kKind);
  BlobWriter part(writer.directory_for_parts(), "part");
  const CallLog log;
  part.append(noise(10));
  part.finish();
  EXPECT_THAT(log.calls(), ElementsAre("write part", "sync part", "sync " + temporary_of("set")));
}

TEST_F(SyncOrderTest, AReplacedSetKeepsItsNameUntilTheNewOneIsSynced) {
  write_set(root / "set", {});
  BlobSetWriter writer(root / "set", kKind);
  const CallLog log;
  writer.commit();
  EXPECT_THAT(log.calls(), ElementsAre("write MANIFEST", "sync MANIFEST", "sync " + temporary_of("set"),
                                       "rename " + temporary_of("set.old"), "rename set", "sync " + top));
}

TEST_F(SyncOrderTest, AnAtomicFileGetsItsNameAfterItIsSynced) {
  const CallLog log;
  write_file_atomically(root / "file", noise(10));
  const std::string temporary = temporary_of("file");
  EXPECT_THAT(log.calls(), ElementsAre("write " + temporary, "sync " + temporary, "rename file", "sync " + top));
}

TEST_F(SyncOrderTest, ANewDirectoryIsDurableBeforeTheNextOneInIt) {
  const CallLog log;
  create_directory_durably(root / "a/b");
  EXPECT_THAT(log.calls(), ElementsAre("sync " + top, "sync a"));
}

}  // namespace
}  // namespace cpt

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t size) {
  cpt::CallLog::record("write", cpt::CallLog::path_of(file));
  return ::syscall(SYS_write, file, bytes, size);
}

int fsync(int file) {
  cpt::CallLog::record("sync", cpt::CallLog::path_of(file));
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  cpt::CallLog::record("rename", to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
}
