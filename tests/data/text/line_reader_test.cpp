#include "data/text/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/in_memory.h"
#include "data/reading.h"

namespace cpt {
namespace {

using Lines = std::vector<std::string>;

// Lines, "!" and the number of bytes shown for one that is too long.
Lines lines_of(const std::string& text, std::size_t piece) {
  LineReader reader(std::make_unique<InMemory>(text, piece));
  Lines lines;
  std::string_view line;
  for (auto status = reader.next(line); status != LineReader::Status::kEnd; status = reader.next(line)) {
    lines.push_back(status == LineReader::Status::kLine ? std::string(line) : "!");
    EXPECT_EQ(reader.number(), lines.size());
  }
  return lines;
}

TEST(LineReader, TakesBothLineEndsAndNone) {
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(lines_of("", piece), Lines());
    EXPECT_EQ(lines_of("\n", piece), Lines({""}));
    EXPECT_EQ(lines_of("a\nb\n", piece), Lines({"a", "b"}));
    EXPECT_EQ(lines_of("a\r\nb\r\n", piece), Lines({"a", "b"}));
    EXPECT_EQ(lines_of("a\n\r\n\nb", piece), Lines({"a", "", "", "b"}));
    EXPECT_EQ(lines_of("a\rb\r\r\nc\r", piece), Lines({"a\rb\r", "c"}));
    EXPECT_EQ(lines_of(std::string("a\0b\n", 4), piece), Lines({std::string("a\0b", 3)}));
  }
}

TEST(LineReader, LeavesOutAByteOrderMarkAtTheBeginningOnly) {
  const std::string mark = "\xef\xbb\xbf";
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(lines_of(mark + "a\n" + mark + "b", piece), Lines({"a", mark + "b"}));
    EXPECT_EQ(lines_of(mark + mark + "\r\na\n", piece), Lines({mark, "a"}));
    EXPECT_EQ(lines_of(mark, piece), Lines({""}));
    EXPECT_EQ(lines_of(mark.substr(0, 2), piece), Lines({mark.substr(0, 2)}));
  }
  const std::string text = mark + "a\nb\n";
  LineReader reader(std::make_unique<InMemory>(text));
  std::string_view line;
  reader.next(line);
  EXPECT_EQ(reader.offset(), 5U) << "its bytes count";
}

TEST(LineReader, KnowsWhereTheNextLineBegins) {
  const std::string text = "a\n\r\n\nbc";
  for (const std::size_t piece : {1U, 3U, 100U}) {
    LineReader reader(std::make_unique<InMemory>(text, piece));
    std::string_view line;
    for (const std::uint64_t offset : {2U, 4U, 5U, 7U}) {
      ASSERT_EQ(reader.next(line), LineReader::Status::kLine);
      EXPECT_EQ(reader.offset(), offset);
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(reader.next(line), LineReader::Status::kEnd);
      EXPECT_EQ(reader.offset(), 7U);
      EXPECT_EQ(reader.number(), 4U);
    }
  }
}

TEST(LineReader, GoesOnBehindLinesThatAreSkipped) {
  const std::string text = "a\nb\n" + std::string(100'000, 'c') + "\nd\n";
  for (const std::size_t piece : {1000U, 4096U, 1000000U}) {
    LineReader reader(std::make_unique<InMemory>(text, piece));
    ASSERT_TRUE(reader.skip(100'005, 3));
    std::string_view line;
    ASSERT_EQ(reader.next(line), LineReader::Status::kLine);
    EXPECT_EQ(line, "d");
    EXPECT_EQ(reader.number(), 4U);
    EXPECT_EQ(reader.offset(), text.size());
    LineReader beyond(std::make_unique<InMemory>(text, piece));
    EXPECT_FALSE(beyond.skip(text.size() + 1, 4));
    EXPECT_EQ(beyond.offset(), text.size());
  }
}

TEST(LineReader, LinesMayCrossBuffers) {
  Lines lines;
  std::string text;
  for (const std::size_t bytes : {1U, 65534U, 65535U, 65536U, 65537U, 200000U, 3U, 131072U, 0U, 70000U}) {
    lines.emplace_back(bytes, static_cast<char>('a' + lines.size()));
    text += lines.back() + "\n";
  }
  for (const std::size_t piece : {1000U, 4096U, 65536U, 1000000U}) EXPECT_EQ(lines_of(text, piece), lines);
}

TEST(LineReader, ALineMayHaveSixteenMebibytesAndNoMore) {
  const std::string longest(std::size_t{16} << 20, 'x');
  for (const char* line_end : {"\n", "\r\n"}) {
    EXPECT_EQ(lines_of(longest + line_end + "b", 1 << 20), Lines({longest, "b"}));
    EXPECT_EQ(lines_of(longest + "x" + line_end + "b", 1 << 20), Lines({"!", "b"}));
    EXPECT_EQ(lines_of(longest + longest + line_end + "b", 1 << 20), Lines({"!", "b"}));
  }
  EXPECT_EQ(lines_of(longest, 1 << 20), Lines({longest}));
  EXPECT_EQ(lines_of("a\n" + longest + "xyz", 1 << 20), Lines({"a", "!"}));
}

TEST(LineReader, ALineTooLongIsRejectedOrSkippedLikeAnyOther) {
  const Folder folder;
  const std::string path =
      folder.write("a", "u |f a\nv |f " + std::string((std::size_t{16} << 20) + 1, 'x') + "\nw |f c\n");
  const std::string reason =
      path + ":2:1: expected a line of at most 16777216 bytes, found 'v |f " + std::string(75, 'x') + "...'";
  EXPECT_TRUE(error_of(Fault::kBadData, [&] { read_all({path}); }).starts_with(reason + "; "));
  ExampleStream stream = stream_of({path}, skipping());
  EXPECT_EQ(labels_of(read_rest(stream)), "u w");
  EXPECT_EQ(stream.take_warnings(), std::vector<std::string>{"skipped: " + reason});
}

}  // namespace
}  // namespace cpt
