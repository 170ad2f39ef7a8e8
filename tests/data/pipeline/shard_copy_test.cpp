// What is read from the copy of a shard is what is read from the shard, to the last cursor, whatever is wrong with
// either.
#include "data/pipeline/shard_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/lines.h"
#include "data/random_input.h"
#include "data/random_shards.h"
#include "data/reading.h"
#include "data/shards/split.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool goes_on() { return false; }

void write_file(const fs::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

// Of a shard of the input, as bytes.
std::string copy_of(const Input& input, std::uint32_t number, WrittenCopy* written = nullptr) {
  std::string content;
  const auto sink = [&content](std::span<const std::byte> bytes) {
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto source = copy_source(input.shards[number], number, input.options);
  const auto result = write_copy(input.shards, number, input.options, source->key, sink, goes_on);
  if (written != nullptr) *written = *result;
  return content;
}

// The same input with copies, beside the shards, of those that are chosen.
template <class Choice>
Input with_copies(Input input, Choice choice) {
  for (std::uint32_t number = 0; number < input.shards.size(); ++number) {
    if (!is_text_file(input.shards[number]) || !choice()) continue;
    const std::string copy = input.shards[number].path + ".copy" + std::to_string(number);
    write_file(copy, copy_of(input, number));
    input.shards[number].copy = copy;
  }
  return input;
}

Input with_copies(const Input& input) {
  return with_copies(input, [] { return true; });
}

void expect_same(const Reading& found, const Reading& expected) {
  EXPECT_TRUE(found.lines == expected.lines);  // which are many
  EXPECT_TRUE(found.cursors == expected.cursors);
  EXPECT_EQ(found.end, expected.end);
  EXPECT_EQ(found.error_lines, expected.error_lines);
}

Reading read_from(const Input& input, const std::vector<Cursor>& cursors = {}) {
  ExampleStream stream = input.stream(cursors);
  return read_lines(stream);
}

std::vector<std::string> warnings_of(const Input& input) {
  ExampleStream stream = input.stream();
  read_lines(stream);
  return stream.take_warnings();
}

Input one_shard(const Folder& folder, const std::string& content, ReadOptions options = skipping()) {
  return input_of({folder.write("a", content)}, std::move(options));
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "y" + std::to_string(i % 10) + " |f x" + std::to_string(i) + "\n";
  return text;
}

TEST(ShardCopy, OfRandomShardsIsReadAsTheyAreFromAnyLineOn) {
  std::uint64_t read = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.multilabel = static_cast<MultiLabel>(random.below(4));
    options.normalize = random.below(2) == 0 ? Normalize::kL2 : Normalize::kNone;
    const Input text = random_input(random, folder, options);
    const Input copied = with_copies(text, [&] { return random.below(4) != 0; });
    const Reading expected = read_from(text);
    ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied), expected));
    EXPECT_EQ(warnings_of(copied), warnings_of(text));
    for (const std::vector<Cursor>& cursors : expected.cursors) {
      ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied, cursors), read_from(text, cursors)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied, expected.end), read_from(text, expected.end)));
    read += expected.lines.size();
  }
  EXPECT_GT(read, 500U) << "of a few only, not much is shown";
}

// The second of its blocks begins the list of features anew, the third one adds to it.
TEST(ShardCopy, OfManyFeaturesIsReadAsTheyAre) {
  const Folder folder;
  std::string text;
  for (int line = 0; line < 9000; ++line) {
    text += "y |f";
    for (int i = 0; i < 10; ++i) text += " x" + std::to_string(10 * line + i);
    text += "\n";
  }
  const Input plain = one_shard(folder, text);
  const Input copied = with_copies(plain);
  const Reading expected = read_from(plain);
  ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied), expected));
  for (const std::size_t line : {100U, 5000U, 8500U}) {
    SCOPED_TRACE("from line " + std::to_string(line));
    const std::vector<Cursor>& cursors = expected.cursors.at(line);
    ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied, cursors), read_from(plain, cursors)));
  }
  EXPECT_THAT(warnings_of(copied), IsEmpty());
}

TEST(ShardCopy, OfAPartIsReadAsThePartFromAnyLineOn) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.multilabel = MultiLabel::kSample;
    Input text{{}, {}, options};
    const std::string path = folder.write("a", random.text(static_cast<Format>(1 + seed % 3), 60));
    for (const Shard& part : split(find_shards({path}).at(0), 4)) {
      text.mine.push_back(part.part.index);
      text.shards.push_back(part);
    }
    const Input copied = with_copies(text);
    const Reading expected = read_from(text);
    ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied), expected));
    EXPECT_EQ(warnings_of(copied), warnings_of(text));
    for (const std::vector<Cursor>& cursors : expected.cursors) {
      ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied, cursors), read_from(text, cursors)));
    }
  }
}

TEST(ShardCopy, OfAPartIsReadInPlaceOfThePart) {
  const Folder folder;
  const std::string content = lines(50);
  const std::string path = folder.write("a", content);
  const auto time = std::filesystem::last_write_time(path);
  Input text{{}, {}, skipping()};
  for (const Shard& part : split(find_shards({path}).at(0), 4)) {
    text.mine.push_back(part.part.index);
    text.shards.push_back(part);
  }
  const Input copied = with_copies(text);
  const Reading expected = read_from(text);
  folder.write("a", std::string(content.size(), '\n'));
  std::filesystem::last_write_time(path, time);
  ASSERT_NO_FATAL_FAILURE(expect_same(read_from(copied), expected));
  EXPECT_EQ(expected.lines.size(), 50U);
  EXPECT_TRUE(read_from(text).lines.empty());
}

// The range of a part follows from the size that the file had.
TEST(ShardCopy, OfAPartIsNoneOfWhatTheFileHasGrownTo) {
  const Folder folder;
  const Shard then = split(find_shards({folder.write("a", lines(50))}).at(0), 2).at(1);
  const Shard now = split(find_shards({folder.write("a", lines(60))}).at(0), 2).at(1);
  EXPECT_NE(copy_source(then, 0, {})->key, copy_source(now, 0, {})->key);
}

TEST(ShardCopy, OfAPartIsNoneOfAnotherPart) {
  const Folder folder;
  const Shard file = find_shards({folder.write("a", lines(50))}).at(0);
  std::set<std::string> keys{copy_source(file, 0, {})->key};
  for (const std::uint32_t parts : {2U, 3U}) {
    for (const Shard& part : split(file, parts)) keys.insert(copy_source(part, 0, {})->key);
  }
  EXPECT_EQ(keys.size(), 6U);
}

// The text is another one now, and only its time and size say that it is not.
TEST(ShardCopy, IsReadInPlaceOfTheText) {
  const Folder folder;
  const Input input = with_copies(one_shard(folder, lines(10'000)));
  const Reading expected = read_from(input);
  const auto time = fs::last_write_time(input.shards[0].path);
  std::string other = lines(10'000);
  std::ranges::replace(other, 'y', 'z');
  write_file(input.shards[0].path, other);
  EXPECT_EQ(read_from(input).lines.front().front().label, "z0");
  fs::last_write_time(input.shards[0].path, time);
  expect_same(read_from(input), expected);
  for (const std::ptrdiff_t done : {1, 4095, 4096, 4097, 9999, 10'000}) {
    const Reading rest = read_from(input, expected.cursors[static_cast<std::size_t>(done)]);
    EXPECT_TRUE(rest.lines == std::vector<Examples>(expected.lines.begin() + done, expected.lines.end())) << done;
  }
  ExampleStream stream = input.stream();
  read_lines(stream);
  EXPECT_EQ(stream.part_read(), 1);
}

TEST(ShardCopy, EndsBeforeTheFirstBadLine) {
  const Folder folder;
  WrittenCopy written;
  copy_of(one_shard(folder, "\na |f x\n\nb |f x\nbad\nc |f x\n"), 0, &written);
  EXPECT_EQ(written.lines, 2U);
  EXPECT_FALSE(written.whole);
  copy_of(one_shard(folder, "\na |f x\n\nb |f x\n\n"), 0, &written);
  EXPECT_EQ(written.lines, 2U);
  EXPECT_TRUE(written.whole);
  copy_of(one_shard(folder, "a |f x\nb |f x\nbad"), 0, &written);
  EXPECT_EQ(written.lines, 2U);
  EXPECT_FALSE(written.whole);
  copy_of(one_shard(folder, gzip(lines(100)).substr(0, 150)), 0, &written);
  EXPECT_FALSE(written.whole);
}

// Who goes on behind the first bad line reads the text, and the copy stays for others.
TEST(ShardCopy, IsLeftInPeaceBehindItsEnd) {
  const Folder folder;
  const Input text = one_shard(folder, lines(5000) + "bad\n" + lines(10));
  const Input copied = with_copies(text);
  const Reading expected = read_from(text);
  for (const std::size_t line : {4999U, 5000U, 5001U, 5009U}) {
    SCOPED_TRACE(line);
    const std::vector<Cursor>& cursors = expected.cursors.at(line);
    ExampleStream stream = copied.stream(cursors);
    ASSERT_NO_FATAL_FAILURE(expect_same(read_lines(stream), read_from(text, cursors)));
    EXPECT_THAT(stream.take_warnings(), Each(HasSubstr("a:5001:4: expected ")));
    EXPECT_TRUE(fs::exists(copied.shards[0].copy));
  }
}

TEST(ShardCopy, ABadLineStopsTheReaderWhereItDoesInTheText) {
  const Folder folder;
  for (const std::string& bad : {std::string("bad"), std::string("y | x:nan"), std::string("| x")}) {
    const std::string content = lines(5000) + "\n" + bad + "\n" + lines(10);
    for (const std::string& packed : {content, gzip(content), zstd(content).substr(0, zstd(content).size() - 9)}) {
      const Input text = one_shard(folder, packed, {});
      const Input copied = with_copies(text);
      const std::string reason = error_of(Fault::kBadData, [&] { read_from(text); });
      EXPECT_NE(reason, "");
      EXPECT_EQ(error_of(Fault::kBadData, [&] { read_from(copied); }), reason);
    }
  }
}

// Of a copy all labels are known; what a run makes of them is its own business.
TEST(ShardCopy, ALabelThatARunDoesNotKnowIsABadLineAsInTheText) {
  const Folder folder;
  Input text = one_shard(folder, "1 1:1\n  2,7 1:1\n1 2:1\n7 1:1\n", {});
  text.options.multilabel = MultiLabel::kSplit;
  Input copied = with_copies(text);
  text.options.knows_label = copied.options.knows_label = [](std::string_view label) { return label != "7"; };
  const std::string reason = error_of(Fault::kBadData, [&] { read_from(text); });
  EXPECT_THAT(reason, HasSubstr(":2:5: "));
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_from(copied); }), reason);
  text.options.skip_bad_lines = copied.options.skip_bad_lines = true;
  EXPECT_EQ(read_from(text).error_lines, 2U);
  expect_same(read_from(copied), read_from(text));
  EXPECT_EQ(warnings_of(copied), warnings_of(text));
}

// Whatever became of the copy, the text is read, and what it was is said.
TEST(ShardCopy, DamageOfAnyByteOrLengthChangesNothing) {
  const Folder folder;
  const Input text = one_shard(folder, "a |f x y\n\nb 2 |f y:3\na |f z\n");
  Input input = text;
  const Reading expected = read_from(text);
  const std::string sound = copy_of(input, 0);
  input.shards[0].copy = folder.path("copy");
  std::size_t told = 0;
  const auto expect_nothing_changed = [&](const std::string& damaged) {
    write_file(input.shards[0].copy, damaged);
    ASSERT_NO_FATAL_FAILURE(expect_same(read_from(input), expected));
    write_file(input.shards[0].copy, damaged);
    for (const auto& cursors : {expected.cursors[2], expected.end}) {
      ASSERT_NO_FATAL_FAILURE(expect_same(read_from(input, cursors), read_from(text, cursors)));
      write_file(input.shards[0].copy, damaged);
    }
    told += warnings_of(input).size();
    EXPECT_FALSE(fs::exists(input.shards[0].copy)) << "what is damaged goes";
  };
  for (std::size_t i = 0; i < sound.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    expect_nothing_changed(damaged);
    SCOPED_TRACE("cut");
    expect_nothing_changed(sound.substr(0, i));
  }
  expect_nothing_changed(sound + "x");
  EXPECT_EQ(told, 2 * sound.size() + 1);
  write_file(input.shards[0].copy, sound);
  EXPECT_THAT(warnings_of(input), IsEmpty());
  EXPECT_TRUE(fs::exists(input.shards[0].copy));
}

TEST(ShardCopy, DamageInTheMiddleOfALargeOneCostsNoLine) {
  const Folder folder;
  const Input text = one_shard(folder, lines(20'000));
  const Input input = with_copies(text);
  fs::resize_file(input.shards[0].copy, fs::file_size(input.shards[0].copy) / 2);
  EXPECT_THAT(warnings_of(input), ElementsAre(HasSubstr("the text is read, its copy " + input.shards[0].copy)));
  with_copies(text);
  fs::resize_file(input.shards[0].copy, fs::file_size(input.shards[0].copy) / 2);
  expect_same(read_from(input), read_from(text));
}

TEST(ShardCopy, ThatHasVanishedIsToldAndTheTextIsRead) {
  const Folder folder;
  const Input text = one_shard(folder, lines(10));
  const Input input = with_copies(text);
  fs::remove(input.shards[0].copy);
  EXPECT_THAT(warnings_of(input), ElementsAre(HasSubstr("open failed: No such file")));
  expect_same(read_from(input), read_from(text));
}

TEST(ShardCopy, OfAnotherTextOrOtherOptionsIsNotRead) {
  const Folder folder;
  const Input input = with_copies(one_shard(folder, lines(10)));
  const std::string key = copy_source(input.shards[0], 0, input.options)->key;
  const auto key_with = [&](auto change) {
    ReadOptions options = input.options;
    change(options);
    return copy_source(input.shards[0], 0, options)->key;
  };
  EXPECT_EQ(key_with([](ReadOptions&) {}), key);
  EXPECT_EQ(key_with([](ReadOptions& o) { o.skip_bad_lines = false; }), key);
  EXPECT_NE(key_with([](ReadOptions& o) { o.seed = 2; }), key);
  EXPECT_NE(key_with([](ReadOptions& o) { o.normalize = Normalize::kL2; }), key);
  EXPECT_NE(key_with([](ReadOptions& o) { o.interactions = {"ff"}; }), key);
  EXPECT_NE(key_with([](ReadOptions& o) { o.multilabel = MultiLabel::kSplit; }), key);
  EXPECT_NE(key_with([](ReadOptions& o) { o.format = Format::kVw; }), key);
  EXPECT_NO_THROW(check_copy(input.shards[0].copy, key, input.options));
  Input other = input;
  other.options.seed = 2;
  Input text = other;
  text.shards[0].copy.clear();
  expect_same(read_from(other), read_from(text));
  EXPECT_THAT(warnings_of(other), IsEmpty());
  EXPECT_TRUE(fs::exists(input.shards[0].copy)) << "others may need it";
}

// A label is drawn by the number of the shard, too.
TEST(ShardCopy, KnowsTheNumberOfItsShardWhereThatMatters) {
  const Folder folder;
  const Input input = one_shard(folder, lines(1));
  ReadOptions options;
  const auto key = [&](std::uint32_t number) { return copy_source(input.shards[0], number, options)->key; };
  EXPECT_EQ(key(0), key(1));
  options.multilabel = MultiLabel::kSample;
  EXPECT_NE(key(0), key(1));
}

TEST(ShardCopy, IsOfAFileAndNotOfAName) {
  const Folder folder;
  const Input input = one_shard(folder, lines(1));
  const std::string link = folder.path("link");
  fs::create_symlink(input.shards[0].path, link);
  const auto key = [](const std::string& path) { return copy_source(find_shards({path})[0], 0, {})->key; };
  const std::string before = key(link);
  EXPECT_EQ(before, key(input.shards[0].path));
  EXPECT_NE(before, key(folder.write("b", lines(1))));
  const auto time = fs::last_write_time(link);
  fs::last_write_time(link, time + std::chrono::nanoseconds(4000));
  EXPECT_NE(before, key(link));
  fs::last_write_time(link, time);
  EXPECT_EQ(before, key(link));
  fs::resize_file(input.shards[0].path, 3);
  fs::last_write_time(link, time);
  EXPECT_NE(before, key(link));
  const Shard found = find_shards({link})[0];
  EXPECT_TRUE(copy_source(found, 0, {}));
  fs::remove(input.shards[0].path);
  EXPECT_FALSE(copy_source(found, 0, {}));
}

// A run reads of a file what there was when it was found: a copy of that would be taken for one of all there is now.
TEST(ShardCopy, IsNotOfAFileThatHasGrownOrShrunk) {
  const Folder folder;
  const Input input = one_shard(folder, lines(3));
  const std::string path = input.shards[0].path;
  ASSERT_TRUE(copy_source(input.shards[0], 0, input.options));
  folder.write(fs::path(path).filename().string(), lines(4));
  EXPECT_FALSE(copy_source(input.shards[0], 0, input.options));
  EXPECT_TRUE(copy_source(find_shards({path})[0], 0, input.options));
  fs::resize_file(path, 5);
  EXPECT_FALSE(copy_source(input.shards[0], 0, input.options));
}

TEST(ShardCopy, MustWaitUntilAnotherChangeWouldBeSeen) {
  const Folder folder;
  const Input input = one_shard(folder, lines(1));
  const auto settled_after = [&](std::chrono::seconds age) {
    fs::last_write_time(input.shards[0].path, fs::file_time_type::clock::now() - age);
    return copy_source(input.shards[0], 0, {})->settled;
  };
  EXPECT_FALSE(settled_after(std::chrono::seconds(0)));
  EXPECT_FALSE(settled_after(std::chrono::hours(-1)));
  EXPECT_TRUE(settled_after(std::chrono::seconds(3)));
}

TEST(ShardCopy, IsOfTextOnly) {
  const Folder folder;
  const auto is_text = [](const std::string& path) { return is_text_file(find_shards({path})[0]); };
  const std::string text = folder.write("text", lines(3));
  EXPECT_TRUE(is_text(text));
  EXPECT_TRUE(is_text(folder.write("gz", gzip(lines(3)))));
  EXPECT_TRUE(is_text(folder.write("zst", zstd(lines(3)))));
  EXPECT_FALSE(is_text(folder.write("binary", binary_of({text}))));
  EXPECT_FALSE(is_text(folder.write("binary.gz", gzip(binary_of({text})))));
  EXPECT_FALSE(is_text(folder.write("empty", "")));
  EXPECT_FALSE(is_text("-"));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(is_text(folder.path("pipe")));
  EXPECT_FALSE(is_text_file({folder.path("missing"), 9}));
}

TEST(ShardCopy, IsGivenUpOnRequest) {
  const Folder folder;
  const Input input = one_shard(folder, lines(5000));
  int asked = 0;
  const auto second_time = [&] { return ++asked == 2; };
  EXPECT_FALSE(write_copy(
      input.shards, 0, input.options, "key", [](auto) {}, second_time));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace cpt
