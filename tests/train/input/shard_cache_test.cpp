// A cache changes how fast shards are read, and nothing else, whatever becomes of it.
#include "train/input/shard_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "comm/alone.h"
#include "data/packed.h"
#include "store/fs/pending_file.h"
#include "train/checkpoint/resumed_job.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool goes_on() { return false; }

// Nobody has changed it for a while.
void settle(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

class CacheRecorder : public Recorder {
 public:
  void cached(const CacheReport& report) override { cached_.push_back(report); }
  std::uint64_t sum(std::uint64_t CacheReport::*count) const {
    std::uint64_t sum = 0;
    for (const CacheReport& report : cached_) sum += report.*count;
    return sum;
  }

 private:
  std::vector<CacheReport> cached_;
};

struct ShardCacheTest : ::testing::Test {
  // Shards of uneven lengths, one of them empty; old enough to be copied.
  ShardCacheTest() {
    for (const std::size_t examples : {700U, 400U, 0U, 900U}) {
      const std::string text = random_lines({.seed = examples, .examples = examples, .labels = 50});
      const std::string name = "data" + std::to_string(options.data.size());
      options.data.push_back(write(name, options.data.size() % 2 == 0 ? text : gzip(text)));
    }
    options.test = {write("test", zstd(random_lines({.seed = 9, .examples = 300, .labels = 60})))};
    options.passes = 2;
    options.placement = Placement::kPartitioned;
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::string path = folder.write(name, content);
    settle(path);
    return path;
  }
  TrainingOptions with_cache() const {
    TrainingOptions cached = options;
    cached.cache = folder / "cache/copies";
    return cached;
  }
  // Of the files in the cache.
  std::vector<fs::path> copies() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(with_cache().cache)) paths.push_back(entry.path());
    return paths;
  }
  // What a job with the cache says of it.
  CacheRecorder recorded(int ranks = 1) const {
    CacheRecorder recorder;
    results_on(ranks, with_cache(), {.observer = &recorder});
    return recorder;
  }

  // The shards of `options`, taken by a cache of its own, on one rank.
  CacheReport attach(ShardCache& cache, std::vector<Shard>& shards,
                     const std::function<bool()>& gives_up = goes_on) const {
    shards = find_shards(options.data);
    Alone alone;
    cache.attach(shards, {0, 1, 2, 3}, {}, gives_up);
    return cache.report(alone);
  }

  Folder folder;
  TrainingOptions options = small_job();
};

TEST_F(ShardCacheTest, ChangesNothingOfTheResult) {
  const Outcome expected = outcome_on(1, options);
  for (const int ranks : {2, 1, 3}) {
    SCOPED_TRACE(ranks);
    expect_same(outcome_on(ranks, with_cache()), expected);
  }
  options.placement = Placement::kReplicated;
  expect_same(outcome_on(3, with_cache()), outcome_on(3, options));
}

TEST_F(ShardCacheTest, WritesAtFirstAndFindsFromThenOn) {
  const CacheRecorder first = recorded();
  EXPECT_EQ(first.sum(&CacheReport::written), 4U) << "three shards that are not empty, and one to test";
  EXPECT_EQ(first.sum(&CacheReport::found), 3U) << "in the second pass";
  EXPECT_GT(first.sum(&CacheReport::bytes), 0U);
  EXPECT_EQ(copies().size(), 4U);
  const CacheRecorder second = recorded(3);
  EXPECT_EQ(second.sum(&CacheReport::written), 0U);
  EXPECT_EQ(second.sum(&CacheReport::found), 7U);
  EXPECT_EQ(second.sum(&CacheReport::left), 0U);
  EXPECT_THAT(second.warnings, IsEmpty());
}

TEST_F(ShardCacheTest, HasACopyForEveryChangeOfAShardAndOfTheOptions) {
  recorded();
  write("data0", random_lines({.seed = 1, .examples = 700, .labels = 50}));
  EXPECT_EQ(recorded().sum(&CacheReport::written), 1U);
  options.model.seed = 7;
  EXPECT_EQ(recorded().sum(&CacheReport::written), 4U);
  expect_same(outcome_on(2, with_cache()), outcome_on(2, options));
}

TEST_F(ShardCacheTest, AShardThatWasChangedJustNowIsReadAsText) {
  folder.write("data0", random_lines({.seed = 1, .examples = 700, .labels = 50}));
  const CacheRecorder recorder = recorded();
  EXPECT_EQ(recorder.sum(&CacheReport::written), 3U);
  EXPECT_EQ(recorder.sum(&CacheReport::left), 2U) << "in both passes";
}

TEST_F(ShardCacheTest, AShardThatChangesWhileItIsCopiedGetsNoCopy) {
  ShardCache cache(with_cache().cache);
  std::vector<Shard> shards;
  const CacheReport report = attach(cache, shards, [&] {
    std::ofstream(options.data[0], std::ios::app) << "another | line\n";
    return false;
  });
  EXPECT_EQ(shards[0].copy, "");
  EXPECT_EQ(report.written, 2U);
  EXPECT_EQ(report.left, 1U);
  EXPECT_EQ(copies().size(), 2U);
}

TEST_F(ShardCacheTest, HasNoMoreCopiesOfARankThanItsMemoryIsFor) {
  std::vector<std::uint32_t> mine;
  options.data.clear();
  for (std::uint32_t i = 0; i < ShardCache::kMostCopies + 2; ++i) {
    options.data.push_back(write("many" + std::to_string(i), "a |f x\n"));
    mine.push_back(i);
  }
  std::vector<Shard> shards = find_shards(options.data);
  ShardCache cache(with_cache().cache);
  Alone alone;
  cache.attach(shards, mine, {}, goes_on);
  const CacheReport report = cache.report(alone);
  EXPECT_EQ(report.written, ShardCache::kMostCopies);
  EXPECT_EQ(report.left, 2U);
}

TEST_F(ShardCacheTest, GivesUpOnRequest) {
  ShardCache cache(with_cache().cache);
  std::vector<Shard> shards;
  int asked = 0;
  const CacheReport report = attach(cache, shards, [&] { return ++asked > 3; });
  EXPECT_EQ(report.written, 1U);
  EXPECT_EQ(report.left, 2U);
  EXPECT_EQ(copies().size(), 1U);
}

TEST_F(ShardCacheTest, ADamagedCopyIsMadeAnew) {
  recorded();
  const Outcome expected = outcome_on(1, options);
  for (const fs::path& copy : copies()) fs::resize_file(copy, fs::file_size(copy) - 1);
  const CacheRecorder recorder = recorded();
  EXPECT_EQ(recorder.warnings.size(), 4U);
  EXPECT_THAT(recorder.warnings[0],
              AllOf(HasSubstr(options.data[0]), HasSubstr("its copy "), HasSubstr("cannot be read")));
  EXPECT_EQ(recorder.sum(&CacheReport::written), 4U);
  expect_same(outcome_on(1, with_cache()), expected);
}

TEST_F(ShardCacheTest, DamageThatTurnsUpLaterIsToldAndTheTextIsRead) {
  const Outcome expected = outcome_on(1, options);
  const auto damage = [this] {
    recorded();  // all copies are there, and sound
    for (const fs::path& copy : copies()) {
      std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(fs::file_size(copy) / 2));
      file << "damaged";
    }
  };
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    damage();
    EXPECT_EQ(recorded(ranks).warnings.size(), 4U);
    damage();
    expect_same(outcome_on(ranks, with_cache()), expected);
  }
}

TEST_F(ShardCacheTest, WhatAnotherJobIsWritingIsReadAsText) {
  recorded();
  std::vector<PendingFile> others;
  for (const fs::path& copy : copies()) {
    others.push_back(std::move(*PendingFile::begin(copy)));
    fs::remove(copy);
  }
  const Outcome expected = outcome_on(1, options);
  expect_same(outcome_on(2, with_cache()), expected);
  EXPECT_EQ(copies().size(), 4U) << "those that are being written";
  others.clear();
  EXPECT_EQ(recorded().sum(&CacheReport::written), 4U);
}

TEST_F(ShardCacheTest, ClearsAwayWhatIsUnfinishedAndNothingElse) {
  recorded();
  const fs::path unfinished = copies()[0].string() + ".part";
  const fs::path of_others = with_cache().cache / "film.part";
  for (const fs::path& file : {unfinished, of_others}) std::ofstream(file) << "half";
  recorded();
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_TRUE(fs::exists(of_others));
}

TEST_F(ShardCacheTest, AFolderThatVanishesIsToldOnce) {
  ShardCache cache(with_cache().cache);
  fs::remove_all(with_cache().cache);
  std::vector<Shard> shards;
  const CacheReport report = attach(cache, shards);
  EXPECT_THAT(report.warnings,
              ElementsAre(HasSubstr("no more copies are written, and shards without one are read as text: ")));
  EXPECT_EQ(report.left, 3U);
  EXPECT_THAT(attach(cache, shards).warnings, IsEmpty());
}

TEST_F(ShardCacheTest, AFolderThatCannotBeMadeEndsTheRunAtItsStart) {
  folder.write("cache", "a file");
  for (const Ending& ending : train_on(2, with_cache())) {
    EXPECT_EQ(ending.fault, Fault::kCannotWrite);
    EXPECT_THAT(ending.error, HasSubstr("cache"));
  }
}

TEST_F(ShardCacheTest, BadLinesAreWhatTheyAreInTheText) {
  options.data[1] = write("data1", random_lines({.seed = 4, .examples = 150}) + "label | word:abc\n" +
                                       random_lines({.seed = 5, .examples = 150}) + "\nlabel | word:abc");
  const auto warnings = [](const TrainingOptions& job) {
    CacheRecorder recorder;
    results_on(1, job, {.observer = &recorder});
    return recorder.warnings;
  };
  options.skip_bad_lines = true;
  const Outcome expected = outcome_on(1, options);
  EXPECT_EQ(expected.error_lines, 4U);
  for (const int ranks : {1, 2, 2}) expect_same(outcome_on(ranks, with_cache()), expected);
  EXPECT_EQ(warnings(with_cache()), warnings(options));
  options.skip_bad_lines = false;
  const std::string reason = train_on(1, options)[0].error;
  EXPECT_THAT(reason, HasSubstr("data1:151:14: expected a number"));
  EXPECT_EQ(train_on(1, with_cache())[0].error, reason);
  fs::remove_all(with_cache().cache);
  EXPECT_EQ(train_on(1, with_cache())[0].error, reason);
}

// C7, across the change.
TEST_F(ShardCacheTest, ARunGoesOnWithItAndWithoutIt) {
  const Outcome expected = outcome_on(1, options);
  for (const bool cached_first : {false, true}) {
    for (const std::uint64_t call : {2U, 7U}) {
      SCOPED_TRACE(call);
      ResumedJob job;
      const TrainingOptions first = cached_first ? with_cache() : options;
      const TrainingOptions then = cached_first ? options : with_cache();
      job.options = first;
      job.run_until(2, {.rank = 1, .call = call});
      job.options = then;
      expect_same(job.finish(3), expected);
      EXPECT_FALSE(copies().empty());
      fs::remove_all(with_cache().cache);
    }
  }
}

}  // namespace
}  // namespace cpt
