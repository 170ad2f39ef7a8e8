// The values of a manifest must lie within bounds, even if its checksum is right; newer formats are refused (C9).
#include "store/blob/manifest.h"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <cstring>

#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Where things lie in the file of small_manifest(); see format.md.
constexpr std::size_t kChecksumAt = 8;
constexpr std::size_t kVersionAt = 16;
constexpr std::size_t kPayloadAt = 24;
constexpr std::size_t kKindLengthAt = kPayloadAt + 1;
constexpr std::size_t kBlobCountAt = kKindLengthAt + 8 + 4;
constexpr std::size_t kNameLengthAt = kBlobCountAt + 8;
constexpr std::size_t kNameAt = kNameLengthAt + 8;
constexpr std::size_t kSegmentCountAt = kNameAt + 4;
constexpr std::size_t kRawBytesAt = kSegmentCountAt + 8;
constexpr std::size_t kStoredBytesAt = kRawBytesAt + 4;

Manifest small_manifest() { return {"kind", {{"blob", {{100, 90, 7}, {50, 50, 8}}}, {"more", {}}}}; }

// The file of small_manifest() with `value` put at `offset`, and a checksum that is right again.
template <typename T>
ByteVector forged(std::size_t offset, T value) {
  ByteVector file = encode_manifest(small_manifest());
  std::memcpy(file.data() + offset, &value, sizeof value);
  const std::uint64_t checksum = XXH3_64bits(file.data() + kVersionAt, file.size() - kVersionAt);
  std::memcpy(file.data() + kChecksumAt, &checksum, sizeof checksum);
  return file;
}

ByteVector bytes_of_hex(std::string digits) {
  std::erase(digits, ' ');
  ByteVector bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string error_of_decoding(const ByteVector& file) {
  return error_of([&] { decode_manifest(file, "set/MANIFEST"); });
}

TEST(ManifestTest, ComesBackAsItWasWritten) {
  const Manifest read = decode_manifest(encode_manifest(small_manifest()), "set/MANIFEST");
  EXPECT_EQ(read.kind, "kind");
  ASSERT_EQ(read.blobs.size(), 2U);
  EXPECT_EQ(read.blobs[0].name, "blob");
  EXPECT_EQ(read.blobs[0].segments, small_manifest().blobs[0].segments);
  EXPECT_EQ(read.blobs[0].raw_bytes(), 150U);
  EXPECT_EQ(read.blobs[0].stored_bytes(), 140U);
  EXPECT_EQ(read.find("more"), &read.blobs[1]);
  EXPECT_EQ(read.find("other"), nullptr);
}

// The example of format.md. Version 1 is read for ever (C9): never adapt these bytes to the code.
TEST(ManifestTest, TheExampleOfTheFormatIsRead) {
  const TemporaryDirectory root;
  const ByteVector manifest = bytes_of_hex(
      "43505442 4c4f4253 e8c47b8f f64fc729 01000000 62000000 01 0400000000000000 64656d6f 0200000000000000"
      "0800000000000000 6772656574696e67 0100000000000000 05000000 05000000 72fcea12a9065676"
      "0500000000000000 7a65726f73 0100000000000000 e8030000 13000000 1f02c8d3d1c7413a");
  write_plain(root / "MANIFEST", manifest);
  write_plain(root / "greeting", bytes_of("hello"));
  write_plain(root / "zeros", bytes_of_hex("28b52ffd 60e8024d 00001000 000100e3 2b8005"));

  EXPECT_EQ(read_set(root.path(), "demo"), (Blobs{{"greeting", bytes_of("hello")}, {"zeros", ByteVector(1000)}}));
  EXPECT_EQ(encode_manifest(decode_manifest(manifest, "MANIFEST")), manifest);
}

TEST(ManifestTest, ANewerFormatIsRefusedByName) {
  EXPECT_EQ(error_of_decoding(forged(kVersionAt, std::uint32_t{7})),
            "65: set/MANIFEST: was written by format version 7; this program reads up to 1");
  EXPECT_THAT(error_of_decoding(forged(kVersionAt, std::uint32_t{0})), HasSubstr("version 0"));
}

TEST(ManifestTest, ADamagedVersionIsNotTakenForANewerOne) {
  ByteVector file = encode_manifest(small_manifest());
  file[kVersionAt] = std::byte{7};
  EXPECT_THAT(error_of_decoding(file), HasSubstr("checksum"));
}

TEST(ManifestTest, AbsurdCountsAreRefusedBeforeMemoryIsTaken) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  for (const std::size_t offset : {kKindLengthAt, kBlobCountAt, kNameLengthAt, kSegmentCountAt}) {
    EXPECT_EQ(error_of_decoding(forged(offset, kHuge)), "65: set/MANIFEST: damaged: it ends too early");
  }
}

TEST(ManifestTest, CountsThatDoNotFitTheRestAreRefused) {
  EXPECT_THAT(error_of_decoding(forged(kBlobCountAt, std::uint64_t{1})), HasSubstr("bytes follow its last blob"));
  EXPECT_THAT(error_of_decoding(forged(kBlobCountAt, std::uint64_t{3})),
              AllOf(StartsWith("65: "), HasSubstr("damaged")));
}

TEST(ManifestTest, NamesThatLeaveTheDirectoryOrRepeatAreRefused) {
  for (const char* name : {"../a", "more", "a\tbc", ".abc"}) {
    std::array<char, 4> bytes{};
    std::memcpy(bytes.data(), name, bytes.size());
    EXPECT_EQ(error_of_decoding(forged(kNameAt, bytes)), "65: set/MANIFEST: damaged: it has an invalid blob name")
        << name;
  }
}

TEST(ManifestTest, SegmentLengthsOutOfRangeAreRefused) {
  const std::string refused = "65: set/MANIFEST: damaged: it has an invalid segment length";
  EXPECT_EQ(error_of_decoding(forged(kRawBytesAt, kMaxSegmentBytes + 1)), refused);
  EXPECT_EQ(error_of_decoding(forged(kRawBytesAt, std::uint32_t{89})), refused);
  EXPECT_EQ(error_of_decoding(forged(kStoredBytesAt, std::uint32_t{0})), refused);
  EXPECT_EQ(error_of_decoding(forged(kRawBytesAt, kMaxSegmentBytes)), "no error");
}

}  // namespace
}  // namespace cpt
