// The parts of a file hold together what the file holds: each line once, in its order, and messages say where it is in
// the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/format/read_options.h"
#include "data/lines.h"
#include "data/random_shards.h"
#include "data/reading.h"
#include "data/shards/shards.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every file in parts.
Input split_input(const std::vector<std::string>& paths, std::uint32_t parts, const ReadOptions& options = skipping()) {
  Input input{{}, {}, options};
  for (const Shard& file : find_shards(paths)) {
    for (const Shard& part : split(file, parts)) {
      input.mine.push_back(static_cast<std::uint32_t>(input.shards.size()));
      input.shards.push_back(part);
    }
  }
  return input;
}

// The warning with its place as a byte, as in a part of a text: "PATH:LINE:COLUMN: ..." becomes "PATH: byte BYTE: ...".
std::string by_byte(const std::string& path, const std::string& warning) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string text = content.str();
  const std::size_t place = warning.find(path + ":");
  if (is_binary_shard(text) || place == std::string::npos) return warning;
  std::istringstream after(warning.substr(place + path.size()));
  std::uint64_t number = 0;
  std::uint64_t column = 0;
  char colon = 0;
  if (!(after >> colon >> number >> colon >> column)) return warning;
  std::size_t begin = 0;
  for (std::uint64_t line = number; line > 1; --line) begin = text.find('\n', begin) + 1;
  if (begin == 0 && text.starts_with("\xef\xbb\xbf")) begin = 3;  // columns are those of the line without its mark
  std::string rest;
  std::getline(after, rest);
  return warning.substr(0, place + path.size()) + ": byte " + std::to_string(begin + column - 1) + rest;
}

// The content of one part after the other, each read by a reader of its own: examples with the bytes at which their
// lines end, and bad lines.
Content content_of(const std::string& path, std::uint32_t parts, const ReadOptions& options = skipping()) {
  const Input input = split_input({path}, parts, options);
  Content content;
  for (const std::uint32_t number : input.mine) {
    ExampleStream stream(input.shards, {number}, options);
    for (const Examples& line : read_lines(stream).lines) {
      for (WholeExample example : line) {
        example.origin = {0, 0, 0, example.origin.end, 0};
        content.examples.push_back(example);
      }
    }
    for (const std::string& warning : stream.take_warnings()) content.warnings.push_back(by_byte(path, warning));
    content.bad_lines += stream.bad_lines();
    EXPECT_EQ(stream.part_read(), 1) << "part " << number;
  }
  return content;
}

void expect_same(const Content& found, const Content& expected) {
  EXPECT_EQ(found.examples, expected.examples);
  EXPECT_EQ(found.warnings, expected.warnings);
  EXPECT_EQ(found.bad_lines, expected.bad_lines);
}

// Of few enough lines that none is bad without a warning.
std::string random_text(RandomShards& random, Format format) {
  const std::string text = random.text(format, random.below(50));
  std::string long_line = format == Format::kVw ? "y1 |f" : format == Format::kLibsvm ? "1" : "__label__1";
  for (std::uint64_t i = random.below(400); i > 0; --i) long_line += " " + std::to_string(i) + ":1";
  return random.below(2) == 0 ? text : text + (text.ends_with('\n') ? "" : "\r\n") + long_line;
}

TEST(Split, PartsOfRandomTextsAreTheText) {
  std::size_t examples = 0;
  std::size_t bad_lines = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Folder folder;
    RandomShards random(seed);
    const std::string path = folder.write("a", random_text(random, static_cast<Format>(1 + seed % 3)));
    ReadOptions options = skipping();
    options.multilabel = MultiLabel::kSplit;
    const Content whole = content_of(path, 1, options);
    for (const std::uint32_t parts : {2U, 3U, 7U, seed % 4 == 0 ? 1000U : 20U}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " in " + std::to_string(parts));
      ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, parts, options), whole));
    }
    examples += whole.examples.size();
    bad_lines += whole.warnings.size();
  }
  EXPECT_GT(examples, 200U) << "of a few only, not much is shown";
  EXPECT_GT(bad_lines, 20U);
}

// Wherever a part may begin: in front of a line end, between CR and LF, behind it.
TEST(Split, PartsBeginAnywhere) {
  const Folder folder;
  for (const std::string text :
       {"a |f x\nb |f y\r\n\r\n\nbad\nc |f z", "\n\na |f\n", "a |f x", "\r\na |f x\r\n\r\n", "\n"}) {
    const std::string path = folder.write("a", text);
    const Content whole = content_of(path, 1);
    for (std::uint32_t parts = 2; parts <= text.size() + 2; ++parts) {
      SCOPED_TRACE(parts);
      ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, parts), whole));
    }
  }
}

TEST(Split, AByteOrderMarkIsNoneOfTheText) {
  const Folder folder;
  for (const std::string text : {"a |f x\nb |f y:bad\nc |f z\n", "a |f x:bad\nb |f y\n",
                                 "\n__label__a x\n__label__b y\n", "3 10 5\n1 1:1\n2 1:1\n"}) {
    Content plain = content_of(folder.write("a", text), 1);
    for (WholeExample& example : plain.examples) example.origin.end += 3;
    const std::string path = folder.write("a", "\xef\xbb\xbf" + text);
    EXPECT_EQ(content_of(path, 1).bad_lines, plain.bad_lines);
    plain.warnings = content_of(path, 1).warnings;  // at other bytes
    for (std::uint32_t parts = 1; parts <= text.size() + 3; ++parts) {
      SCOPED_TRACE(parts);
      ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, parts), plain));
      ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(split_input({path}, parts)));
    }
  }
}

TEST(Split, EveryLineOfAPartIsAPlaceToGoOn) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.order = random.below(2) == 0 ? ShardOrder::kInterleaved : ShardOrder::kSequential;
    options.multilabel = MultiLabel::kSample;
    const std::string text = folder.write("a", random_text(random, static_cast<Format>(1 + seed % 3)));
    const std::string binary = folder.write("b", binary_of({text}, options, {5, 40, 16}));
    const auto parts = static_cast<std::uint32_t>(2 + random.below(9));
    ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(split_input({text, binary}, parts, options)));
  }
}

TEST(Split, ALineThatIsTooLongIsOneBadLineOfOnePart) {
  const Folder folder;
  const std::string long_line(kMaxLineBytes + 3, 'x');
  const std::string path = folder.write("a", "a |f x\n" + long_line + "\nb |f y\nbad\n");
  const Content whole = content_of(path, 1);
  const std::size_t end_of_bad = 7 + long_line.size() + 1 + 7 + 3;
  EXPECT_THAT(whole.warnings, ElementsAre(HasSubstr("/a: byte 7: expected a line of at most"),
                                          HasSubstr("/a: byte " + std::to_string(end_of_bad) + ": ")));
  for (const std::uint32_t parts : {2U, 5U}) expect_same(content_of(path, parts), whole);
}

// A file is in the format of its first line, and what stands there only may be a header.
TEST(Split, PartsAreInTheFormatOfTheFile) {
  const Folder folder;
  const std::string path = folder.write("a", "\n1 1:1\n3 10 5\n__label__a w\n__label__b w\n2 1:1\n");
  const Content whole = content_of(path, 1);
  EXPECT_EQ(whole.examples.size(), 2U);
  EXPECT_EQ(whole.bad_lines, 3U);
  const std::string headed = folder.write("headed", "3 10 5\n3 10 5\n1 1:1\n");
  const Content with_header = content_of(headed, 1);
  EXPECT_EQ(with_header.bad_lines, 1U);
  for (std::uint32_t parts = 2; parts < 45; ++parts) {
    SCOPED_TRACE(parts);
    ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, parts), whole));
    ASSERT_NO_FATAL_FAILURE(expect_same(content_of(headed, parts), with_header));
  }
  const std::string unknown = folder.write("unknown", "\nwhat is this\na |f x\nb |f y\n");
  const Input input = split_input({unknown}, 3);
  for (const std::uint32_t number : input.mine) {
    ExampleStream stream(input.shards, {number}, input.options);
    EXPECT_THAT(error_of(Fault::kBadData, [&] { read_lines(stream); }),
                HasSubstr(unknown + ":2:1: expected a line in vw, libsvm, fasttext or json format"));
  }
}

TEST(Split, ABadLineIsCalledByItsByteInTheFile) {
  const Folder folder;
  std::string text;
  for (int i = 1; i < 500; ++i) text += i == 400 ? "a |f x:bad\n" : "a |f x\n";
  const std::string path = folder.write("a", text);
  const Input input = split_input({path}, 4, {});
  ExampleStream stream = input.stream();
  const std::string place = path + ": byte " + std::to_string(text.find("bad"));
  EXPECT_TRUE(error_of(Fault::kBadData, [&] {
                read_lines(stream);
              }).starts_with(place + ": expected a number of at most 1e30 in size, found 'bad'; "));
}

TEST(Split, PartsOfABinaryShardAreItsBlocks) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.multilabel = MultiLabel::kSplit;
    const std::string text = folder.write("text", random.text(Format::kLibsvm, 100));
    const std::string path = folder.write("a", binary_of({text}, options, {5, 40, 16}));
    const Content whole = content_of(path, 1, options);
    EXPECT_GT(whole.examples.size(), 50U);
    // So many that some parts begin where blocks do.
    for (std::uint32_t parts = 2; parts < 30; ++parts) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " in " + std::to_string(parts));
      ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, parts, options), whole));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(content_of(path, 200, options), whole));
  }
}

TEST(Split, ADamagedBlockIsOneBadLineOfOnePart) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "y" + std::to_string(i) + " |f x" + std::to_string(i % 5) + "\n";
  const std::string binary = binary_of({folder.write("text", text)}, {}, {5, 40, 16});
  const std::size_t inside = binary.find("BLK1", binary.size() / 2) + sizeof(BlockHead) + 3;
  const std::string path = folder.write("a", flipped(binary, inside, 0x10));
  const Content whole = content_of(path, 1);
  EXPECT_EQ(whole.bad_lines, 1U);
  EXPECT_EQ(whole.examples.size(), 55U);
  EXPECT_THAT(whole.warnings, ElementsAre(HasSubstr("; 5 lines in it cannot be read")));
  for (const std::uint32_t parts : {2U, 3U, 7U}) expect_same(content_of(path, parts), whole);
}

// Without it nobody knows where blocks begin.
TEST(Split, ABinaryShardWithoutItsIndexIsRefused) {
  const Folder folder;
  const std::string binary = binary_of({folder.write("text", "a |f x\nb |f y\n")}, {}, {1, 1});
  for (const std::size_t bytes : {binary.size() - 1, binary.rfind("INDX")}) {
    const std::string path = folder.write("a", binary.substr(0, bytes));
    const Input input = split_input({path}, 3);
    ExampleStream stream = input.stream();
    EXPECT_THAT(error_of(Fault::kBadData, [&] { read_lines(stream); }),
                HasSubstr(path + ": cannot be read in parts (--split): expected the index of a binary shard"));
  }
}

TEST(SplitFile, MakesRangesOfItsSizeThatMeet) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    for (const std::uint32_t count : {1U, 2U, 3U, kMostFileParts}) {
      SCOPED_TRACE(std::to_string(bytes) + " in " + std::to_string(count));
      const std::vector<Shard> parts = split({"a", bytes}, count);
      ASSERT_EQ(parts.size(), std::min<std::uint64_t>(count, bytes));
      std::uint64_t end = 0;
      for (const Shard& part : parts) {
        EXPECT_EQ(range_of(part).begin, end);
        EXPECT_GE(own_bytes(part), bytes / parts.size());
        EXPECT_LE(own_bytes(part) - bytes / parts.size(), 1U);
        end = range_of(part).end;
      }
      EXPECT_EQ(end, ByteRange().end);
    }
  }
  EXPECT_EQ(split({"a", 0}, 7).size(), 1U);
}

TEST(SplitFile, IsPossibleForWhatIsNotCompressed) {
  const Folder folder;
  const auto splits = [&](const std::string& content) {
    return can_be_split(find_shards({folder.write("a", content)}).at(0));
  };
  EXPECT_TRUE(splits("a |f x\n"));
  EXPECT_TRUE(splits("x"));
  EXPECT_TRUE(splits(binary_of({folder.write("text", "a |f x\n")})));
  EXPECT_FALSE(splits(gzip("a |f x\n")));
  EXPECT_FALSE(splits(zstd("a |f x\n")));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(can_be_split(find_shards({folder.path("pipe")}).at(0)));
}

TEST(SplitFile, GivesRanksPartsByTheirOwnBytes) {
  std::vector<Shard> shards = split({"a", 100}, 4);
  shards.push_back({"b", 60});
  EXPECT_EQ(assign_shards(shards, 2), (std::vector<std::vector<std::uint32_t>>{{3, 4}, {0, 1, 2}}));
}

}  // namespace
}  // namespace cpt
