// The search for the best label of an example on one of two owners.
#include "train/partitioned/partition_owner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/learning/in_order.h"
#include "model/learning/losses.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

// The owner of the root and a part of what is below.
class SearchHere : public ::testing::Test {
 protected:
  static constexpr int kRank = 0;

  SearchHere() {
    Dice dice(1);
    for (std::size_t i = 0; i < 20'000; ++i) {
      const std::size_t label = dice.below(400);
      for (std::size_t f = 0; f < 4; ++f) stream_.add_feature(feature_number((label + dice.below(6)) % 200), 1);
      stream_.finish_example(label_number(label), 1, {});
    }
    Losses losses;
    InOrder(learner_).learn_online({&stream_, 0, stream_.size()}, losses);
  }

  // What the search for the best label of example i finds here, and what it asks the other rank.
  struct Result {
    double best = 0;
    std::vector<PartitionTask> asked;
  };
  Result search(std::size_t i) {
    ScaledValues room;
    const ScaledExample x = learner_.scaled(stream_[i], room);
    const ExampleRecord::Parts parts{x, {}, {}, room.rarities};
    const ExampleRecord::Shape shape = ExampleRecord::shape_of(parts);
    record_.resize(ExampleRecord::bytes(shape) / sizeof(std::uint64_t));
    auto* const at = reinterpret_cast<std::byte*>(record_.data());
    ExampleRecord::write(shape, parts, at);

    PartitionTask task{.kind = TaskKind::kSearch, .least = kLeastTop1, .example = ExampleRecord(at)};
    PartitionOwner owner(learner_, owners_, kRank);
    StageResults results(2);
    for (Buffer& message : messages_) {
      message.clear();
      results.hops.emplace_back(message);
    }
    owner.run({task}, true, results, [] {});

    Result result;
    for (const PartialResult& partial : results.partials[kRank]) result.best = std::max(result.best, partial.value);
    EXPECT_EQ(messages_[kRank].size(), 0U);
    std::vector<std::size_t> ends;
    read_tasks({messages_[1].bytes()}, result.asked, ends);
    return result;
  }

  Owners owners_ = first_owners(2, 1);
  Learner learner_{{.bits = 18}};
  Batch stream_;
  std::vector<std::uint64_t> record_;
  std::array<Buffer, 2> messages_;
};

TEST_F(SearchHere, AsksOthersOnlyForWhatMayBeBetter) {
  std::size_t nobody = 0;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const double best = learner_.top_k(stream_[i], 1, 0).front().probability;
    const Result result = search(i);
    EXPECT_LE(result.best, best * (1 + 1e-12));
    double elsewhere = 0;
    for (const PartitionTask& task : result.asked) {
      EXPECT_EQ(owners_[task.partition], 1);
      EXPECT_GE(task.least, std::max(kLeastTop1, result.best));
      EXPECT_GE(task.probability, task.least);
      elsewhere = std::max(elsewhere, task.probability);
    }
    EXPECT_GE(std::max(result.best, elsewhere), best * (1 - 1e-12)) << "the best label is lost";
    if (result.best > 0.5) {
      EXPECT_TRUE(result.asked.empty()) << result.best;
    }
    ++(result.asked.empty() ? nobody : asked);
  }
  // Both happen, or the test shows nothing.
  EXPECT_GT(nobody, 20U);
  EXPECT_GT(asked, 20U);
}

}  // namespace
}  // namespace cpt
