// C3 for a whole run: whatever happens to a file of its newest checkpoint, the run goes on from the one before, says
// why, and ends as if nothing had happened.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <set>

#include "corrupt/kept_run.h"
#include "store/blob/manifest.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

class DamagedCheckpoint : public ::testing::TestWithParam<std::tuple<Placement, int>> {
 protected:
  bool is_manifest(const fs::path& file) const { return file.filename() == kManifestName; }

  // All of a short file; of a longer one both ends and about so many places between them.
  static std::set<std::size_t> places_in(std::size_t size, std::size_t between) {
    constexpr std::size_t kEnd = 32;
    const std::size_t step = std::max<std::size_t>(7, size / between);
    std::set<std::size_t> places;
    for (std::size_t i = 0; i < size; ++i) {
      if (i < kEnd || i + kEnd >= size || i % step == 0) places.insert(i);
    }
    return places;
  }

  // Where the segments of a blob begin and end, and beside.
  std::set<std::size_t> borders_in(const fs::path& file) const {
    const fs::path path = run.newest() / kManifestName;
    const Manifest manifest = decode_manifest(run.intact(path), path);
    std::set<std::size_t> borders;
    const Blob* blob = manifest.find(file.filename().string());
    if (blob == nullptr) return borders;
    std::size_t at = 0;
    for (const Segment& segment : blob->segments) {
      at += segment.stored_bytes;
      borders.insert({at - 1, at, at + 1});
    }
    return borders;
  }

  // Ranks read in turns on one machine: the more there are, the fewer places are tried.
  std::size_t tries(std::size_t on_one_rank) const { return on_one_rank / static_cast<std::size_t>(ranks); }

  const int ranks = std::get<1>(GetParam());
  const KeptRun run{std::get<0>(GetParam()), ranks};
};

TEST_P(DamagedCheckpoint, GoesOnFromTheNewestWhereNothingIsDamaged) {
  const Beginning beginning = run.begin();
  ASSERT_TRUE(beginning.resumption) << beginning.error;
  EXPECT_EQ(beginning.resumption->checkpoint, run.newest());
  EXPECT_TRUE(beginning.resumption->refused.empty());
  EXPECT_GT(beginning.resumption->examples, 0U);
  const Outcome straight = run.straight();
  EXPECT_LT(beginning.resumption->examples, straight.examples);
  EXPECT_EQ(run.finish(), straight);
}

// At either end of a file the run goes on to its end, too.
TEST_P(DamagedCheckpoint, WithAFlippedBitInAnyByteIsPassedOver) {
  for (const fs::path& file : run.files()) {
    const ByteVector& intact = run.intact(file);
    const auto all = is_manifest(file) ? intact.size() : tries(150);
    for (const std::size_t i : places_in(intact.size(), all)) {
      SCOPED_TRACE(file.filename().string() + " byte " + std::to_string(i));
      ByteVector damaged = intact;
      damaged[i] ^= std::byte{1} << i % 8;
      write_file(file, damaged);
      ASSERT_NO_FATAL_FAILURE(run.expect_fallback(file));
      if (i == 0 || i + 1 == intact.size()) run.expect_fallback_to_the_end(file);
    }
    write_file(file, intact);
  }
}

TEST_P(DamagedCheckpoint, CutAnywhereIsPassedOver) {
  for (const fs::path& file : run.files()) {
    const ByteVector& intact = run.intact(file);
    std::set<std::size_t> lengths = places_in(intact.size(), tries(60));
    lengths.merge(borders_in(file));
    for (const std::size_t length : lengths) {
      if (length == intact.size()) continue;
      SCOPED_TRACE(file.filename().string() + " of " + std::to_string(length) + " bytes");
      ByteVector damaged = intact;
      damaged.resize(length);  // one byte longer, too
      write_file(file, damaged);
      ASSERT_NO_FATAL_FAILURE(run.expect_fallback(file));
    }
    write_file(file, intact);
  }
}

// C1: without a manifest it is no checkpoint. But it was one.
TEST_P(DamagedCheckpoint, WithoutAManifestIsPassedOver) {
  for (const bool directory : {false, true}) {
    run.restore();
    fs::remove(run.newest() / kManifestName);
    if (directory) fs::create_directory(run.newest() / kManifestName);
    const Beginning beginning = run.begin();
    ASSERT_TRUE(beginning.resumption) << beginning.error;
    EXPECT_EQ(beginning.resumption->checkpoint, run.older());
    EXPECT_EQ(beginning.resumption->refused.size(), 1U);
    EXPECT_EQ(run.finish(), run.straight());
  }
}

// Not a new run, which would remove what is left of them.
TEST_P(DamagedCheckpoint, WithoutAnyManifestIsRefused) {
  for (const fs::path& checkpoint : {run.newest(), run.older()}) fs::remove(checkpoint / kManifestName);
  run.expect_refusal();
}

TEST_P(DamagedCheckpoint, WithoutAFileOrWithADirectoryInItsPlaceIsPassedOver) {
  for (const fs::path& file : run.files()) {
    if (is_manifest(file)) continue;
    SCOPED_TRACE(file.filename());
    run.restore();
    fs::remove(file);
    run.expect_fallback_to_the_end(file);
    fs::create_directory(file);
    run.expect_fallback(file);
  }
}

TEST_P(DamagedCheckpoint, WithAFileOfTheOneBeforeIsPassedOver) {
  std::size_t different = 0;
  for (const fs::path& file : run.files()) {
    SCOPED_TRACE(file.filename());
    run.restore();
    const ByteVector& other = run.intact(run.older() / file.filename());
    if (other == run.intact(file)) continue;  // of the options
    ++different;
    write_file(file, other);
    // With another manifest, the other files look wrong.
    run.expect_fallback_to_the_end(is_manifest(file) ? run.newest() : file);
  }
  EXPECT_GE(different, 4U);  // manifest, state, tree, weights
}

TEST_P(DamagedCheckpoint, LikeTheOneBeforeEndsTheRunBeforeItBegins) {
  for (const fs::path& file : run.files()) {
    SCOPED_TRACE(file.filename());
    run.restore();
    for (const fs::path& damaged : {file, run.older() / file.filename()}) {
      ByteVector content = run.intact(damaged);
      content.back() ^= std::byte{1};
      write_file(damaged, content);
    }
    run.expect_refusal();
  }
}

// Each has then files of the other one.
TEST_P(DamagedCheckpoint, ThatSwappedAFileWithTheOneBeforeEndsTheRun) {
  for (const fs::path& file : run.files()) {
    const fs::path other = run.older() / file.filename();
    if (run.intact(file) == run.intact(other)) continue;
    SCOPED_TRACE(file.filename());
    run.restore();
    write_file(file, run.intact(other));
    write_file(other, run.intact(file));
    run.expect_refusal();
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Placement, int>>& test) {
  const std::string placement = std::get<0>(test.param) == Placement::kPartitioned ? "Partitioned" : "Replicated";
  return placement + "On" + std::to_string(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(, DamagedCheckpoint,
                         ::testing::Combine(::testing::Values(Placement::kPartitioned, Placement::kReplicated),
                                            ::testing::Values(1, 3)),
                         name_of);

}  // namespace
}  // namespace cpt
