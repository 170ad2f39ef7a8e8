// C2 and C8: a name is given only after the bytes that it promises are on disk, and is gone before they are. Checks the
// order of system calls where power_failure_test.cpp, which tries the states that a crash can leave, does not reach.
#include <gmock/gmock.h>

#include <map>

#include "file_calls.h"
#include "store/blob/blob_set.h"
#include "store_fixture.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;

// The calls made while one of these lives, as "sync NAME"; equal ones in a row count once.
class CallLog {
 public:
  CallLog() : watcher_([this](const FileCall& call) { record(call); }) {}

  const std::vector<std::string>& calls() const { return calls_; }

 private:
  void record(const FileCall& call) {
    const std::map<FileCall::Kind, std::string> kinds{{FileCall::Kind::kWrite, "write "},
                                                      {FileCall::Kind::kSync, "sync "},
                                                      {FileCall::Kind::kRename, "rename "},
                                                      {FileCall::Kind::kExchange, "exchange "},
                                                      {FileCall::Kind::kRemove, "remove "}};
    const auto kind = kinds.find(call.kind);
    if (kind == kinds.end()) return;
    const std::string line = kind->second + (call.target.empty() ? call.path : call.target).filename().string();
    if (calls_.empty() || calls_.back() != line) calls_.push_back(line);
  }

  std::vector<std::string> calls_;
  FileCallWatcher watcher_;
};

struct SyncOrderTest : ::testing::Test {
  std::string temporary_of(const std::string& name) const { return temporary_name(name).string(); }

  TemporaryDirectory root;
  std::string top = root.path().filename().string();
};

TEST_F(SyncOrderTest, AReplacedSetKeepsItsNameUntilTheNewOneIsSynced) {
  write_set(root / "set", {});
  BlobSetWriter writer(root / "set", kKind);
  const CallLog log;
  writer.commit();
  EXPECT_THAT(log.calls(), ElementsAre("write MANIFEST", "sync MANIFEST", "sync " + temporary_of("set"), "exchange set",
                                       "sync " + top, "remove MANIFEST", "remove " + temporary_of("set")));
}

TEST_F(SyncOrderTest, WithoutExchangesAReplacedSetIsRenamedAside) {
  write_set(root / "set", {});
  BlobSetWriter writer(root / "set", kKind);
  const NoExchanges none;
  const CallLog log;
  writer.commit();
  EXPECT_THAT(log.calls(), ElementsAre("write MANIFEST", "sync MANIFEST", "sync " + temporary_of("set"),
                                       "rename " + temporary_of("set.old"), "rename set", "sync " + top,
                                       "remove MANIFEST", "remove " + temporary_of("set.old")));
}

TEST_F(SyncOrderTest, ARemovedDirectoryLosesItsNameBeforeItsFiles) {
  write_set(root / "set", {});
  const CallLog log;
  remove_durably(root / "set");
  EXPECT_THAT(log.calls(), ElementsAre("rename " + temporary_of("set"), "sync " + top, "remove MANIFEST",
                                       "remove " + temporary_of("set"), "sync " + top));
}

TEST_F(SyncOrderTest, AnAtomicFileGetsItsNameAfterItIsSynced) {
  const CallLog log;
  write_file_atomically(root / "file", noise(10));
  const std::string temporary = temporary_of("file");
  EXPECT_THAT(log.calls(), ElementsAre("write " + temporary, "sync " + temporary, "rename file", "sync " + top));
}

TEST_F(SyncOrderTest, ANewDirectoryIsDurableBeforeTheNextOneInIt) {
  const CallLog log;
  create_directories_durably(root / "a/b");
  EXPECT_THAT(log.calls(), ElementsAre("sync " + top, "sync a"));
}

}  // namespace
}  // namespace cpt
