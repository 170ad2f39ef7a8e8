// C2 and C8: what a name promises is on disk before the name is given, and the name is gone before what it promised is.
// Here the order of the system calls is watched; power_failure_test.cpp tries what each order can leave.
#include <gmock/gmock.h>

#include <map>

#include "file_calls.h"
#include "store/blob/blob_set.h"
#include "store/run/checkpoints.h"
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
  const BlobSetWriter writer(root / "set", kKind);
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

TEST_F(SyncOrderTest, APrunedCheckpointLosesItsManifestBeforeItsFiles) {
  for (const char* number : {"000000001", "000000002", "000000003"}) {
    write_set(root / number, {{"a", noise(1)}, {"b", noise(2)}});
  }
  const CallLog log;
  Checkpoints(root.path()).prune(1);
  EXPECT_THAT(log.calls(), ElementsAre("remove MANIFEST", "sync 000000001", "remove a", "remove b", "remove 000000001",
                                       "sync " + top, "remove MANIFEST", "sync 000000002", "remove a", "remove b",
                                       "remove 000000002", "sync " + top));
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
