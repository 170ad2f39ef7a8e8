// The power fails after any system call, and loses any part of what was not synced: a checkpoint is complete or absent
// (C1, C2), committed data stays, the previous checkpoint stays until the new one is there (C8), and the rest can be
// cleaned up. The tests record the system calls of a real run. For every prefix of them, they lay out each state that a
// disk may then have, and read it.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "file_calls.h"
#include "simulated_disk.h"
#include "store/blob/blob_set.h"
#include "store/run/checkpoints.h"
#include "store/run/run_directory.h"
#include "store_fixture.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = FileCall::Kind;

constexpr const char* kCheckpointKind = "cpt checkpoint";

// The whole of one checkpoint; each number has its own bytes.
Blobs blobs_of(std::uint64_t number) {
  const auto seed = static_cast<unsigned>(number);
  return {{"tree", half_zero(3000, seed)}, {"weights-0", noise(700, seed)}, {"weights-1", half_zero(900, seed + 100)}};
}

// As rank 0 and another rank write it.
void commit(const fs::path& directory, std::uint64_t number) {
  const Blobs blobs = blobs_of(number);
  BlobSetWriter writer(directory, kCheckpointKind);
  BlobWriter part(writer.directory_for_parts(), blobs[2].first);
  writer.add(blobs[0].first).append(blobs[0].second);
  part.append(std::span(blobs[2].second).first(100));
  part.cut();
  part.append(std::span(blobs[2].second).subspan(100));
  BlobWriter& own = writer.add(blobs[1].first);
  own.append(blobs[1].second);
  writer.adopt(decode_blob(encode_blob(part.finish())));
  writer.commit();
}

// The fault of the set; empty if it is exactly that of `number`.
std::string flaw_of(const fs::path& directory, std::uint64_t number) {
  const std::string flaw = error_of([&] {
    const BlobSetReader set(directory, kCheckpointKind);
    for (const std::string& name : set.names()) set.verify(name);
    if (read_set(directory, kCheckpointKind) != blobs_of(number)) throw Error(Fault::kFailed, "it holds other bytes");
  });
  return flaw == "no error" ? "" : "set " + std::to_string(number) + ": " + flaw;
}

// A recorded step, with the checkpoints that a crash during it must leave, and those that it may leave.
struct Step {
  std::string name;
  std::set<std::uint64_t> must_be_there;
  std::set<std::uint64_t> may_be_there;
  std::function<void(const fs::path&)> run;
  std::size_t first_call = 0;  // set by record()
};

std::vector<Step> checkpointing() {
  const auto commit_next = [](std::uint64_t number) {
    return [number](const fs::path& root) { commit(Checkpoints(root / "checkpoints").next(), number); };
  };
  return {
      {"first commit", {}, {1}, commit_next(1)},
      {"second commit", {1}, {1, 2}, commit_next(2)},
      {"prune", {2}, {1, 2}, [](const fs::path& root) { Checkpoints(root / "checkpoints").prune(1); }},
      {"third commit", {2}, {2, 3}, commit_next(3)},
      {"the end", {2, 3}, {2, 3}, [](const fs::path&) {}},
  };
}

constexpr const char* kDisk = "/disk";

// Runs the steps in a new folder; the recorded paths name it kDisk.
std::vector<FileCall> record(std::vector<Step>& steps) {
  const TemporaryDirectory folder;
  std::vector<FileCall> calls;
  const FileCallWatcher watcher([&](const FileCall& call) { calls.push_back(call); });
  for (Step& step : steps) {
    step.first_call = calls.size();
    step.run(folder.path());
  }
  const auto renamed = [&](const fs::path& path) {
    const fs::path below = path.lexically_relative(folder.path());
    return below == "." ? fs::path(kDisk) : kDisk / below;
  };
  for (FileCall& call : calls) {
    call.path = renamed(call.path);
    if (!call.target.empty()) call.target = renamed(call.target);
  }
  return calls;
}

std::vector<Survival> survivals() {
  using Names = Survival::Names;
  using Bytes = Survival::Bytes;
  std::vector<Survival> all{{Names::kAll, Bytes::kAll},    {Names::kNone, Bytes::kNone}, {Names::kAll, Bytes::kNone},
                            {Names::kAll, Bytes::kZeroed}, {Names::kNone, Bytes::kAll},  {Names::kSome, Bytes::kAll}};
  for (unsigned seed = 1; seed <= 12; ++seed) all.push_back({Names::kSome, Bytes::kSome, seed});
  return all;
}

void lay_out(const FolderContent& content, const fs::path& folder) {
  for (const auto& [path, bytes] : content) {
    if (bytes) {
      write_plain(folder / path, *bytes);
    } else {
      fs::create_directory(folder / path);
    }
  }
}

// Returns faults, one per line; empty lines do not count.
using Check = std::function<std::vector<std::string>(const fs::path& folder, const Step& step)>;

// Thousands of folders are laid out, and none needs a real disk.
fs::path fast_folder() {
  std::error_code unknown;
  return fs::is_directory("/dev/shm", unknown) ? fs::path("/dev/shm") : fs::temp_directory_path();
}

// The faults after the first crash that leaves any; empty if no crash at any call does. Equal states of a step are
// checked once.
std::vector<std::string> flaws_after_crashes(const std::vector<Step>& steps, const std::vector<FileCall>& calls,
                                             const Check& check) {
  SimulatedDisk disk(kDisk);
  std::set<std::pair<std::string, FolderContent>> seen;
  for (std::size_t done = 0;; ++done) {
    const auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.first_call > done; });
    const Step& step = *std::prev(next);
    for (const Survival& survival : survivals()) {
      FolderContent content = disk.after_power_failure(survival);
      if (!seen.emplace(step.name, content).second) continue;
      const TemporaryDirectory folder(fast_folder());
      lay_out(content, folder.path());
      std::vector<std::string> flaws = check(folder.path(), step);
      std::erase(flaws, "");
      if (flaws.empty()) continue;
      flaws.push_back("found in the " + step.name + " after " + std::to_string(done) + " calls");
      return flaws;
    }
    if (done == calls.size()) return {};
    disk.apply(calls[done]);
  }
}

std::vector<std::string> flaws_of_checkpoints(const fs::path& root, const Step& step) {
  const Checkpoints checkpoints(root / "checkpoints");
  std::vector<std::string> flaws;
  std::set<std::uint64_t> there;
  for (const Checkpoint& checkpoint : checkpoints.list()) {
    there.insert(checkpoint.number);
    flaws.push_back(flaw_of(checkpoint.directory, checkpoint.number));
    if (!step.may_be_there.contains(checkpoint.number)) flaws.push_back(checkpoint.directory.string() + " is there");
  }
  for (const std::uint64_t number : step.must_be_there) {
    if (!there.contains(number)) flaws.push_back("no checkpoint " + std::to_string(number));
  }
  return flaws;
}

// The next job after the crash can run, and leaves nothing behind.
std::vector<std::string> flaws_of_cleaning(const fs::path& root, const Step&) {
  const Checkpoints checkpoints(root / "checkpoints");
  const std::vector<Checkpoint> before = checkpoints.list();
  const RunDirectory run(root, Begin::kResume);
  std::vector<std::string> flaws;
  if (checkpoints.list() != before) flaws.emplace_back("resuming changed the checkpoints");
  commit(checkpoints.next(), 7);
  checkpoints.prune(1);
  const std::vector<Checkpoint> after = checkpoints.list();
  if (after.size() != 1) return {"the new checkpoint is not the only one"};
  flaws.push_back(flaw_of(after[0].directory, 7));
  if (!before.empty() && after[0].number <= before.back().number) flaws.emplace_back("a number was used twice");
  if (names_in(root / "checkpoints").size() != 1) flaws.emplace_back("something is left behind");
  return flaws;
}

// Commits in which a sync fails; `fails` selects it by its path below the checkpoints.
std::vector<Step> failing_commit(const std::function<bool(const fs::path&)>& fails) {
  const auto first = [](const fs::path& root) { commit(Checkpoints(root / "checkpoints").next(), 1); };
  const auto second = [fails](const fs::path& root) {
    const fs::path folder = root / "checkpoints";
    const FailingSyncs broken([&](const fs::path& path) { return fails(path.lexically_relative(folder)); });
    EXPECT_THAT(error_of([&] { commit(Checkpoints(folder).next(), 2); }),
                HasSubstr("fsync failed: Input/output error"));
    EXPECT_THAT(names_in(folder), ElementsAre("000000001"));
  };
  return {{"commit", {}, {1}, first},
          {"commit that fails", {1}, {1, 2}, second},
          {"the end", {1}, {1, 2}, [](const fs::path&) {}}};
}

// A finished run, and then a fresh one that replaces it.
std::vector<Step> replacing_a_run() {
  const auto finish = [](const fs::path& root) {
    const RunDirectory run(root);
    for (const std::uint64_t number : {1U, 2U}) commit(Checkpoints(run.checkpoints()).next(), number);
    commit(run.model(), 3);
    write_file_atomically(run.metrics(), noise(20));
    write_file_atomically(run.summary(), noise(10));
  };
  return {{"first run", {}, {}, finish},
          {"second run", {}, {}, [](const fs::path& root) { const RunDirectory run(root); }},
          {"the end", {}, {}, [](const fs::path&) {}}};
}

std::vector<std::string> flaws_of_replacing(const fs::path& root, const Step& step) {
  if (step.name == "first run") return {};
  std::vector<std::string> flaws;
  const bool finished = fs::exists(root / "summary.json");
  const bool has_model = fs::exists(root / "model/MANIFEST");
  const std::vector<Checkpoint> checkpoints = Checkpoints(root / "checkpoints").list();
  flaws.push_back(has_model ? flaw_of(root / "model", 3) : "the model is gone and there is no other");
  if (!finished && !checkpoints.empty()) flaws.emplace_back("it looks like a run that did not finish");
  for (const Checkpoint& checkpoint : checkpoints) flaws.push_back(flaw_of(checkpoint.directory, checkpoint.number));
  if (step.name == "the end" && finished) flaws.emplace_back("figures of the first run are there");
  const std::string error = error_of([&] { RunDirectory{root}; });
  if (error != "no error") flaws.push_back(error);
  for (const std::string& name : names_in(root)) {
    if (name != "lock" && name != "checkpoints" && name != "model") flaws.push_back(name + " is left behind");
  }
  if (fs::exists(root / "checkpoints") && !names_in(root / "checkpoints").empty())
    flaws.emplace_back("checkpoints are left behind");
  return flaws;
}

// A model that shares the files of a checkpoint, which is removed then; and the reverse.
std::vector<Step> sharing() {
  const auto share = [](const fs::path& root) {
    const BlobSetReader checkpoint(Checkpoints(root / "checkpoints").list().back().directory, kCheckpointKind);
    BlobSetWriter model(root / "model", kCheckpointKind);
    for (const std::string& name : checkpoint.names()) model.share(checkpoint, name, name);
    model.commit();
  };
  const auto commit_second = [](const fs::path& root) { commit(Checkpoints(root / "checkpoints").next(), 2); };
  return {{"commit", {}, {1}, [](const fs::path& root) { commit(Checkpoints(root / "checkpoints").next(), 1); }},
          {"model", {1}, {1}, share},
          {"second commit", {1}, {1, 2}, commit_second},
          {"prune", {2}, {1, 2}, [](const fs::path& root) { Checkpoints(root / "checkpoints").prune(1); }},
          {"second model", {2}, {2}, share},
          {"removal", {2}, {2}, [](const fs::path& root) { remove_durably(root / "model"); }},
          {"the end", {2}, {2}, [](const fs::path&) {}}};
}

// The model is that of a checkpoint that is allowed in this step, or absent if none is required.
std::vector<std::string> flaws_of_sharing(const fs::path& root, const Step& step) {
  const std::map<std::string, std::set<std::uint64_t>> models{
      {"commit", {}},           {"model", {1}},   {"second commit", {1}}, {"prune", {1}},
      {"second model", {1, 2}}, {"removal", {2}}, {"the end", {}}};
  std::vector<std::string> flaws = flaws_of_checkpoints(root, step);
  std::vector<std::string> of_model;
  for (const std::uint64_t number : models.at(step.name)) of_model.push_back(flaw_of(root / "model", number));
  if (fs::exists(root / "model" / kManifestName)) {
    if (std::ranges::count(of_model, "") == 0) {
      flaws.push_back("the model is none of them: " + (of_model.empty() ? "there should be none" : of_model.front()));
    }
  } else if (step.name == "second commit" || step.name == "prune" || step.name == "second model") {
    flaws.emplace_back("no model");
  }
  return flaws;
}

// The calls as they would be if the code forgot those syncs.
std::vector<FileCall> forgetting(std::vector<FileCall> calls, const std::function<bool(const fs::path&)>& forgotten) {
  for (FileCall& call : calls) {
    // Redirected, not removed, because steps are identified by the number of their first call.
    if (call.kind == Kind::kSync && forgotten(call.path)) call.path = "/elsewhere";
  }
  return calls;
}

TEST(PowerFailureTest, ACheckpointIsCompleteOrAbsentAfterAnyCall) {
  std::vector<Step> steps = checkpointing();
  const std::vector<FileCall> calls = record(steps);
  EXPECT_GT(calls.size(), 60U);
  EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_checkpoints), IsEmpty());
}

TEST(PowerFailureTest, AnyCrashCanBeCleanedUp) {
  std::vector<Step> steps = checkpointing();
  const std::vector<FileCall> calls = record(steps);
  EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_cleaning), IsEmpty());
}

TEST(PowerFailureTest, ASyncThatFailsLeavesTheCheckpointBefore) {
  const std::map<std::string, std::function<bool(const fs::path&)>> failing{
      {"a part", [](const fs::path& path) { return path.filename() == "weights-1"; }},
      {"a manifest", [](const fs::path& path) { return path.filename() == kManifestName; }},
      {"the names in the set", [](const fs::path& path) { return is_temporary_name(path); }},
      {"the name of the set", [renamed = false](const fs::path& path) mutable {
         // The first sync of the folder is that of the temporary name.
         return path == "." && std::exchange(renamed, true);
       }}};
  for (const auto& [what, fails] : failing) {
    SCOPED_TRACE(what);
    std::vector<Step> steps = failing_commit(fails);
    const std::vector<FileCall> calls = record(steps);
    EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_checkpoints), IsEmpty());
    EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_cleaning), IsEmpty());
  }
}

TEST(PowerFailureTest, AFreshRunReplacesAFinishedOneAcrossAnyCrash) {
  std::vector<Step> steps = replacing_a_run();
  const std::vector<FileCall> calls = record(steps);
  EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_replacing), IsEmpty());
}

TEST(PowerFailureTest, SetsThatShareFilesGoWithoutHarmToOneAnother) {
  std::vector<Step> steps = sharing();
  const std::vector<FileCall> calls = record(steps);
  EXPECT_EQ(std::ranges::count(calls, Kind::kLink, &FileCall::kind), 6);
  EXPECT_THAT(flaws_after_crashes(steps, calls, flaws_of_sharing), IsEmpty());
}

// The tests above fail if a sync is forgotten, or if a directory is removed in another order.
TEST(PowerFailureTest, EverySyncIsMissedIfItIsForgotten) {
  std::vector<Step> steps = checkpointing();
  const std::vector<FileCall> calls = record(steps);
  const fs::path folder = fs::path(kDisk) / "checkpoints";
  const std::map<std::string, std::function<bool(const fs::path&)>> forgotten{
      {"a blob", [](const fs::path& path) { return path.filename() == "tree"; }},
      {"a part", [](const fs::path& path) { return path.filename() == "weights-1"; }},
      {"a manifest", [](const fs::path& path) { return path.filename() == kManifestName; }},
      {"the names in a new set", [](const fs::path& path) { return is_temporary_name(path); }},
      {"the name of a set", [&](const fs::path& path) { return path == folder; }},
      {"the folder", [&](const fs::path& path) { return path == folder.parent_path(); }},
      {"the end of a manifest", [&](const fs::path& path) { return path == folder / "000000001"; }},
  };
  for (const auto& [what, forgets] : forgotten) {
    EXPECT_THAT(flaws_after_crashes(steps, forgetting(calls, forgets), flaws_of_checkpoints), Not(IsEmpty())) << what;
  }

  steps = sharing();
  const auto in_model = [](const fs::path& path) { return path.string().find("/model.tmp-") != std::string::npos; };
  EXPECT_THAT(flaws_after_crashes(steps, forgetting(record(steps), in_model), flaws_of_sharing), Not(IsEmpty()));

  steps = replacing_a_run();
  const auto top = [](const fs::path& path) { return path == kDisk; };
  EXPECT_THAT(flaws_after_crashes(steps, forgetting(record(steps), top), flaws_of_replacing), Not(IsEmpty()));
}

}  // namespace
}  // namespace cpt
