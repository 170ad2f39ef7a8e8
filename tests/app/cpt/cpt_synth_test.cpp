#include <fmt/format.h>

#include <map>

#include "app/program.h"
#include "synthetic/web_ads.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

namespace fs = std::filesystem;

class SynthTest : public ProgramTest {
 protected:
  // All files below a folder, by their names from there.
  std::map<std::string, std::string> files_of(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) {
      if (entry.is_regular_file()) {
        files[entry.path().lexically_relative(path(folder)).string()] = content_of(entry.path());
      }
    }
    return files;
  }

  void expect_refused(const Words& arguments, int code, const std::string& reason) const {
    expect_failure(Words{"synth", "web-ads"} + arguments, code, reason);
    expect_nothing_left();
  }
};

WebAds world_of(std::uint64_t events, std::uint64_t seed = 1) {
  WebAdsOptions options;
  options.events = events;
  options.seed = seed;
  return WebAds(options);
}

TEST_F(SynthTest, DealsTheEventsToTheShardsInTurn) {
  EXPECT_THAT(results({"synth", "web-ads", "log", "--events", "1003", "--shards", "3", "--seed", "5"}),
              ElementsAre("log: 803 events to train, 200 to test, in 3 shards each",
                          StartsWith("loss of the true P on the test events: squared 0.")));
  const WebAds world = world_of(1003, 5);
  std::map<std::string, std::string> expected;
  std::vector<WordCount> words;
  for (std::uint64_t number = 0; number < 1003; ++number) {
    const Event event = world.event(number);
    world.words(event.page, words);
    const bool trains = number < 803;
    const std::string name =
        (trains ? "train/part-00" : "test/part-00") + std::to_string((trains ? number : number - 803) % 3);
    append_line(Format::kVw, event.ad, words, expected[name + ".vw"]);
    expected["truth/" + name + ".txt"] += fmt::format("{}\n", event.probability);
  }
  EXPECT_EQ(files_of("log"), expected);
}

TEST_F(SynthTest, EveryFormatIsReadBackInOrderOfTime) {
  const WebAds world = world_of(1000);
  for (const std::string format : {"vw", "libsvm", "fasttext"}) {
    SCOPED_TRACE(format);
    results({"synth", "web-ads", format, "--events", "1000", "--format", format});
    Words expected;
    for (std::uint64_t number = 0; number < 1000; ++number) {
      expected.push_back((format == "libsvm" ? "" : "ad") + std::to_string(world.event(number).ad));
    }
    const Words train = labels_of(format + "/train");
    const Words test = labels_of(format + "/test");
    EXPECT_EQ(train, Words(expected.begin(), expected.begin() + 800));
    EXPECT_EQ(test, Words(expected.begin() + 800, expected.end()));
  }
}

TEST_F(SynthTest, FillsOnlyAnEmptyDirectory) {
  fs::create_directory(path("empty"));
  results({"synth", "web-ads", "empty", "--events", "100"});
  const auto before = files_of("empty");
  EXPECT_EQ(before.size(), 32U);
  expect_refused({"empty", "--events", "100"}, 73, "empty: exists and is not an empty directory");
  EXPECT_EQ(files_of("empty"), before);
  write("file", "kept");
  expect_refused({"file/log", "--events", "100"}, 73, "file: mkdir failed");
}

TEST_F(SynthTest, UsageErrors) {
  expect_refused({}, 2, "OUT is required");
  expect_refused({"log", "--events", "0"}, 2, "--events: '0' is not a whole number of at least 1");
  expect_refused({"log", "--shards", "0"}, 2, "--shards");
  expect_refused({"log", "--shards", "1001"}, 2, "--shards");
  expect_refused({"log", "--format", "auto"}, 2, "--format: 'auto' is none of: fasttext, libsvm, vw");
  expect_refused({"log", "--events", "100", "--pages", "51"}, 2, "--pages is more than half of --events: 51");
  expect_refused({"log", "--top-ad", "0.6"}, 2, "--top-ad is 0.6: it must be in [0, 0.5]");
  EXPECT_EQ(run({"synth"}).code, 2);
  EXPECT_FALSE(fs::exists(path("log")));
}

}  // namespace
}  // namespace cpt
