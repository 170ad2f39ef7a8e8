#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "app/program.h"
#include "data/binary/binary_index.h"
#include "data/pipeline/shard_preview.h"

namespace cpt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

class ConvertTest : public TrainedTest {
 protected:
  void expect_refused(const Words& arguments, int code, const std::string& reason) const {
    expect_failure(Words{"convert"} + arguments, code, reason);
    expect_nothing_left();
  }
};

// The model's options for reading.
const Words kReading{"--seed", "7", "--normalize", "l2", "--interactions", "pu"};

Words convert(const Words& words) { return Words{"convert"} + words + kReading; }

TEST_F(ConvertTest, PredictionsAreThoseOfTheText) {
  EXPECT_THAT(results(convert({"test.vw", "binary"})), ElementsAre(StartsWith("binary: 50 lines in 1 shard, ")));
  const std::string shard = "binary/part-000.cpt";
  for (const char* command : {"predict", "score"}) {
    EXPECT_EQ(results({command, "--model", "model", "--data", shard}),
              results({command, "--model", "model", "--data", "test.vw"}));
  }
  EXPECT_EQ(results({"score", "--model", "model", "--data", "-"}, content_of(path(shard))),
            results({"score", "--model", "model", "--data", "test.vw"}));
}

TEST_F(ConvertTest, ExplanationsNameFeaturesByTheirHashes) {
  results(convert({"test.vw", "binary"}));
  const Words named = results({"explain", "--model", "model", "--data", "test.vw", "--top", "2"});
  const Words hashed = results({"explain", "--model", "model", "--data", "binary", "--top", "2"});
  ASSERT_EQ(hashed.size(), named.size());
  EXPECT_THAT(named, Contains(HasSubstr("page^w")));
  EXPECT_THAT(hashed, Contains(HasSubstr(" #")));
  EXPECT_THAT(hashed, ::testing::Not(Contains(HasSubstr("page^w"))));
}

// So that a run on the shards gets a weight table of the same size as a run on the text.
TEST_F(ConvertTest, ShardsKnowHowMuchTextTheyWereMadeOf) {
  const auto text_of = [&](const std::string& folder) {
    std::uint64_t bytes = 0;
    for (const Shard& shard : find_shards({path(folder).string()})) bytes += estimated_text_bytes(shard);
    return bytes;
  };
  const double bytes = static_cast<double>(fs::file_size(path("train.vw")) + fs::file_size(path("test.vw")));
  const std::vector<Shard> shards = find_shards({path("train.vw").string(), path("test.vw").string()});
  const double growth = growth_by_crosses(shards, {.interactions = {"pu"}});
  EXPECT_GT(growth, 1.5);
  const auto text = static_cast<std::uint64_t>(bytes * growth);
  results(convert({"train.vw", "test.vw", "seven", "--shards", "7"}));
  results(convert({"seven", "two", "--shards", "2"}));
  EXPECT_EQ(text_of("seven"), text);
  EXPECT_EQ(text_of("two"), text);
}

TEST_F(ConvertTest, KeepsTheOrderOfLinesForAnyNumberOfShards) {
  fs::create_directory(path("text"));
  write("text/0", page_log(37, 9, 3));
  write("text/1", page_log(5, 9, 4));
  write("text/2", page_log(21, 9, 5));
  const Words expected = labels_of("text");
  for (const char* shards : {"1", "2", "3", "7", "70"}) {
    SCOPED_TRACE(shards);
    const std::string out = std::string("binary") + shards;
    EXPECT_THAT(results({"convert", "text", out, "--shards", shards}),
                ElementsAre(StartsWith(out + ": 63 lines in " + shards + " shard")));
    EXPECT_EQ(labels_of(out), expected);
    results({"convert", out, out + "again", "--shards", "2"});
    EXPECT_EQ(labels_of(out + "again"), expected) << "converted once more";
  }
  results({"convert", "text/0", "text/1", "text/2", "binary"});
  EXPECT_EQ(labels_of("binary"), expected);
  EXPECT_TRUE(fs::exists(path("binary/part-002.cpt")));
  EXPECT_FALSE(fs::exists(path("binary/part-003.cpt")));
}

TEST_F(ConvertTest, TellsWhatItSkips) {
  write("text", "a |f x\nbad\nb |f x\n");
  const Outcome outcome = run({"convert", "text", "binary", "--format", "vw", "--on-error", "skip"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("binary: 2 lines in 1 shard, "));
  EXPECT_THAT(outcome.out, HasSubstr(" bytes, 1 bad line skipped"));
  EXPECT_THAT(outcome.err, StartsWith("cpt: skipped: text:2:"));
  EXPECT_THAT(labels_of("binary"), ElementsAre("a", "b"));
  write("labels", "__label__a __label__b w\n__label__c w\n");
  EXPECT_THAT(results({"convert", "labels", "split", "--multilabel", "split"}),
              ElementsAre(HasSubstr("split: 2 lines in 1 shard, ")));
}

TEST_F(ConvertTest, WarnsOfWhatItDropsAndOfHugeValues) {
  write("several.svm", "1,2 4:1\n1 4:1 5:1 6:1e9\n");
  const Outcome outcome = run({"convert", "several.svm", "binary"});
  EXPECT_THAT(lines_of(outcome.err),
              ElementsAre(StartsWith("cpt: warning: several.svm: values of the feature '6' are like 1e+09"),
                          StartsWith("cpt: warning: several.svm: 1 of the first 2 lines have several labels")));
  EXPECT_EQ(run({"convert", "several.svm", "other", "--multilabel", "sample"}).code, 0);
}

TEST_F(ConvertTest, WritesAllOrNothing) {
  write("text", "a |f x\nbad\n");
  expect_refused({"text", "binary"}, 65, "text:2:");
  EXPECT_FALSE(fs::exists(path("binary")));
  write("file", "kept");
  expect_refused({"test.vw", "file"}, 73, "file: exists and is not an empty directory");
  EXPECT_EQ(content_of(path("file")), "kept");
  expect_refused({"test.vw", "file/binary"}, 73, "file: mkdir failed");
  expect_refused({"nothing", "binary"}, 66, "nothing");
  expect_refused({"test.vw", ""}, 2, "the name of the directory to write is empty");
  write("model/MANIFEST", "");
  expect_refused({"test.vw", "model/binary"}, 73, "lies in the model");
}

// `cpt convert - OUT` that is at work, and waits for more input.
class UnfinishedConversion : public ProgramTest {
 protected:
  UnfinishedConversion() : conversion_(folder(), {"convert", "-", "out"}) {
    while (!works()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Conversation& conversion() { return conversion_; }

 private:
  bool works() const {
    const Words folders = names_in(".");
    return std::ranges::any_of(folders, [&](const auto& name) { return fs::exists(path(name) / "part-000.cpt"); });
  }

  Conversation conversion_;
};

TEST_F(UnfinishedConversion, LeavesNothingUnderTheFinalNameWhenKilledAndTheNextOneCleansUp) {
  conversion().signal(SIGKILL);
  EXPECT_EQ(conversion().end(), -SIGKILL);
  EXPECT_THAT(names_in("."), ElementsAre(StartsWith("out.tmp-")));
  write("text", "a |f x\n");
  results({"convert", "text", "out"});
  EXPECT_THAT(names_in("."), Contains("out"));
  expect_nothing_left();
}

TEST_F(UnfinishedConversion, KeepsWhatOthersPutInItsPlaceAndWhatItMade) {
  fs::create_directory(path("out"));
  write("out/theirs", "kept");
  conversion().say("a |f x\n");
  conversion().stop_talking();
  EXPECT_EQ(conversion().end(), 73);
  EXPECT_EQ(content_of(path("out/theirs")), "kept");
  const Words left = names_in(".");
  ASSERT_THAT(left, ::testing::UnorderedElementsAre("out", StartsWith("out.tmp-")));
  EXPECT_THAT(labels_of(left[0] == "out" ? left[1] : left[0]), ElementsAre("a"));
}

TEST_F(ConvertTest, UsageErrors) {
  expect_refused({"test.vw"}, 2, "expected IN ... and OUT, found only 'test.vw'");
  expect_refused({}, 2, "IN is required");
  expect_refused({"test.vw", "-"}, 2, "OUT is a directory to write, not standard output");
  expect_refused({"test.vw", "binary", "--shards", "0"}, 2, "--shards");
  expect_refused({"test.vw", "binary", "--shards", "1001"}, 2, "--shards");
  expect_refused({"test.vw", "binary", "--format", "xml"}, 2, "--format");
  results({"convert", "test.vw", "binary"});
  expect_failure({"predict", "--model", "model", "--data", "binary"}, 2,
                 "part-000.cpt: converted with seed 1, normalize none, interactions none; "
                 "the model reads with seed 7, normalize l2, interactions pu; "
                 "convert again with --seed 7 --normalize l2 --interactions pu\n");
  expect_refused({"model", "binary"}, 2, "IN model is a model or a checkpoint, not data");
}

TEST_F(ConvertTest, AnInteractionTakesNoPaths) {
  results(convert({"test.vw", "after"}));
  results({"convert", "--seed", "7", "--normalize", "l2", "--interactions", "pu", "test.vw", "before"});
  EXPECT_EQ(content_of(path("before/part-000.cpt")), content_of(path("after/part-000.cpt")));
  results({"convert", "--interactions", "pu", "--interactions", "up", "test.vw", "two"});
  expect_refused({"--interactions", "pux", "test.vw", "three"}, 2, "--interactions pux: give the first letters of two");
}

}  // namespace
}  // namespace cpt
