// Damage on disk is detected and named; no wrong byte ever comes back (C3).
#include <gmock/gmock.h>

#include "store/blob/blob_set.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A small set with a blob of each sort: stored as it is, compressed, empty.
struct DamageTest : ::testing::Test {
  DamageTest() {
    write_set(directory, blobs);
    for (const std::string& name : names_in(directory)) files.push_back(directory / name);
  }

  // Reading everything must fail as bad data, with the name of the file.
  void expect_named(const std::filesystem::path& file) {
    EXPECT_THAT(error_of([&] { read_set(directory); }),
                AllOf(StartsWith("65: " + file.string() + ": "), HasSubstr("damaged")));
  }

  TemporaryDirectory root;
  std::filesystem::path directory = root / "set";
  Blobs blobs{{"noise", noise(60)}, {"compressed", half_zero(400)}, {"empty", {}}, {"zero", ByteVector(300)}};
  std::vector<std::filesystem::path> files;
};

TEST_F(DamageTest, TheSetCoversBothWaysOfStoring) {
  EXPECT_EQ(read_set(directory), blobs);
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(std::filesystem::file_size(directory / "noise"), 60U);
  EXPECT_LT(std::filesystem::file_size(directory / "compressed"), 400U);
}

TEST_F(DamageTest, AFlippedBitAnywhereEveryCutAndAddedBytesAreDetected) {
  for (const auto& file : files) {
    const ByteVector intact = read_file(file);
    const auto expect_detected = [&](const ByteVector& damaged, const std::string& damage) {
      SCOPED_TRACE(file.filename().string() + " " + damage);
      write_plain(file, damaged);
      expect_named(file);
    };
    for (std::size_t i = 0; i < intact.size(); ++i) {
      ByteVector damaged = intact;
      damaged[i] ^= std::byte{1} << i % 8;
      expect_detected(damaged, "flipped at byte " + std::to_string(i));
      expect_detected({intact.begin(), intact.begin() + static_cast<std::ptrdiff_t>(i)}, "cut to " + std::to_string(i));
    }
    ByteVector longer = intact;
    longer.push_back(std::byte{0});
    expect_detected(longer, "with a byte more");
    write_plain(file, intact);
  }
  EXPECT_EQ(read_set(directory), blobs);
}

TEST_F(DamageTest, AMissingBlobFileIsDetected) {
  std::filesystem::remove(directory / "empty");
  expect_named(directory / "empty");
}

TEST_F(DamageTest, AnIntactFileOfAnotherSetIsDetected) {
  const auto other = root / "other";
  write_set(other, {{"noise", noise(60, 2)}});
  write_plain(directory / "noise", read_file(other / "noise"));
  expect_named(directory / "noise");
}

TEST_F(DamageTest, AFileCutWhileItIsReadIsDetected) {
  BlobReader reader = BlobSetReader(directory, kKind).open("noise");
  std::filesystem::resize_file(directory / "noise", 59);
  ByteVector out(60);
  EXPECT_THAT(error_of([&] { reader.read_exactly(out); }), StartsWith("65: "));
}

TEST_F(DamageTest, OnlyTheSegmentsBeforeTheDamageCanBeReadAndNothingAfterIt) {
  const ByteVector bytes = noise(3 * std::size_t{kMaxSegmentBytes});
  write_set(directory, {{"blob", bytes}});
  ByteVector damaged = bytes;
  damaged[kMaxSegmentBytes + 5] ^= std::byte{1};
  write_plain(directory / "blob", damaged);

  BlobReader reader = BlobSetReader(directory, kKind).open("blob");
  ByteVector out(kMaxSegmentBytes);
  reader.read_exactly(out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin()));
  ByteVector small(10);
  EXPECT_THAT(error_of([&] { reader.read(small); }), HasSubstr("from byte 4194304 on do not match their checksum"));
  EXPECT_THAT(error_of([&] { reader.read(small); }), HasSubstr("from byte 4194304 on do not match their checksum"));
}

}  // namespace
}  // namespace cpt
