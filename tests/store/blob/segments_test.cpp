// Any number of threads write the bytes that one thread writes, and an error in one of them is not lost.
#include "store/blob/segments.h"

#include <gmock/gmock.h>

#include <optional>

#include "store/file_size_limit.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Written {
  ByteVector bytes;
  std::vector<Segment> segments;
  bool operator==(const Written&) const = default;
};

// Segments of many lengths; some can be made smaller, some cannot, so that they take different times.
std::vector<ByteVector> some_segments() {
  std::vector<ByteVector> segments;
  for (unsigned i = 0; i < 24; ++i) {
    const std::size_t length = 1 + i % 5 * 70'000;
    segments.push_back(i % 3 == 0 ? noise(length, i) : i % 3 == 1 ? half_zero(length, i) : ByteVector(length));
  }
  return segments;
}

struct SegmentWriterTest : ::testing::Test {
  Written write(const std::vector<ByteVector>& segments, int threads) {
    Written written;
    {
      OutputFile file(root / "file");
      SegmentWriter writer(file, threads);
      for (ByteVector segment : segments) {
        writer.put(segment);
        EXPECT_TRUE(segment.empty());
      }
      written.segments = writer.finish();
    }
    written.bytes = read_file(root / "file");
    return written;
  }

  TemporaryDirectory root;
};

TEST_F(SegmentWriterTest, WritesTheSameBytesWithAnyNumberOfThreads) {
  const std::vector<ByteVector> segments = some_segments();
  const Written expected = write(segments, 0);
  ASSERT_EQ(expected.segments.size(), segments.size());
  for (const int threads : {1, 2, 4, 9}) EXPECT_TRUE(write(segments, threads) == expected) << threads;
  for (const int threads : {0, 3}) {
    EXPECT_TRUE(write({}, threads) == Written{}) << threads;
    EXPECT_EQ(write({segments[4]}, threads).segments.at(0), expected.segments[4]) << threads;
  }
}

TEST_F(SegmentWriterTest, ThrowsWhatWentWrongInAThreadAndGoesOnThrowingIt) {
  for (const int threads : {0, 1, 3}) {
    const FileSizeLimit limit(rlim_t{200'000});
    OutputFile file(root / "file");
    SegmentWriter writer(file, threads);
    const auto write_all = [&] {
      for (ByteVector segment : some_segments()) writer.put(segment);
      writer.finish();
    };
    const auto says_why = AllOf(StartsWith("73: "), HasSubstr("write failed: File too large"));
    EXPECT_THAT(error_of(write_all), says_why) << threads;
    EXPECT_THAT(error_of([&] { writer.finish(); }), says_why) << threads;
    ByteVector more = noise(10);
    EXPECT_THAT(error_of([&] { writer.put(more); }), says_why) << threads;
  }
}

TEST_F(SegmentWriterTest, MayBeGivenUpAtAnyTime) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    OutputFile file(root / "file");
    SegmentWriter writer(file, 3);
    for (std::size_t i = 0; i < count; ++i) {
      ByteVector segment = noise(100'000);
      writer.put(segment);
    }
  }
}

// A blob that is written whole, or in pieces with cuts.
TEST_F(SegmentWriterTest, MakesTheSameBlobsForAnyNumberOfThreads) {
  const ByteVector bytes = half_zero(5 * kMaxSegmentBytes / 2);
  std::optional<Blob> expected;
  std::optional<ByteVector> content;
  for (const int threads : {1, 2, 4}) {
    BlobWriter blob(root.path(), "blob", threads);
    blob.append(bytes);
    blob.cut();
    for (std::size_t at = 0; at < bytes.size(); at += 1'000'003) {
      blob.append(std::span(bytes).subspan(at, std::min<std::size_t>(1'000'003, bytes.size() - at)));
    }
    const Blob& written = blob.finish();
    if (!expected) {
      expected = written;
      content = read_file(root / "blob");
    }
    EXPECT_EQ(written.segments, expected->segments);
    EXPECT_EQ(written.segments.size(), 6U);
    EXPECT_TRUE(read_file(root / "blob") == *content);
  }
}

}  // namespace
}  // namespace cpt
