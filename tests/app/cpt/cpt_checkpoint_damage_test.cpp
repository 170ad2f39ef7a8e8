// What cpt checkpoint list, verify and prune say of damaged checkpoints.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "cpt/trainer.h"

namespace cpt {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

class Silent : public Observer {
  void report(const Report&) override {}
  void warn(const std::string&) override {}
  void progress(std::uint64_t, double, double) override {}
};

// Has a run directory "run" with three checkpoints.
class CheckpointTest : public ProgramTest {
 protected:
  CheckpointTest() {
    write("train.vw", page_log(600, 20, 1));
    TrainingOptions options;
    options.model.bits = kLeastBits;
    options.data = {path("train.vw").string()};
    options.checkpoints.directory = path("run/checkpoints");
    options.checkpoints.every_examples = 200;
    options.checkpoints.keep = 3;
    fs::create_directory(path("run"));
    Silent silent;
    train(options, silent);
    for (const auto& entry : fs::directory_iterator(path("run/checkpoints"))) names_.push_back(entry.path().filename());
    std::sort(names_.begin(), names_.end());
    if (names_.size() != 3) throw std::runtime_error("not three checkpoints");
  }

  // Relative to where the program runs.
  std::string checkpoint(std::size_t i) const { return "run/checkpoints/" + names_.at(i); }

  void flip_last_byte(const std::string& file) const {
    std::string content = content_of(path(file));
    content.back() = static_cast<char>(content.back() ^ 1);
    write(file, content);
  }

  Words names_;  // ascending
};

TEST_F(CheckpointTest, VerifyPassesWholeOnes) {
  const Words lines = results({"checkpoint", "verify", "run"});
  ASSERT_EQ(lines.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(lines[i], StartsWith(checkpoint(i) + ": whole, "));
}

TEST_F(CheckpointTest, VerifyNamesTheDamagedFileWhicheverItIs) {
  const std::string damaged = checkpoint(1);
  for (const std::string file : {"MANIFEST", "options", "tree", "state", "partitions", "weights-00000"}) {
    SCOPED_TRACE(file);
    flip_last_byte(damaged + "/" + file);
    const Outcome outcome = run({"checkpoint", "verify", "run"});
    EXPECT_EQ(outcome.code, 65);
    EXPECT_THAT(outcome.err, HasSubstr("1 of 3 checkpoints of run cannot be used"));
    const Words lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines[0], HasSubstr(": whole, "));
    EXPECT_THAT(lines[1], StartsWith(damaged + "/" + file + ": damaged: "));
    EXPECT_THAT(lines[2], HasSubstr(": whole, "));
    flip_last_byte(damaged + "/" + file);
  }
  EXPECT_EQ(run({"checkpoint", "verify", "run"}).code, 0);
}

TEST_F(CheckpointTest, VerifyNamesTheMissingFile) {
  fs::remove(path(checkpoint(2) + "/tree"));
  const Outcome outcome = run({"checkpoint", "verify", "run"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.out, HasSubstr(checkpoint(2) + "/tree: damaged: "));
}

TEST_F(CheckpointTest, ListShowsWhatCannotBeReadAsDamaged) {
  flip_last_byte(checkpoint(0) + "/MANIFEST");
  flip_last_byte(checkpoint(1) + "/state");
  const Words lines = results({"checkpoint", "list", "run"});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], StartsWith(names_[0] + "  "));
  EXPECT_THAT(lines[1], HasSubstr(checkpoint(0) + "/MANIFEST: damaged: "));
  EXPECT_THAT(lines[2], StartsWith(names_[1] + "  "));
  EXPECT_THAT(lines[2], HasSubstr(checkpoint(1) + "/state: damaged: "));
  EXPECT_THAT(lines[3], StartsWith(names_[2] + "  "));
  EXPECT_THAT(lines[3], HasSubstr("finished"));
}

TEST_F(CheckpointTest, ListGivesTheDamageAsJson) {
  fs::remove(path(checkpoint(0) + "/options"));
  const Outcome outcome = run({"checkpoint", "list", "run", "--json"});
  EXPECT_EQ(outcome.code, 0);
  const json list = json::parse(outcome.out);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_THAT(list[0]["damage"].get<std::string>(), HasSubstr(checkpoint(0) + "/options: damaged: "));
  EXPECT_FALSE(list[0].contains("examples"));
  EXPECT_FALSE(list[2].contains("damage"));
  EXPECT_EQ(list[2]["examples"], 600);
}

// C8: an older one may be all that is left.
TEST_F(CheckpointTest, PruneRemovesNothingWhereTheNewestIsDamaged) {
  flip_last_byte(checkpoint(2) + "/weights-00000");
  const Outcome outcome = run({"checkpoint", "prune", "run"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr(checkpoint(2) + "/weights-00000: damaged: "));
  for (const std::string& name : names_) EXPECT_TRUE(fs::exists(path("run/checkpoints/" + name + "/MANIFEST")));
}

}  // namespace
}  // namespace cpt
