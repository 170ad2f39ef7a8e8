// The table of training options, and that everything derived from it holds for every row.
#include "api/options/option_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "api/checkpoint/run_state_archive.h"
#include "cpt/error.h"
#include "store/blob/archive.h"

namespace cpt {
namespace {

using Words = std::vector<std::string>;

// For each option, words that set another value than the default.
const std::map<std::string, Words>& other_values() {
  static const std::map<std::string, Words> values{{"data", {"a.vw", "b.vw"}},
                                                   {"test", {"c.vw"}},
                                                   {"passes", {"3"}},
                                                   {"method", {"cpecoc"}},
                                                   {"alpha", {"0.5"}},
                                                   {"learning-rate", {"0.25"}},
                                                   {"bits", {"13"}},
                                                   {"init", {"model"}},
                                                   {"test-frozen", {}},
                                                   {"format", {"libsvm"}},
                                                   {"columns", {"label,page"}},
                                                   {"multilabel", {"split"}},
                                                   {"interactions", {"ab"}},
                                                   {"ngrams", {"title:3"}},
                                                   {"label-key", {"category"}},
                                                   {"importance-key", {"weight"}},
                                                   {"text-keys", {"title,body"}},
                                                   {"categorical-keys", {"page"}},
                                                   {"ignore-keys", {"id,row"}},
                                                   {"normalize", {"l2"}},
                                                   {"validate", {"v.vw"}},
                                                   {"validate-every", {"1000"}},
                                                   {"keep-best", {"log_seen"}},
                                                   {"early-stop", {"3"}},
                                                   {"on-error", {"skip:7"}},
                                                   {"split", {"4"}},
                                                   {"tree", {"huffman:counts"}},
                                                   {"trees", {"2"}},
                                                   {"arity", {"4"}},
                                                   {"labels", {"labels.txt"}},
                                                   {"loss", {"squared"}},
                                                   {"update", {"sgd"}},
                                                   {"calibrate", {"off"}},
                                                   {"rarity", {"off"}},
                                                   {"clip", {"0.01"}},
                                                   {"seed", {"9"}},
                                                   {"placement", {"replicated"}},
                                                   {"merge", {"average"}},
                                                   {"sync-fraction", {"0.5"}},
                                                   {"sync-examples", {"100"}},
                                                   {"round-examples", {"50"}},
                                                   {"keep", {"5"}}};
  return values;
}

TrainingOptions with(const TrainingOptionRow& row) {
  TrainingOptions options;
  if (std::string(row.name) == "arity") options.model.method = Method::kConditionalPecoc;  // archived only then
  row.binding.set(options, other_values().at(row.name));
  return options;
}

TrainingOptions archived(const TrainingOptions& options) {
  std::ostringstream bytes;
  {
    cereal::PortableBinaryOutputArchive out(bytes);
    out(options, options.validation, options.columns);
  }
  const std::string text = bytes.str();
  ArchiveReader reader(std::as_bytes(std::span(text)));
  TrainingOptions read;
  reader(read, read.validation, read.columns);
  return read;
}

TEST(OptionTable, NamesEachOptionOnceAndHasATestValueForIt) {
  std::set<std::string> names;
  for (const TrainingOptionRow& row : training_option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(other_values().contains(row.name)) << row.name;
  }
}

TEST(OptionTable, SetsShowsAndCopiesEveryValue) {
  for (const TrainingOptionRow& row : training_option_table()) {
    SCOPED_TRACE(row.name);
    const TrainingOptions changed = with(row);
    EXPECT_NE(row.binding.show(changed), row.binding.show(TrainingOptions()));
    TrainingOptions copy;
    row.binding.copy(copy, changed);
    EXPECT_EQ(row.binding.show(copy), row.binding.show(changed));
  }
}

// An option that a resumed run takes from its checkpoint must be in the checkpoint.
TEST(OptionTable, CheckpointsKeepWhatResumeNeeds) {
  for (const TrainingOptionRow& row : training_option_table()) {
    if (row.on_resume == OnResume::kFree) continue;
    SCOPED_TRACE(row.name);
    const TrainingOptions changed = with(row);
    EXPECT_EQ(row.binding.show(archived(changed)), row.binding.show(changed));
  }
}

// The words of an option that is a choice; without a number or a path in place of their capital letters.
std::vector<std::string> words_of_choice(const TrainingOptionRow& row) {
  if (!row.value.starts_with("(")) return {};
  std::vector<std::string> words;
  std::istringstream stream(row.value.substr(1, row.value.size() - 2));
  for (std::string word; std::getline(stream >> std::ws, word, ',');) {
    if (std::ranges::none_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) words.push_back(word);
  }
  return words;
}

TEST(OptionTable, CheckpointsKeepEveryChoice) {
  std::size_t choices = 0;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (row.on_resume == OnResume::kFree) continue;
    for (const std::string& word : words_of_choice(row)) {
      SCOPED_TRACE(std::string(row.name) + " " + word);
      TrainingOptions changed;
      row.binding.set(changed, {word});
      EXPECT_EQ(row.binding.show(archived(changed)), row.binding.show(changed));
      ++choices;
    }
  }
  EXPECT_GT(choices, 25U);
}

TEST(OptionTable, ResumedRunsChangeOnlyWhatMayChange) {
  for (const TrainingOptionRow& row : training_option_table()) {
    SCOPED_TRACE(row.name);
    const TrainingOptions then;
    const TrainingOptions now = with(row);
    const TrainingOptions& expected = may_change_on_resume(row.on_resume, then) ? now : then;
    EXPECT_EQ(row.binding.show(options_on_resume(then, now)), row.binding.show(expected));
  }
  TrainingOptions replicated;
  replicated.placement = Placement::kReplicated;
  EXPECT_FALSE(may_change_on_resume(OnResume::kMayChangeIfPartitioned, replicated));
}

TEST(OptionTable, ResumedRunsReportAndCheckpointAsOftenAsTheyAreToldNow) {
  TrainingOptions now;
  now.progress_every = std::chrono::seconds(3);
  now.checkpoints.every = std::chrono::seconds(5);
  const TrainingOptions resumed = options_on_resume({}, now);
  EXPECT_EQ(resumed.progress_every, now.progress_every);
  EXPECT_EQ(resumed.checkpoints.every, now.checkpoints.every);
}

TEST(OptionTable, ResumedRunsKeepShardsThatAreNotGiven) {
  TrainingOptions then;
  then.data = {"a"};
  then.test = {"b"};
  const TrainingOptions resumed = options_on_resume(then, {});
  EXPECT_EQ(resumed.data, Words{"a"});
  EXPECT_EQ(resumed.test, Words{"b"});
}

TEST(OptionTable, RefusesValuesThatAreNone) {
  for (const TrainingOptionRow& row : training_option_table()) {
    const std::string name = row.name;
    if (row.value.empty() || row.words != OptionWords::kOne) continue;
    if (name == "init" || name == "labels") continue;
    if (name == "label-key" || name == "importance-key") continue;
    if (name == "text-keys" || name == "categorical-keys" || name == "ignore-keys" || name == "columns") {
      for (const char* list : {"", ",", "a,", ",a", "a,,b"}) {
        TrainingOptions options;
        EXPECT_THROW(row.binding.set(options, {list}), Error) << list;
      }
      continue;
    }
    TrainingOptions options;
    EXPECT_THROW(row.binding.set(options, {"what"}), Error) << name;
  }
}

}  // namespace
}  // namespace cpt
