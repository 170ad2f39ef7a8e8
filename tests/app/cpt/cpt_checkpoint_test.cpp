// cpt checkpoint on whole, damaged and removed checkpoints.
#include <algorithm>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>

#include "app/lease.h"
#include "app/program.h"
#include "cpt/trainer.h"
#include "store/run/checkpoints.h"
#include "store/run/run_directory.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kExamples = 300;
constexpr std::uint64_t kPasses = 3;

class Unheard : public Observer {
 public:
  void warn(const std::string& text) override { ADD_FAILURE() << text; }
};

// Has a run named "run" with a checkpoint for each pass, and one of the end.
class CheckpointCommandTest : public ProgramTest {
 protected:
  CheckpointCommandTest() {
    write("train.vw", page_log(kExamples, 40, 1));
    TrainingOptions options;
    options.model.bits = 12;
    options.data = {path("train.vw")};
    options.passes = kPasses;
    options.checkpoints.directory = path("run/checkpoints");
    options.checkpoints.keep = 10;
    fs::create_directories(options.checkpoints.directory);
    Unheard unheard;
    train(options, unheard);
  }

  std::vector<Checkpoint> checkpoints() const { return Checkpoints(path("run/checkpoints")).list(); }
  Words command(const std::string& what, const Words& more = {}) const {
    return Words{"checkpoint", what, "run"} + more;
  }
  static std::string name(std::size_t i) { return "00000000" + std::to_string(i + 1); }
  // Relative to the folder in which the program runs.
  static std::string checkpoint(std::size_t i) { return "run/checkpoints/" + name(i); }

  void flip_last_byte(const std::string& file) const {
    std::string content = content_of(path(file));
    content.back() = static_cast<char>(content.back() ^ 1);
    write(file, content);
  }
};

TEST_F(CheckpointCommandTest, ListsThemOldestFirst) {
  const Words lines = results(command("list"));
  EXPECT_EQ(results({"checkpoint", "list", "--run", "run"}), lines);
  ASSERT_EQ(lines.size(), 1 + kPasses);
  EXPECT_THAT(words_of(lines[0]), ElementsAre("number", "written", "stage", "examples", "ranks", "MB"));
  for (std::uint64_t pass = 1; pass <= kPasses; ++pass) {
    Words words = words_of(lines[pass]);
    EXPECT_EQ(words[0], "00000000" + std::to_string(pass));
    words.erase(words.begin(), words.begin() + 3);  // and when it was written
    words.pop_back();                               // and its size
    if (pass < kPasses) {
      EXPECT_THAT(words, ElementsAre("train", std::to_string(pass), std::to_string(pass * kExamples), "1"));
    } else {
      EXPECT_THAT(words, ElementsAre("finished", std::to_string(pass * kExamples), "1"));
    }
  }
}

TEST_F(CheckpointCommandTest, ListsThemAsJson) {
  const json rows = json::parse(run(command("list", {"--json"})).out);
  ASSERT_EQ(rows.size(), kPasses);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const fs::path directory = checkpoints()[i].directory;
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(directory)) bytes += entry.file_size();
    EXPECT_EQ(rows[i]["number"], i + 1);
    EXPECT_EQ(rows[i]["directory"], "run/checkpoints/" + directory.filename().string());
    EXPECT_EQ(rows[i]["stage"], i + 1 < kPasses ? "train " + std::to_string(i + 1) : "finished");
    EXPECT_EQ(rows[i]["examples"], (i + 1) * kExamples);
    EXPECT_EQ(rows[i]["ranks"], 1);
    EXPECT_LE(rows[i]["bytes"], bytes);
    EXPECT_GT(rows[i]["bytes"], 0);
  }
}

TEST_F(CheckpointCommandTest, ARunWithoutAnyHasAnEmptyList) {
  const RunDirectory begun(path("empty"));
  EXPECT_EQ(json::parse(run({"checkpoint", "list", "empty", "--json"}).out), json::array());
  for (const char* what : {"list", "verify", "prune"}) {
    const Outcome outcome = run({"checkpoint", what, "empty"});
    EXPECT_EQ(outcome.code, 0) << what;
    EXPECT_EQ(outcome.out, "") << what;
    EXPECT_EQ(outcome.err, "cpt: empty: has no checkpoints\n") << what;
  }
}

TEST_F(CheckpointCommandTest, AMissingRunIsMissingInput) {
  for (const char* what : {"list", "verify", "prune"}) {
    expect_failure({"checkpoint", what, "nowhere"}, 66, "cpt: nowhere: no such run directory\n");
    EXPECT_FALSE(fs::exists(path("nowhere")));
  }
}

TEST_F(CheckpointCommandTest, AFolderThatIsNoRunIsMissingInput) {
  for (const char* what : {"list", "verify", "prune"}) {
    for (const std::string folder : {".", "run/checkpoints", "run/checkpoints/000000001"}) {
      expect_failure(
          {"checkpoint", what, folder}, 66,
          "cpt: " + folder + ": is not a run directory and has no checkpoints; give the directory of --run\n");
    }
  }
}

TEST_F(CheckpointCommandTest, PrunesTheOldest) {
  EXPECT_THAT(results(command("prune", {"--keep", "2"})), ElementsAre("1 removed, 2 left"));
  EXPECT_EQ(checkpoints().front().number, 2U);
  EXPECT_THAT(results(command("prune")), ElementsAre("1 removed, 1 left"));
  EXPECT_EQ(checkpoints().front().number, kPasses);
  EXPECT_THAT(results(command("prune")), ElementsAre("0 removed, 1 left"));
}

TEST_F(CheckpointCommandTest, PrunesNothingThatAJobUses) {
  const RunDirectory held(path("run"), Begin::kResume);
  const Outcome outcome = run(command("prune"));
  EXPECT_EQ(outcome.code, 73);
  EXPECT_THAT(outcome.err, HasSubstr("run: in use by process " + std::to_string(::getpid()) + " on host "));
  EXPECT_EQ(checkpoints().size(), kPasses);
  EXPECT_EQ(results(command("list")).size(), 1 + kPasses);
  EXPECT_EQ(results(command("verify")).size(), kPasses);
}

TEST_F(CheckpointCommandTest, KnowsNothingOfWhatHasNoManifest) {
  fs::remove(checkpoints()[1].directory / "MANIFEST");
  EXPECT_EQ(results(command("list")).size(), kPasses);
  EXPECT_EQ(results(command("verify")).size(), kPasses - 1);
}

TEST_F(CheckpointCommandTest, VerifyPassesWholeOnes) {
  const Words lines = results(command("verify"));
  ASSERT_EQ(lines.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(lines[i], StartsWith(checkpoint(i) + ": whole, "));
}

TEST_F(CheckpointCommandTest, VerifyNamesTheDamagedFileWhicheverItIs) {
  const std::string damaged = checkpoint(1);
  for (const std::string file : {"MANIFEST", "options", "tree", "state", "partitions", "weights-00000"}) {
    SCOPED_TRACE(file);
    flip_last_byte(damaged + "/" + file);
    const Outcome outcome = run(command("verify"));
    EXPECT_EQ(outcome.code, 65);
    EXPECT_THAT(outcome.err, HasSubstr("1 of 3 checkpoints of run cannot be used"));
    const Words lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines[0], HasSubstr(": whole, "));
    EXPECT_THAT(lines[1], StartsWith(damaged + "/" + file + ": damaged: "));
    EXPECT_THAT(lines[2], HasSubstr(": whole, "));
    flip_last_byte(damaged + "/" + file);
  }
  EXPECT_EQ(run(command("verify")).code, 0);
}

TEST_F(CheckpointCommandTest, VerifyNamesTheMissingFile) {
  fs::remove(path(checkpoint(2) + "/tree"));
  const Outcome outcome = run(command("verify"));
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.out, HasSubstr(checkpoint(2) + "/tree: damaged: "));
}

TEST_F(CheckpointCommandTest, ListShowsWhatCannotBeReadAsDamaged) {
  flip_last_byte(checkpoint(0) + "/MANIFEST");
  flip_last_byte(checkpoint(1) + "/state");
  const Words lines = results(command("list"));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], StartsWith(name(0) + "  "));
  EXPECT_THAT(lines[1], HasSubstr(checkpoint(0) + "/MANIFEST: damaged: "));
  EXPECT_THAT(lines[2], StartsWith(name(1) + "  "));
  EXPECT_THAT(lines[2], HasSubstr(checkpoint(1) + "/state: damaged: "));
  EXPECT_THAT(lines[3], StartsWith(name(2) + "  "));
  EXPECT_THAT(lines[3], HasSubstr("finished"));
}

TEST_F(CheckpointCommandTest, ListGivesTheDamageAsJson) {
  fs::remove(path(checkpoint(0) + "/options"));
  const Outcome outcome = run(command("list", {"--json"}));
  EXPECT_EQ(outcome.code, 0);
  const json list = json::parse(outcome.out);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_THAT(list[0]["damage"].get<std::string>(), HasSubstr(checkpoint(0) + "/options: damaged: "));
  EXPECT_FALSE(list[0].contains("examples"));
  EXPECT_FALSE(list[2].contains("damage"));
  EXPECT_EQ(list[2]["examples"], kPasses * kExamples);
}

// C8: an older one may be the only usable one.
TEST_F(CheckpointCommandTest, PruneRemovesNothingWhereTheNewestIsDamaged) {
  flip_last_byte(checkpoint(2) + "/weights-00000");
  const Outcome outcome = run(command("prune"));
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr(checkpoint(2) + "/weights-00000: damaged: "));
  EXPECT_EQ(checkpoints().size(), kPasses);
}

// A running job removes or damages checkpoints while the program reads them.
class CheckpointsThatGo : public CheckpointCommandTest {
 protected:
  // Applies `change` after the program has listed the checkpoints, when it opens the first one.
  Outcome run_while(const Words& arguments, const std::function<void()>& change) const {
    Lease first(checkpoints()[0].directory / "MANIFEST");
    if (!first.is_held()) return {};
    auto outcome = std::async(std::launch::async, [&] { return run(arguments); });
    EXPECT_TRUE(first.is_waited_for());
    change();
    first.release();
    return outcome.get();
  }
  void prune_to(std::uint64_t keep) const { Checkpoints(path("run/checkpoints")).prune(keep); }

  void SetUp() override {
    if (!Lease(checkpoints()[0].directory / "MANIFEST").is_held()) GTEST_SKIP() << "this file system knows no leases";
  }
};

TEST_F(CheckpointsThatGo, AreNotVerified) {
  const Outcome outcome = run_while(command("verify"), [&] { prune_to(1); });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(lines_of(outcome.out), ElementsAre(StartsWith("run/checkpoints/000000003: whole, ")));
}

TEST_F(CheckpointsThatGo, AreNotListed) {
  const Outcome outcome = run_while(command("list"), [&] { prune_to(1); });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out), ElementsAre(StartsWith("number "), StartsWith("000000003 ")));
}

TEST_F(CheckpointsThatGo, AreNotListedAsJson) {
  const Outcome outcome = run_while(command("list", {"--json"}), [&] { prune_to(2); });
  EXPECT_EQ(outcome.code, 0);
  const json rows = json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["number"], 2);
  EXPECT_FALSE(rows[0].contains("damage"));
}

TEST_F(CheckpointsThatGo, HideNoDamageOfOthers) {
  const Outcome outcome = run_while(command("verify"), [&] {
    prune_to(2);
    fs::remove(checkpoints().back().directory / "tree");
  });
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 checkpoints of run cannot be used"));
  EXPECT_THAT(lines_of(outcome.out), ElementsAre(StartsWith("run/checkpoints/000000002: whole, "),
                                                 StartsWith("run/checkpoints/000000003/tree: damaged: ")));
}

// Not removed, but broken: a removal begins with the manifest.
TEST_F(CheckpointsThatGo, AreDamagedWhereTheManifestStays) {
  const Outcome outcome = run_while(command("verify"), [&] { fs::remove(checkpoints().front().directory / "state"); });
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.out, HasSubstr("run/checkpoints/000000001/state: damaged: it is missing"));
}

TEST_F(CheckpointCommandTest, NeedsToKnowWhatToDo) {
  EXPECT_EQ(run({"checkpoint"}).code, 2);
  EXPECT_EQ(run({"checkpoint", "list"}).code, 2);
  EXPECT_EQ(run(command("prune", {"--keep", "0"})).code, 2);
  EXPECT_EQ(checkpoints().size(), kPasses);
}

}  // namespace
}  // namespace cpt
