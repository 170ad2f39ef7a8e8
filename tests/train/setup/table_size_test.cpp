// The size of the table follows from the data, and from free memory only where there is too little of it.
#include "train/setup/table_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/alone.h"
#include "comm/threads/threads.h"
#include "cpt/error.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

TEST(BitsForText, AreEightTimesAsManyRowsForSixteenTimesTheText) {
  EXPECT_EQ(bits_for_text(30'000'000), 22);
  EXPECT_EQ(bits_for_text(29'999'999), 21);
  EXPECT_EQ(bits_for_text(30'000'000ULL << 4), 25);
  EXPECT_EQ(bits_for_text(30'000'000ULL << 8), 28);
  EXPECT_EQ(bits_for_text((30'000'000ULL << 8) - 1), 27);
  EXPECT_EQ(bits_for_text(30'000'000ULL >> 4), 19);
}

TEST(BitsForText, NeverFallAndHaveEnds) {
  EXPECT_EQ(bits_for_text(0), kLeastAutoBits);
  int last = 0;
  for (std::uint64_t bytes = 1; bytes != 0; bytes *= 2) {
    const int bits = bits_for_text(bytes);
    EXPECT_GE(bits, last);
    EXPECT_LE(bits, last == 0 ? kLeastAutoBits : last + 1);
    last = bits;
  }
  EXPECT_EQ(last, kMostBits);
}

TableSize fit(int wanted, TableUse use, Communicator& comm, std::optional<std::uint64_t> free) {
  return fitting_table(ModelOptions(), wanted, use, comm, free);
}

TEST(FittingTable, IsTheWantedOneWhereHalfOfTheMemoryHasRoom) {
  Alone comm;
  for (const std::optional<std::uint64_t> free : {std::optional(8 * kGib), std::optional<std::uint64_t>()}) {
    const TableSize size = fit(26, TableUse::kReplicated, comm, free);
    EXPECT_EQ(size.bits, 26);
    EXPECT_EQ(size.warning, "");
  }
}

TEST(FittingTable, IsSmallerWhereItMustAndSaysWhy) {
  Alone comm;
  const TableSize size = fit(26, TableUse::kReplicated, comm, 8 * kGib - 1);
  EXPECT_EQ(size.bits, 25);
  EXPECT_EQ(size.warning,
            "the data wants a weight table of 2^26 rows, which takes 4.0 GiB of this machine's memory; as 8.0 GiB are "
            "free, of which half is for the table, it gets 2^25 rows (--bits says otherwise)");
  EXPECT_EQ(fit(26, TableUse::kReplicated, comm, 0).bits, kLeastBits);
}

TEST(FittingTable, IsOneForEachTree) {
  Alone comm;
  ModelOptions two;
  two.trees = 2;
  const TableSize size = fitting_table(two, 26, TableUse::kReplicated, comm, 8 * kGib);
  EXPECT_EQ(size.bits, 25);
  EXPECT_THAT(size.warning, AllOf(HasSubstr("of 2 x 2^26 rows, which takes 8.0 GiB"), HasSubstr("gets 2 x 2^25 rows")));
}

// Threads of one process are ranks on one host.
TEST(FittingTable, IsThatOfTheTightestRankOnAll) {
  run_threads(4, [](Communicator& comm) {
    const std::uint64_t free = (comm.rank() == 2 ? 2 : 99) * kGib;
    EXPECT_EQ(fit(24, TableUse::kPartitioned, comm, free).warning, "");
    const TableSize size = fit(26, TableUse::kPartitioned, comm, free);
    EXPECT_EQ(size.bits, 24);
    EXPECT_THAT(size.warning, AllOf(MatchesRegex("rank 2 on [^ ]+: the data wants .*"),
                                    HasSubstr("4.0 GiB of this machine's memory, where 4 of 4 ranks run"),
                                    HasSubstr("2.0 GiB are free"), HasSubstr("gets 2^24 rows")));
    EXPECT_EQ(fit(26, TableUse::kReplicated, comm, free).bits, 21)
        << "replicas hold a table each, and what it was at the last merge";
  });
}

// Jobs of all kinds whose table is sized by their data.
class AutoBits : public ::testing::Test {
 protected:
  AutoBits() {
    options_.auto_bits = true;
    options_.data = {shards_.write("a.vw", text_), shards_.write("b.vw", text_)};
  }

  // Of the model, after a run on one rank and one on three, which agree.
  int bits() const {
    const int alone = results_on(1, options_).at(0).model.learner().options().bits;
    for (const TrainingResult& result : results_on(3, options_))
      EXPECT_EQ(result.model.learner().options().bits, alone);
    return alone;
  }

  const std::string text_ = random_lines({});
  Folder shards_;
  TrainingOptions options_ = small_job();
};

// So many blank rows and one example make text of any size.
std::string padded(const std::string& text, std::size_t bytes) { return text + std::string(bytes, '\n'); }

TEST_F(AutoBits, AreTheLeastForALittleData) { EXPECT_EQ(bits(), kLeastAutoBits); }

TEST_F(AutoBits, CountDataAndWhatIsLearnedOfTheTest) {
  options_.data = {shards_.write("large.vw", padded(text_, 1'000'000))};
  EXPECT_EQ(bits(), bits_for_text(1'000'000));
  options_.test = {shards_.write("test.vw", padded(text_, 1'500'000))};
  EXPECT_EQ(bits(), bits_for_text(2'500'000));
  EXPECT_NE(bits_for_text(2'500'000), bits_for_text(1'000'000));
  options_.test_frozen = true;
  EXPECT_EQ(bits(), bits_for_text(1'000'000));
}

TEST_F(AutoBits, CountTheFeaturesOfCrossesAndNGrams) {
  // An example has 8 features and the constant one, crosses make 16 more, 2-grams 3.
  constexpr std::uint64_t kText = 1'750'000;
  options_.data = {shards_.write("large.vw", padded("x |a 1 2 3 4 |b 5 6 7 8\ny |a 1 2 3 5 |b 5 6 7 9\n", kText))};
  EXPECT_EQ(bits(), bits_for_text(kText));
  options_.model.ngrams = {"a:2"};
  EXPECT_EQ(bits(), bits_for_text(kText * 12 / 9));
  options_.model.ngrams.clear();
  options_.model.interactions = {"ab"};
  EXPECT_EQ(bits(), bits_for_text(kText * 25 / 9));
  EXPECT_LT(bits_for_text(kText), bits_for_text(kText * 12 / 9));
  EXPECT_LT(bits_for_text(kText * 12 / 9), bits_for_text(kText * 25 / 9));
}

TEST_F(AutoBits, AreLeftToAModelAndToACheckpoint) {
  const std::string large = shards_.write("large.vw", padded(text_, 3'000'000));
  TrainingOptions first = options_;
  first.checkpoints.directory = shards_ / "checkpoints";
  const Model begun = std::move(results_on(1, first).at(0).model).into_model();
  begun.save(shards_ / "model");

  options_.data = {large};
  EXPECT_GT(bits(), kLeastAutoBits);
  TrainingOptions resumed = first;
  resumed.resume = true;
  resumed.data.push_back(large);
  EXPECT_EQ(results_on(1, resumed).at(0).model.learner().options().bits, kLeastAutoBits);
  options_.init = (shards_ / "model").string();
  EXPECT_EQ(bits(), kLeastAutoBits);
}

TEST_F(AutoBits, WarnOfNothingWhereMemoryAbounds) {
  Recorder recorder;
  options_.data[1] = shards_.write("b.vw", text_ + "\n");
  options_.data.push_back(
      shards_.write("c.vw", text_ + "\n\n"));  // for the third rank, else there would be something to tell
  results_on(3, options_, {.observer = &recorder});
  EXPECT_THAT(recorder.warnings, IsEmpty());
}

TEST(WantedBits, AreAtLeastTheDefaultWhereSizesAreNotKnown) {
  Alone comm;
  EXPECT_EQ(wanted_bits({{"-", 0, false}}, {}, comm), kBitsOfPipes);
  const Folder folder;
  const Shard small{folder.write("a", "l |a f\n"), 7};
  EXPECT_EQ(wanted_bits({small, {"-", 0, false}}, {}, comm), kBitsOfPipes);
  EXPECT_EQ(wanted_bits({small}, {}, comm), kLeastAutoBits);
}

// One of `ranks` ranks, `on_a_host` of which share a host. Sends nothing.
class Cluster : public Alone {
 public:
  Cluster(int ranks, int on_a_host, int rank) : ranks_(ranks), on_a_host_(on_a_host), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return ranks_; }
  std::string host_of(int rank) const override { return "node" + std::to_string(rank / on_a_host_); }

 private:
  int ranks_;
  int on_a_host_;
  int rank_;
};

TEST(TableBytes, AreSharedByOwnersAndRepeatedByReplicas) {
  ModelOptions model;
  model.bits = 24;
  EXPECT_EQ(table_bytes(model, TableUse::kReplicated, Alone()), kGib);
  EXPECT_EQ(table_bytes(model, TableUse::kReplicated, Cluster(8, 4, 2)), 4 * (kGib + kGib / 8))
      << "rows, and an eighth of them as they were at the last merge";
  EXPECT_EQ(table_bytes(model, TableUse::kOnlyRead, Cluster(8, 4, 2)), 4 * kGib);
  EXPECT_EQ(table_bytes(model, TableUse::kPartitioned, Cluster(8, 8, 2)), kGib);
  EXPECT_EQ(table_bytes(model, TableUse::kPartitioned, Cluster(8, 4, 2)) +
                table_bytes(model, TableUse::kPartitioned, Cluster(8, 4, 7)),
            kGib);
  model.method = Method::kTable;
  EXPECT_LT(table_bytes(model, TableUse::kReplicated, Alone()), kGib) << "counts, and no weights";
}

TEST(TableBytes, OfTheRootsOwnerAreNeverLessThanASixteenth) {
  ModelOptions model;
  model.bits = 24;
  EXPECT_GE(table_bytes(model, TableUse::kPartitioned, Cluster(64, 1, 0)), kGib / 16);
  EXPECT_LT(table_bytes(model, TableUse::kPartitioned, Cluster(64, 1, 1)), kGib / 32);
}

ModelOptions with_bits(int bits) {
  ModelOptions model;
  model.bits = bits;
  return model;
}

std::string refusal(const ModelOptions& model, TableUse use, Communicator& comm, std::optional<std::uint64_t> free,
                    std::uint64_t open_shards = 1) {
  try {
    require_memory(model, use, open_shards, comm, free);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    return error.what();
  }
  return "";
}

TEST(RequireMemory, RefusesATableThatDoesNotFitAndSaysWhatWould) {
  Alone comm;
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, 5 * kGib), "");
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, std::nullopt), "");
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, 3 * kGib),
            "the weight table of 2^26 rows takes 4.0 GiB of this machine's memory, counts of features and buffers "
            "52.1 MiB, and 3.0 GiB are free: --bits 25 would fit");
}

// 2^22 rows of 64 bytes take 256 MiB, and the counts of features 13 bytes for each of as many entries, 52 MiB.
TEST(RequireMemory, CountsWhatIsNoTable) {
  Alone comm;
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
  EXPECT_EQ(refusal(with_bits(22), TableUse::kReplicated, comm, 309 * kMib), "");
  EXPECT_THAT(refusal(with_bits(22), TableUse::kReplicated, comm, 307 * kMib), HasSubstr("--bits 21 would fit"))
      << "the table alone would fit";
  EXPECT_THAT(refusal(with_bits(23), TableUse::kReplicated, comm, 307 * kMib), HasSubstr("--bits 21 would fit"));
  EXPECT_THAT(refusal(with_bits(22), TableUse::kReplicated, comm, 309 * kMib, 1000), HasSubstr("--bits 21 would fit"))
      << "the buffers of 1,000 shards";
  ModelOptions uncounted = with_bits(22);
  uncounted.rarity = false;
  EXPECT_EQ(refusal(uncounted, TableUse::kReplicated, comm, 257 * kMib), "");
  EXPECT_THAT(refusal(with_bits(22), TableUse::kReplicated, comm, kMib / 16), HasSubstr(": no --bits would fit: use "));
}

// Threads of one process are ranks on one host.
TEST(RequireMemory, CountsTheRanksOfTheHostAndFailsOnAll) {
  run_threads(4, [](Communicator& comm) {
    EXPECT_EQ(refusal(with_bits(26), TableUse::kPartitioned, comm, 5 * kGib), "");
    EXPECT_THAT(refusal(with_bits(26), TableUse::kPartitioned, comm, 4 * kGib + (kGib >> 3)),
                HasSubstr("buffers 208.2 MiB, and 4.1 GiB are free: --bits 25 would fit"));
    EXPECT_THAT(refusal(with_bits(26), TableUse::kReplicated, comm, (comm.rank() == 2 ? 4 : 99) * kGib),
                MatchesRegex("rank 2 on [^ ]+: the weight table of 2\\^26 rows takes 20.0 GiB of this "
                             "machine's memory, where 4 of 4 ranks run, each with the whole table and a "
                             "share of it as the last merge left it, counts of features and buffers 208.2 MiB, and 4.0 "
                             "GiB are free: --bits 23 would fit"));
  });
}

}  // namespace
}  // namespace cpt
