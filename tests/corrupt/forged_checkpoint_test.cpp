// Checkpoints whose checksums hold and whose content makes no sense: refused as damaged, without taking the memory that
// they ask for.
#include <gmock/gmock.h>

#include <cereal/types/utility.hpp>
#include <limits>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/checkpoint/run_state_archive.h"
#include "api/options/option_values.h"
#include "corrupt/kept_run.h"
#include "corrupt/largest_allocation.h"
#include "store/blob/blob_set.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kKind = "cpt checkpoint";
// Far above all that a checkpoint of this size needs: a segment, a few thousand labels.
constexpr std::size_t kMuch = std::size_t{32} << 20;

// The stored form of a StoredPartition (api/checkpoint/checkpoint_reader.h).
struct Place {
  std::uint16_t partition = 0;
  std::string blob;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partition, blob, offset, bytes);
  }
};

// A value after the last that has a name.
template <class Choice>
Choice unnamed(const Names<Choice>& names) {
  Choice last{};
  for (const auto& [name, value] : names) last = std::max(last, value);
  return static_cast<Choice>(static_cast<int>(last) + 1);
}

ByteVector bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// What an archive begins with, and then these numbers.
ByteVector archive_of(const std::vector<std::uint64_t>& numbers) {
  const auto all = std::as_bytes(std::span(numbers));
  ByteVector bytes(1 + all.size(), std::byte{1});
  std::copy(all.begin(), all.end(), bytes.begin() + 1);
  return bytes;
}

class ForgedCheckpoint : public ::testing::Test {
 protected:
  ByteVector blob(const std::string& name) const {
    return BlobSetReader(run.newest(), kKind).read_all(name, std::uint64_t{1} << 30);
  }

  // Writes the newest checkpoint again, checksums and all, with another content of one blob.
  void forge(const std::string& name, const ByteVector& content) const {
    run.restore();
    std::vector<std::pair<std::string, ByteVector>> blobs;
    for (const std::string& each : BlobSetReader(run.newest(), kKind).names()) {
      blobs.emplace_back(each, each == name ? content : blob(each));
    }
    BlobSetWriter writer(run.newest(), kKind);
    for (const auto& [each, bytes] : blobs) writer.add(each).append(bytes);
    writer.commit();
  }

  void forge_state(const std::function<void(RunState&)>& change) const {
    run.restore();
    RunState state = read_run_state(run.newest());
    change(state);
    forge("state", bytes_of(archived(stored_state(state))));
  }

  void forge_places(const std::function<void(std::vector<Place>&)>& change) const {
    run.restore();
    auto places = read_archive<std::vector<Place>>(BlobSetReader(run.newest(), kKind), "partitions", 1 << 20);
    change(places);
    forge("partitions", bytes_of(archived(places)));
  }

  void expect_refused(const std::string& reason) const {
    const std::size_t largest = largest_allocation([&] {
      const Beginning beginning = run.begin();
      ASSERT_TRUE(beginning.resumption) << beginning.error;
      EXPECT_EQ(beginning.resumption->checkpoint, run.older());
      ASSERT_EQ(beginning.resumption->refused.size(), 1U);
      EXPECT_THAT(beginning.resumption->refused[0], HasSubstr(run.newest().string()));
      EXPECT_THAT(beginning.resumption->refused[0], HasSubstr(reason));
    });
    EXPECT_LT(largest, kMuch);
  }

  void expect(const std::string& reason, const std::function<void(RunState&)>& change) const {
    SCOPED_TRACE(reason);
    forge_state(change);
    expect_refused(reason);
    expect_not_verified();
  }
  void expect(const std::string& reason, const std::function<void(std::vector<Place>&)>& change) const {
    SCOPED_TRACE(reason);
    forge_places(change);
    expect_refused(reason);
    expect_not_verified();
  }

  // By `cpt checkpoint verify` too, which loads no model.
  void expect_not_verified() const {
    EXPECT_EQ(thrown_by([&] { verify_checkpoint(run.newest()); }).fault, Fault::kBadData);
  }

  const KeptRun run{Placement::kPartitioned, 1};
};

TEST_F(ForgedCheckpoint, IsReadWhereNothingIsChanged) {
  forge_state([](RunState&) {});
  EXPECT_EQ(run.begin().resumption->checkpoint, run.newest());
  forge_places([](std::vector<Place>&) {});
  EXPECT_EQ(run.begin().resumption->checkpoint, run.newest());
  EXPECT_EQ(run.finish(), run.straight());
}

TEST_F(ForgedCheckpoint, WithAbsurdLengthsIsRefused) {
  for (const std::uint64_t length : {std::uint64_t{1} << 20, std::uint64_t{1} << 40, std::uint64_t{1} << 60,
                                     std::numeric_limits<std::uint64_t>::max()}) {
    SCOPED_TRACE(length);
    // A number of labels, the length of a label, a number of splits.
    for (const std::vector<std::uint64_t>& numbers :
         std::vector<std::vector<std::uint64_t>>{{length}, {1, length}, {0, length}}) {
      forge("tree", archive_of(numbers));
      expect_refused("its tree cannot be read");
    }
    forge("partitions", archive_of({length}));
    expect_refused("its partitions cannot be read");
    expect_not_verified();
    ByteVector options = blob("options");
    const auto count = std::as_bytes(std::span(&length, 1));
    std::copy(count.begin(), count.end(), options.end() - 8);  // of interactions, of which there are none
    forge("options", options);
    expect_refused("its options cannot be read");
    ByteVector state = blob("state");
    // Bytes of the order, the format, the options of the model, then the length of the name of the initial one.
    const std::size_t init = 1 + 4 + options.size() - 1;
    std::copy(count.begin(), count.end(), state.begin() + static_cast<std::ptrdiff_t>(init));
    forge("state", state);
    expect_refused("its state cannot be read");
    expect_not_verified();
  }
}

TEST_F(ForgedCheckpoint, CutAnywhereInABlobIsRefused) {
  for (const std::string name : {"options", "tree", "state", "partitions", "weights-00000"}) {
    run.restore();
    const ByteVector good = blob(name);
    const std::size_t step = good.size() / 20 + 1;
    for (std::size_t length = 0; length < good.size(); length += step) {
      SCOPED_TRACE(name + " of " + std::to_string(length) + " bytes");
      forge(name, ByteVector(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
      expect_refused("");
    }
    ByteVector longer = good;
    longer.push_back(std::byte{0});
    forge(name, longer);
    expect_refused("");
  }
}

TEST_F(ForgedCheckpoint, WithPartitionsThatDoNotFitIsRefused) {
  const std::string gaps = "its partitions overlap or leave gaps";
  const std::string missing = "its list of partitions is not complete";
  expect(missing, [](std::vector<Place>& places) { places.pop_back(); });
  expect(missing, [](std::vector<Place>& places) { places.clear(); });
  expect(missing, [](std::vector<Place>& places) { places.push_back(places.back()); });
  expect(missing, [](std::vector<Place>& places) { std::swap(places[3], places[4]); });
  expect(missing, [](std::vector<Place>& places) { places[7].partition = 60000; });
  expect(gaps, [](std::vector<Place>& places) { places[5] = {5, places[4].blob, places[4].offset, places[4].bytes}; });
  expect(gaps, [](std::vector<Place>& places) { places[5].offset = ~std::uint64_t{0}; });
  expect(gaps, [](std::vector<Place>& places) { places[5].bytes = ~std::uint64_t{0}; });
  expect(gaps, [](std::vector<Place>& places) { places.back().bytes -= 1; });
  expect(gaps, [](std::vector<Place>& places) { places[5].blob = "tree"; });
  expect(gaps, [](std::vector<Place>& places) { places[5].blob = "weights-00009"; });
  expect("has no 'weights-00009'", [](std::vector<Place>& places) { places[5] = {5, "weights-00009", 0, 0}; });
  expect("has no '../tree'", [](std::vector<Place>& places) { places[5] = {5, "../tree", 0, 0}; });
}

// The places fit, but not what lies there.
TEST_F(ForgedCheckpoint, WithPartitionsOfOtherLengthsIsRefused) {
  const auto expect_moved_border = [&](std::uint64_t bytes, const std::string& reason) {
    forge_places([bytes](std::vector<Place>& places) {
      places[0].bytes += bytes;
      places[1].offset += bytes;
      places[1].bytes -= bytes;
    });
    expect_refused(reason);
  };
  expect_moved_border(-std::uint64_t{4}, "partition 0 ends too early");
  expect_moved_border(4, "partition 0 is shorter than its entry in the list of partitions");
}

TEST_F(ForgedCheckpoint, WithShardsThatMakeNoSenseIsRefused) {
  const std::string counts = "its shards and its losses do not agree";
  const std::string shards = "its list of shards is not complete";
  expect(counts, [](RunState& state) { ++state.plan.data[0].cursor.examples; });
  expect(counts, [](RunState& state) { --state.plan.shard_pass->examples_before; });
  expect(counts, [](RunState& state) { state.progress.losses.clear(); });
  expect(counts, [](RunState& state) { state.plan.shard_pass->shards.pop_back(); });
  expect(shards, [](RunState& state) { state.plan.shard_pass->shards.back() = 3; });
  expect(shards, [](RunState& state) { state.plan.shard_pass->shards.back() = ~std::uint32_t{0}; });
  expect(shards, [](RunState& state) { state.plan.shard_pass->shards = {2, 1, 0}; });
  expect(shards, [](RunState& state) { state.plan.shard_pass->shards = {0, 1, 1}; });
  expect(shards, [](RunState& state) { state.plan.shard_pass->shards.clear(); });
  expect(shards, [](RunState& state) { state.plan.shard_pass->phase = Phase::kTest; });
  expect(shards, [](RunState& state) { state.plan.data.clear(); });
  expect(shards, [](RunState& state) { state.plan.data[1].shard.regular = false; });
  const std::string parts = "its shards are not parts of files";
  expect(parts, [](RunState& state) { state.plan.data[1].shard.part = {0, 0}; });
  expect(parts, [](RunState& state) { state.plan.data[1].shard.part = {1, 1}; });
  expect(parts, [](RunState& state) { state.plan.data[1].shard.part = {7, 7}; });
  expect(parts, [](RunState& state) { state.plan.data[1].shard.part = {0, ~std::uint32_t{0}}; });
}

TEST_F(ForgedCheckpoint, WithProgressThatMakesNoSenseIsRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string unreadable = "its state cannot be read";
  const std::string progress = "its progress is invalid";
  expect(unreadable, [&](RunState& state) { state.progress.seconds = kNan; });
  expect(unreadable, [&](RunState& state) { state.progress.seconds = kInfinity; });
  expect(progress, [](RunState& state) { state.progress.seconds = -1; });
  expect(progress, [](RunState& state) { state.progress.seconds = 1e300; });
  expect(progress, [](RunState& state) { state.progress.next_report = 0; });
  expect(progress, [](RunState& state) { state.progress.next_report = 1; });
  expect(progress, [](RunState& state) { state.progress.next_report = 1'000'000; });
  expect(progress, [](RunState& state) { state.progress.examples = ~std::uint64_t{0}; });
  expect("it has no ranks", [](RunState& state) { state.ranks = 0; });
  expect("it has no ranks", [](RunState& state) { state.ranks = -3; });
}

TEST_F(ForgedCheckpoint, WithChoicesThatThereAreNotIsRefused) {
  const std::string unreadable = "its state cannot be read";
  expect(unreadable, [](RunState& state) { state.options.model.tree = static_cast<TreeKind>(4); });
  expect(unreadable, [](RunState& state) { state.options.model.loss = unnamed(loss_names()); });
  expect(unreadable, [](RunState& state) { state.options.model.update = unnamed(update_names()); });
  expect(unreadable, [](RunState& state) { state.options.model.normalize = static_cast<Normalize>(255); });
  expect(unreadable, [](RunState& state) { state.options.format = unnamed(format_names()); });
  expect(unreadable, [](RunState& state) { state.options.multilabel = unnamed(multilabel_names()); });
  expect(unreadable, [](RunState& state) { state.options.placement = unnamed(placement_names()); });
  expect(unreadable, [](RunState& state) { state.options.merge = unnamed(merge_names()); });
  expect(unreadable, [](RunState& state) { state.plan.shard_pass->phase = static_cast<Phase>(2); });
  expect(unreadable, [](RunState& state) { state.progress.phase = static_cast<Phase>(7); });
  run.restore();
  ByteVector options = blob("options");
  options[1] = std::byte{4};
  forge("options", options);
  expect_refused("its options cannot be read");
}

TEST_F(ForgedCheckpoint, WithCountsOfFeaturesThatAreTooLargeIsRefused) {
  run.restore();
  ByteVector features = blob("features");
  constexpr std::size_t kUnits = 3 * 8 + 4 + 1;  // of the first entry, after three numbers, its index and its rarity
  ASSERT_GT(features.size(), kUnits + 8);
  std::fill_n(features.begin() + kUnits, 8, std::byte{0xff});
  forge("features", features);
  expect_refused("makes no sense at entry 0");
}

TEST_F(ForgedCheckpoint, WithOptionsThatMakeNoSenseIsRefused) {
  const std::string options = "the options of its state are invalid";
  expect(options, [](RunState& state) { state.options.passes = 0; });
  expect(options, [](RunState& state) { state.options.split = 0; });
  expect(options, [](RunState& state) { state.options.split = 4097; });
  expect(options, [](RunState& state) { state.options.model.tree = TreeKind::kGiven; });
  expect(options, [](RunState& state) { state.options.sync_fraction = -1; });
  expect(options, [](RunState& state) { state.options.data.clear(); });
  expect(options, [](RunState& state) { state.options.model.bits = 63; });
  expect(options, [](RunState& state) { state.options.model.alpha = -1; });
  expect("different options", [](RunState& state) { state.options.model.bits = 12; });
  expect("different options", [](RunState& state) { state.options.model.seed = 5; });
}

TEST_F(ForgedCheckpoint, OfAnotherStateFormatIsRefusedByName) {
  run.restore();
  const RunState state = read_run_state(run.newest());
  const auto expect_format = [&](std::uint32_t format, const std::string& reason) {
    forge("state", bytes_of(archived(std::make_pair(format, state))));
    expect_refused(reason);
  };
  expect_format(kStateFormat + 1, "its state has format " + std::to_string(kStateFormat + 1) +
                                      ", this program reads up to " + std::to_string(kStateFormat));
  expect_format(0, "format 0, which does not exist");
  expect_format(kOldestStateFormat - 1, "its state has format 1, which is too old: this program reads formats 2 to " +
                                            std::to_string(kStateFormat));
}

TEST_F(ForgedCheckpoint, WithTheOtherByteOrderIsRefused) {
  for (const std::string name : {"options", "tree", "state", "partitions"}) {
    run.restore();
    ByteVector content = blob(name);
    content[0] = std::byte{0};
    forge(name, content);
    expect_refused("its " + name + " cannot be read");
  }
}

}  // namespace
}  // namespace cpt
