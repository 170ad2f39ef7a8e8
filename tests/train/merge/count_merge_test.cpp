// The table's counts on several ranks and on disk: exactly those of one rank.
#include "train/merge/count_merge.h"

#include <gmock/gmock.h>

#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "api/blobs/learner_blobs.h"
#include "comm/threads/threads.h"
#include "model/random_stream.h"
#include "store/blob/blob_set.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// By x and the label's name: labels have other numbers on other ranks.
using Counts = std::map<std::pair<std::uint64_t, std::string>, Units>;

Counts counts_of(const Learner& learner) {
  Counts counts;
  for (const std::uint64_t key : learner.frequencies().sorted_keys()) {
    for (const auto& [label, units] : learner.frequencies().find(key)->counts) {
      counts[{key, std::string(learner.labels().name(label))}] = units;
    }
  }
  return counts;
}

// Few features, so that ranks meet the same x; importances that no double holds exactly.
std::string weighted_rows(std::uint64_t seed, std::size_t examples) {
  Dice dice(seed);
  std::ostringstream text;
  for (std::size_t i = 0; i < examples; ++i) {
    text << "label" << dice.below(20) << ' ' << 0.1 + dice.unit() << " |a f" << dice.below(4) << " g" << dice.below(3)
         << '\n';
  }
  return text.str();
}

TEST(CountsOfAJob, AreThoseOfOneRankOnAnyNumberOfRanks) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.model.method = Method::kTable;
  for (std::uint64_t shard = 0; shard < 6; ++shard) {
    options.data.push_back(folder.write("shard-" + std::to_string(shard), weighted_rows(shard, 150 * shard)));
  }
  options.passes = 2;
  const Counts one = counts_of(results_on(1, options)[0].model.learner());
  EXPECT_GT(one.size(), 200U);
  for (const int ranks : {2, 3, 5, 8}) {
    for (const TrainingResult& result : results_on(ranks, options)) {
      EXPECT_EQ(counts_of(result.model.learner()), one) << ranks << " ranks";
    }
  }
}

ModelOptions table_options() {
  ModelOptions options;
  options.method = Method::kTable;
  return options;
}

PathState walk_of(std::uint64_t key, LabelId label, float importance) {
  PathState path_state;
  path_state.key = key;
  path_state.label = label;
  path_state.example.importance = importance;
  return path_state;
}

TEST(CountMerger, MergesInSegmentsOfAnySize) {
  constexpr int kRanks = 3;
  for (const std::uint64_t bytes : std::vector<std::uint64_t>{1, 300, CountMerger::kSegmentBytes}) {
    Frequencies expected;
    std::vector<std::uint64_t> digests(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      Dice dice(static_cast<std::uint64_t>(rank));
      for (int i = 0; i < 100 * rank; ++i) {
        const std::uint64_t key = dice.below(30);
        expected.add(key, static_cast<LabelId>(dice.below(5)), units_of(2));
      }
    }
    run_threads(kRanks, [&](Communicator& comm) {
      Learner learner(table_options());
      CountMerger merger(comm, learner, bytes);
      Dice dice(static_cast<std::uint64_t>(comm.rank()));
      for (int i = 0; i < 100 * comm.rank(); ++i) {
        const std::uint64_t key = dice.below(30);
        const PathState path_state = walk_of(key, static_cast<LabelId>(dice.below(5)), 2);
        merger.note(path_state);
        learner.frequencies().add(path_state.key, path_state.label, units_of(2));
      }
      merger.merge();
      merger.merge();  // nothing was added since
      digests[static_cast<std::size_t>(comm.rank())] = learner.frequencies().digest();
    });
    EXPECT_EQ(digests, std::vector<std::uint64_t>(kRanks, expected.digest())) << bytes << " bytes";
  }
}

// As those of one rank do. An example counts 2^44 units at most.
TEST(CountMerger, SaturatesRatherThanOverflows) {
  run_threads(2, [](Communicator& comm) {
    Learner learner(table_options());
    CountMerger merger(comm, learner);
    const PathState path_state = walk_of(1, 1, 1e12F);
    for (int i = 0; comm.rank() == 1 && i <= 1 << 20; ++i) {
      merger.note(path_state);
      learner.frequencies().add(path_state.key, path_state.label, units_of(1e12F));
    }
    merger.merge();
    EXPECT_EQ(learner.frequencies().find(1)->of(1), ~Units{0});
  });
}

TEST(CountMerger, NoticesCountsThatDiffer) {
  const Thrown thrown = thrown_by_all(2, [&](Communicator& comm) {
    Learner learner(table_options());
    CountMerger merger(comm, learner);
    if (comm.rank() == 1) learner.frequencies().add(1, 1, 1);  // without note()
    merger.merge();
  });
  EXPECT_THAT(thrown.text, HasSubstr(" has other counts than rank 0 on "));
}

// --- on disk

class CountsBlob : public ::testing::Test {
 protected:
  // What is read of a blob of these values.
  template <class... Values>
  std::string error_of(Values... values) {
    return thrown_by([&] {
             BlobSetWriter set(folder_ / "set", "test");
             BlobWriter& blob = set.add("counts");
             (blob.append(std::as_bytes(std::span<const Values, 1>(&values, 1))), ...);
             set.commit();
             read();
           })
        .text;
  }
  Frequencies read() {
    Frequencies frequencies;
    BlobReader blob = BlobSetReader(folder_ / "set", "test").open("counts");
    read_counts(blob, "the blob", 10, frequencies);
    return frequencies;
  }

  using U64 = std::uint64_t;
  using U32 = std::uint32_t;
  Folder folder_;
};

TEST_F(CountsBlob, IsReadAsItWasWritten) {
  Frequencies frequencies;
  Dice dice(1);
  for (int i = 0; i < 100000; ++i)
    frequencies.add(dice.below(60000), static_cast<LabelId>(dice.below(10)), dice.below(9) + 1);
  BlobSetWriter set(folder_ / "set", "test");
  write_counts(frequencies, set.add("counts"));
  set.commit();
  const Frequencies again = read();
  EXPECT_EQ(again.digest(), frequencies.digest());
  EXPECT_EQ(again.pairs(), frequencies.pairs());
  EXPECT_EQ(again.sorted_keys(), frequencies.sorted_keys());
}

// Behind the checksums: it is refused, or means what it says.
class DamagedCounts : public ::testing::Test {
 protected:
  static constexpr std::size_t kLabels = 10;

  DamagedCounts() {
    Frequencies frequencies;
    for (const std::uint64_t key : {std::uint64_t{5}, std::uint64_t{1} << 40}) {
      for (const LabelId label : {3U, 7U}) frequencies.add(key, label, Units{1} << (20 + label));
    }
    intact_ = packed(frequencies);
  }

  static std::string packed(const Frequencies& frequencies) {
    std::string bytes;
    const auto append = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    append(std::uint64_t{frequencies.keys()});
    for (const std::uint64_t key : frequencies.sorted_keys()) {
      const auto& counts = frequencies.find(key)->counts;
      append(key);
      append(static_cast<std::uint32_t>(counts.size()));
      for (const Frequencies::Count& count : counts) {
        append(count.label);
        append(count.units);
      }
    }
    return bytes;
  }

  // Whether it was taken; then it is what was read.
  static bool read(const std::string& bytes) {
    Frequencies frequencies;
    const Thrown thrown =
        thrown_by([&] { unpack_counts(std::as_bytes(std::span(bytes)), "the blob", kLabels, frequencies); });
    if (!thrown.fault) {
      EXPECT_EQ(packed(frequencies), bytes);
      return true;
    }
    EXPECT_EQ(thrown.fault, Fault::kBadData);
    EXPECT_THAT(thrown.text, StartsWith("the blob "));
    return false;
  }

  std::string intact_;
};

TEST_F(DamagedCounts, AreRefusedWhereverTheyAreCutOff) {
  EXPECT_TRUE(read(intact_));
  for (std::size_t length = 0; length < intact_.size(); ++length) {
    EXPECT_FALSE(read(intact_.substr(0, length))) << length;
  }
  EXPECT_FALSE(read(intact_ + '\0'));
}

TEST_F(DamagedCounts, AreRefusedOrAreOthersWithABitFlipped) {
  for (std::size_t bit = 0; bit < 8 * intact_.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::string bytes = intact_;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const bool is_of_their_number = bit < 64;  // which is always found out
    EXPECT_FALSE(read(bytes) && is_of_their_number);
  }
}

TEST_F(CountsBlob, IsRefusedWhereItMakesNoSense) {
  EXPECT_EQ(error_of(U64{1}, U64{5}, U32{1}, U32{9}, U64{1}), "");
  EXPECT_THAT(error_of(U64{1}, U64{5}, U32{1}, U32{10}, U64{1}), HasSubstr("the blob makes no sense at label 10"));
  EXPECT_THAT(error_of(U64{1}, U64{5}, U32{1}, U32{3}, U64{0}), HasSubstr("makes no sense at label 3"));
  EXPECT_THAT(error_of(U64{1}, U64{5}, U32{2}, U32{3}, U64{1}, U32{3}, U64{1}), HasSubstr("makes no sense at label 3"));
  EXPECT_THAT(error_of(U64{1}, U64{5}, U32{0}), HasSubstr("a key without labels"));
  EXPECT_THAT(error_of(U64{2}, U64{5}, U32{1}, U32{3}, U64{1}, U64{5}, U32{1}, U32{4}, U64{1}),
              HasSubstr("keys out of order"));
  EXPECT_THAT(error_of(U64{1}, U64{5}, U32{1}, U32{3}, U64{1}, U32{7}), HasSubstr("bytes after its last key"));
  EXPECT_NE(error_of(U64{2}, U64{5}, U32{1}, U32{3}, U64{1}), "");
}

}  // namespace
}  // namespace cpt
