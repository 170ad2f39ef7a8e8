// Binary shards hold what the text held, say what is wrong with them, and never give what they did not hold.
#include "data/binary/binary_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/lines.h"
#include "data/random_shards.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Blocks of a few examples, and a list of features that begins anew after a few of them.
constexpr BlockLimits kSmall{5, 40, 16};

// Examples without the bytes and lines of their shard, which differ.
Content content_of(const std::string& path, const ReadOptions& options) {
  ExampleStream stream = stream_of({path}, options);
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  Content content{{}, stream.take_warnings(), stream.bad_lines()};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    content.examples.push_back(whole(batch[i]));
    Origin& origin = content.examples.back().origin;
    origin = {origin.shard, 0, origin.position, 0, 0};
  }
  return content;
}

// The offsets of the heads of this kind, by the bytes with which they begin.
std::vector<std::size_t> offsets_of(const std::string& kind, const std::string& shard) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = shard.find(kind); at != std::string::npos; at = shard.find(kind, at + 1)) offsets.push_back(at);
  return offsets;
}

TEST(BinaryShard, HoldsWhatTheTextHeld) {
  std::size_t examples = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.seed = random.below(3);
    options.multilabel = static_cast<MultiLabel>(random.below(4));
    options.normalize = random.below(2) == 0 ? Normalize::kL2 : Normalize::kNone;
    options.labels_required = random.below(2) == 0;
    const auto format = static_cast<Format>(1 + random.below(3));
    if (format == Format::kVw && random.below(2) == 0) options.interactions = {"ff"};
    const std::string text = folder.write("text", random.text(format, random.below(3) * random.below(40)));
    const BlockLimits limits = random.below(2) == 0 ? kSmall : BlockLimits{};
    const std::string binary = folder.write("binary", random.packed(binary_of({text}, options, limits)));
    const Content expected = content_of(text, options);
    const Content found = content_of(binary, options);
    ASSERT_EQ(found.examples, expected.examples);
    ASSERT_EQ(found.bad_lines, 0U);
    examples += found.examples.size();
  }
  EXPECT_GT(examples, 1000U) << "of a few only, not much is shown";
}

// More features, labels, values and lengths than one or two bytes can count; a label that is not text.
TEST(BinaryShard, HoldsWhatNeedsWideColumns) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 70'000; ++i)
    text += "y" + std::to_string(i) + " |f x" + std::to_string(i) + ":0." + std::to_string(i + 1) + "\n";
  text += std::string("a\0\xff", 3) + " 0.25 |f x1:-3 x2:1e-20 y\n";
  text += std::string(70'000, 'l') + " |f";
  for (int i = 0; i < 70'000; ++i) text += " z" + std::to_string(i);
  text += "\n";
  const std::string path = folder.write("text", text);
  for (const BlockLimits& limits : {BlockLimits{}, BlockLimits{1U << 20, 1U << 20}}) {
    const std::string binary = folder.write("binary", binary_of({path}, {}, limits));
    EXPECT_EQ(content_of(binary, {}).examples, content_of(path, {}).examples);
  }
}

// However long labels are: a payload has a limit.
TEST(BinaryShard, HasMoreBlocksWhereLabelsAreLong) {
  const Folder folder;
  std::string text;
  for (char label = 'a'; label <= 'z'; ++label) text.append(1000, label).append(" |f x\n");
  const std::string path = folder.write("a", text);
  const std::string one = binary_of({path}, {});
  const std::string many = binary_of({path}, {}, {.label_bytes = 4000});
  EXPECT_EQ(offsets_of("BLK1", one).size(), 1U);
  EXPECT_EQ(offsets_of("BLK1", many).size(), 7U);
  EXPECT_EQ(content_of(folder.write("b", many), {}).examples, content_of(path, {}).examples);
}

TEST(BinaryShard, BeginsItsListAnewWhateverTheFeatures) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 23; ++i) text += "y |f x\n";
  const std::string path = folder.write("text", text);
  const std::string binary = binary_of({path}, {}, {.examples = 5, .list_blocks = 2});
  EXPECT_EQ(offsets_of("FEAT", binary).size(), 3U) << "of five blocks";
  EXPECT_EQ(content_of(folder.write("binary", binary), {}).examples, content_of(path, {}).examples);
}

TEST(BinaryShard, NumbersItsLines) {
  const Folder folder;
  const std::string text = folder.write("text", "\n1,2 1:1\n\n3 1:2\n");
  const ReadOptions options{.multilabel = MultiLabel::kSplit};
  const std::string binary = folder.write("binary", binary_of({text}, options));
  ExampleStream stream = stream_of({binary}, options);
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  ASSERT_EQ(batch.size(), 3U);
  EXPECT_EQ(batch.origin(0).line, 1U);
  EXPECT_EQ(batch.origin(1), batch.origin(0));
  EXPECT_EQ(batch.origin(2).line, 2U);
  EXPECT_EQ(batch.origin(2).position, 1U);
}

TEST(BinaryShard, IsReadOnlyAsItWasConverted) {
  const Folder folder;
  const std::string text = folder.write("text", "a |f x\n");
  const std::string binary = folder.write("binary", binary_of({text}));
  const auto refusal = [&](const ReadOptions& options) {
    return error_of(Fault::kUsage, [&] { content_of(binary, options); });
  };
  EXPECT_EQ(refusal({.seed = 2}), binary +
                                      ": converted with seed 1; this run reads with seed 2; "
                                      "convert again with --seed 2, or omit --seed 2");
  EXPECT_THAT(refusal({.normalize = Normalize::kL2}), HasSubstr("reads with normalize l2; "));
  EXPECT_THAT(refusal({.multilabel = MultiLabel::kSplit}), HasSubstr("multilabel split"));
  EXPECT_THAT(refusal({.interactions = {"ab", "cd"}}),
              HasSubstr("converted with interactions none; this run reads with interactions ab cd; "
                        "convert again with --interactions ab --interactions cd, or omit "));
}

TEST(BinaryShard, NamesTheSettingsThatDiffer) {
  const auto difference = [](const ReadOptions& converted, const ReadOptions& wanted) {
    return describe_difference(reader_signature(converted), reader_signature(wanted));
  };
  EXPECT_EQ(difference({}, {.fields = {.text = {"q", "r"}}}),
            "converted with text keys none; this run reads with text keys q r; "
            "convert again with --text-keys q,r, or omit --text-keys q,r");
  EXPECT_EQ(difference({.seed = 5}, {}),
            "converted with seed 5; this run reads with seed 1; convert again without --seed 5, or give --seed 5 here");
  EXPECT_EQ(
      difference({.seed = 5, .ngrams = {"2", "a:3"}}, {.seed = 6, .fields = {.label = "y"}}),
      "converted with seed 5, label key label, n-grams 2 a:3; this run reads with seed 6, label key y, n-grams none; "
      "convert again with --seed 6 --label-key y, or give --seed 5 --ngrams 2 --ngrams a:3 here");
  EXPECT_EQ(difference({.fields = {.text = {"q r", "s"}}}, {.fields = {.text = {"q", "r", "s"}}}),
            "converted with text keys q\\ r s; this run reads with text keys q r s; "
            "convert again with --text-keys q,r,s, or give --text-keys q\\ r,s here");
}

// What a model brings cannot be given otherwise; how several labels are read can.
TEST(BinaryShard, AdvisesNoOtherOptionsThanThoseOfAModel) {
  const auto difference = [](const ReadOptions& converted, const ReadOptions& wanted) {
    return describe_difference(reader_signature(converted), reader_signature(wanted), true);
  };
  EXPECT_EQ(difference({}, {.seed = 2}),
            "converted with seed 1; the model reads with seed 2; convert again with --seed 2");
  EXPECT_EQ(difference({.seed = 2}, {}),
            "converted with seed 2; the model reads with seed 1; convert again without --seed 2");
  EXPECT_EQ(difference({}, {.multilabel = MultiLabel::kSplit}),
            "converted with multilabel first; this run reads with multilabel split; "
            "convert again with --multilabel split, or omit --multilabel split");
}

TEST(BinaryShard, KnowsNamesWithBlanksFromLists) {
  const auto signature = [](std::vector<std::string> text) {
    return reader_signature({.fields = {.text = std::move(text)}});
  };
  EXPECT_NE(signature({"q r"}), signature({"q", "r"}));
  EXPECT_NE(signature({"q\\", "r"}), signature({"q\\ r"}));
  EXPECT_NE(reader_signature({.fields = {.label = "a, importance key b"}}),
            reader_signature({.fields = {.label = "a", .importance = "b, importance key "}}));
}

TEST(BinaryShard, RefusesOptionsThatNoReaderWouldTake) {
  std::string content;
  const auto refusal = [&](std::size_t bytes) {
    const ReadOptions options{.fields = {.ignored = {std::string(bytes, 'k')}}};
    return error_of(Fault::kUsage, [&] { BinaryWriter(options, appender_to(content)).finish(); });
  };
  EXPECT_EQ(refusal(1'000'000), "");
  content.clear();
  EXPECT_THAT(refusal(1'100'000), HasSubstr("a binary shard holds at most 1048576"));
  EXPECT_TRUE(content.empty());
}

TEST(BinaryShard, IsToldByItsContent) {
  const Folder folder;
  const std::string text = folder.write("text", "a |f x\n");
  const std::string binary = folder.write("binary", binary_of({text}));
  EXPECT_EQ(content_of(binary, {.format = Format::kBinary}).examples.size(), 1U);
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(text, {.format = Format::kBinary}); }),
            text + ": expected a binary shard, found text");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(binary, {.format = Format::kVw}); }),
            binary + ": expected text, found a binary shard; read it with --format binary");
}

TEST(BinaryShard, IsOfOneVersion) {
  const Folder folder;
  std::string content = binary_of({folder.write("text", "a |f x\n")});
  const auto refusal_of = [&](char version) {
    content[7] = version;
    return error_of(Fault::kBadData, [&] { content_of(folder.write("binary", content), {}); });
  };
  const std::string expected = folder.path("binary") + ": expected a binary shard of version 2, found one of version ";
  EXPECT_EQ(refusal_of(3), expected + "3");
  EXPECT_EQ(refusal_of(1), expected + "1; convert its text again");
}

TEST(BinaryShard, RefusesLinesAsTextDoes) {
  const Folder folder;
  ReadOptions unlabeled = skipping();
  unlabeled.labels_required = false;
  const std::string text = folder.write("text", "1 1:1\n1:1\n5 1:1\n3,5 1:1\n3 2:1\n");
  ReadOptions options = skipping();
  options.multilabel = unlabeled.multilabel = MultiLabel::kSplit;
  const std::string binary = folder.write("binary", binary_of({text}, unlabeled));
  EXPECT_EQ(content_of(binary, unlabeled).examples.size(), 6U);
  options.knows_label = [](std::string_view label) { return label != "5"; };
  ExampleStream stream = stream_of({binary}, options);
  EXPECT_EQ(labels_of(read_rest(stream)), "1 3");
  EXPECT_EQ(stream.bad_lines(), 3U);
  EXPECT_EQ(stream.take_warnings(),
            (std::vector<std::string>{
                "skipped: " + binary + ":2:1: expected a label, found ''",
                "skipped: " + binary + ":3:1: expected one of the labels that the run was begun with, found '5'",
                "skipped: " + binary + ":4:1: expected one of the labels that the run was begun with, found '5'"}));
  options.skip_bad_lines = false;
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(binary, options); }),
            binary + ":2:1: expected a label, found ''");
}

// As they were converted when there was no bound.
TEST(BinaryShard, RefusesImportancesThatNoTextMayHave) {
  const Folder folder;
  std::string content;
  BinaryWriter writer({}, appender_to(content));
  Batch batch;
  for (const float importance : {1.0F, 1e25F, 1e12F}) batch.finish_example("y", importance, {});
  for (std::size_t i = 0; i < batch.size(); ++i) writer.add(batch[i], true);
  writer.finish(0);
  const std::string path = folder.write("old", content);
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(path, {}); }),
            path + ":2:1: expected an importance from 0 to 1e12, found 1e+25");
  const Content read = content_of(path, skipping());
  EXPECT_EQ(read.bad_lines, 1U);
  EXPECT_EQ(read.examples.size(), 2U);
}

class DamagedBinary : public ::testing::Test {
 protected:
  DamagedBinary() {
    std::string text;
    for (int i = 0; i < 23; ++i) text += "y" + std::to_string(i % 9) + " |f x" + std::to_string(i) + ":0.5 x\n";
    const std::string path = folder_.write("text", text);
    sound_ = binary_of({path}, {}, kSmall);
    examples_ = content_of(path, {}).examples;
  }

  // What a reader that skips makes of it; the reason, where it reads nothing at all.
  std::string read_damaged(const std::string& content, Content& read) const {
    const std::string path = folder_.write("damaged", content);
    try {
      read = content_of(path, skipping());
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kBadData) << error.what();
      return error.what();
    }
    EXPECT_NE(error_of(Fault::kBadData, [&] { content_of(path, {}); }), "") << "nothing is told where none are skipped";
    return "";
  }

  // Some of the examples, in their order.
  void expect_part(const std::vector<WholeExample>& found) const {
    auto next = examples_.begin();
    for (const WholeExample& one : found) {
      next = std::find_if(next, examples_.end(), [&](const WholeExample& sound) {
        return sound.label == one.label && sound.features == one.features && sound.values == one.values &&
               sound.importance == one.importance;
      });
      ASSERT_NE(next, examples_.end()) << "not an example of the shard";
      ++next;
    }
  }

  // Where the head of block 1, 2, ... begins.
  std::size_t block(std::size_t number) const { return offsets_of("BLK1", sound_).at(number - 1); }

  std::string with_flipped_byte(std::size_t byte) const { return flipped(sound_, byte, 1); }

  // In the part that comes before the second block. Of five blocks, the first three share a list, and so do the last
  // two.
  std::string with_damaged_list() const {
    return with_flipped_byte(offsets_of("FEAT", sound_).at(1) + sizeof(BlockHead) + 20);
  }

  Folder folder_;
  std::string sound_;
  std::vector<WholeExample> examples_;
};

TEST_F(DamagedBinary, IsNoticedWhateverByteIsFlipped) {
  std::size_t blocks_skipped = 0;
  for (std::size_t i = 0; i < sound_.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    Content read;
    if (!read_damaged(flipped(sound_, i, 0x20), read).empty()) continue;
    ASSERT_GE(read.bad_lines, 1U);
    ASSERT_LE(read.bad_lines, 3U) << "as many as blocks share a list";
    ASSERT_NO_FATAL_FAILURE(expect_part(read.examples));
    // Of a block alone, five examples are lost.
    if (read.examples.size() == examples_.size() - 5) ++blocks_skipped;
  }
  EXPECT_GT(blocks_skipped, 100U);
}

TEST_F(DamagedBinary, IsNoticedWhereverItIsCut) {
  for (std::size_t bytes = 1; bytes < sound_.size(); ++bytes) {
    SCOPED_TRACE("cut to " + std::to_string(bytes));
    Content read;
    if (!read_damaged(sound_.substr(0, bytes), read).empty()) continue;
    ASSERT_EQ(read.bad_lines, 1U);
    ASSERT_NO_FATAL_FAILURE(expect_part(read.examples));
    const std::string first_missing = std::to_string(read.examples.size() + 1);
    ASSERT_THAT(read.warnings,
                ElementsAre(StartsWith("skipped: " + folder_.path("damaged") + ":" + first_missing + ":1: expected ")));
  }
}

TEST_F(DamagedBinary, SaysHowManyLinesTheBlockHasThatBreaksOff) {
  const std::string reason = ":1: expected a sound block of a binary shard, found the end of the file";
  const std::string path = folder_.write("damaged", sound_.substr(0, block(2) + sizeof(BlockHead) + 3));
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(path, {}); }),
            path + ":6" + reason + "; 5 lines in it cannot be read");
  EXPECT_THAT(content_of(path, skipping()).warnings,
              ElementsAre("skipped: " + path + ":6" + reason + "; 5 lines in it cannot be read"));
  folder_.write("damaged", sound_.substr(0, block(5) - 3 + sound_.substr(block(5)).find("INDX")));
  EXPECT_THAT(content_of(path, skipping()).warnings,
              ElementsAre("skipped: " + path + ":21" + reason + "; 3 lines in it cannot be read"));
  folder_.write("damaged", sound_.substr(0, block(2) + 3));
  EXPECT_THAT(content_of(path, skipping()).warnings, ElementsAre("skipped: " + path + ":6" + reason));
}

TEST_F(DamagedBinary, SaysHowManyLinesTheBlockHasWhereItsCompressionBreaksOff) {
  std::size_t broken_blocks = 0;
  const std::string packed = gzip(sound_);
  for (std::size_t bytes = packed.size() / 2; bytes < packed.size(); ++bytes) {
    SCOPED_TRACE("cut to " + std::to_string(bytes));
    const std::string path = folder_.write("damaged", packed.substr(0, bytes));
    const Content read = content_of(path, skipping());
    ASSERT_EQ(read.warnings.size(), 1U);
    const std::string place = "skipped: " + path + ":" + std::to_string(read.examples.size() + 1) + ":1: expected ";
    ASSERT_THAT(read.warnings[0], StartsWith(place));
    if (!read.warnings[0].ends_with(" lines in it cannot be read")) continue;
    const std::string lines = read.examples.size() < 20 ? "5" : "3";
    ASSERT_EQ(read.warnings[0], place +
                                    "a sound block of a binary shard, found one that breaks off: expected the rest "
                                    "of a gzip stream, found its end at byte " +
                                    std::to_string(bytes) + "; " + lines + " lines in it cannot be read");
    ++broken_blocks;
  }
  EXPECT_GT(broken_blocks, 10U);
}

TEST_F(DamagedBinary, BreaksOffBehindADamagedBlock) {
  const std::string path =
      folder_.write("damaged", with_flipped_byte(block(2) + sizeof(BlockHead) + 3).substr(0, block(3) + 3));
  const Content read = content_of(path, skipping());
  EXPECT_EQ(read.examples.size(), 5U);
  EXPECT_THAT(
      read.warnings,
      ElementsAre(AllOf(StartsWith("skipped: " + path + ":6:1: "), EndsWith("; 5 lines in it cannot be read")),
                  "skipped: " + path + ":11:1: expected a sound block of a binary shard, found the end of the file"));
}

TEST_F(DamagedBinary, SaysWhichLinesAreMissingBehindACursor) {
  const std::string path = folder_.write("damaged", sound_);
  ExampleStream sound = stream_of({path}, skipping());
  const Reading before = read_lines(sound);
  const std::size_t inside = block(2) + sizeof(BlockHead) + 3;
  for (const std::string& damaged : {sound_.substr(0, inside), with_flipped_byte(inside)}) {
    folder_.write("damaged", damaged);
    ExampleStream rest(find_shards({path}), {0}, skipping(), before.cursors.at(7));
    const std::vector<Read> read = read_rest(rest);
    EXPECT_EQ(read.size(), damaged.size() < sound_.size() ? 0U : 13U);
    EXPECT_THAT(rest.take_warnings(), ElementsAre(AllOf(StartsWith("skipped: " + path + ":8:1: "),
                                                        EndsWith("; 3 lines in it cannot be read"))));
  }
}

TEST_F(DamagedBinary, SaysWhatIsWrong) {
  const std::size_t begin = block(1);
  const std::string path = folder_.write("damaged", with_flipped_byte(begin + 60));
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(path, {}); }),
            path + ":1:1: expected a sound block of a binary shard, found a damaged one at byte " +
                std::to_string(begin) + "; 5 lines in it cannot be read");
  folder_.write("damaged", sound_.substr(0, sound_.size() - 30));
  EXPECT_EQ(error_of(Fault::kBadData, [&] { content_of(path, {}); }),
            path + ":24:1: expected a sound block of a binary shard, found the end of the file");
}

TEST_F(DamagedBinary, ListCostsTheBlocksThatNeedIt) {
  const std::size_t second = offsets_of("FEAT", sound_).at(1);
  const std::string path = folder_.write("damaged", with_damaged_list());
  ExampleStream stream = stream_of({path}, skipping());
  EXPECT_EQ(labels_of(read_rest(stream)), "y0 y1 y2 y3 y4 y6 y7 y8 y0 y1 y2 y3 y4");
  const std::string reason =
      ": expected a sound list of the features of a block, found a damaged one at byte " + std::to_string(second);
  EXPECT_EQ(stream.take_warnings(),
            (std::vector<std::string>{"skipped: " + path + ":6:1" + reason + "; 5 lines in it cannot be read",
                                      "skipped: " + path + ":11:1" + reason + "; 5 lines in it cannot be read"}));
}

TEST_F(DamagedBinary, ListIsMissedBehindACursorToo) {
  const std::string path = folder_.write("damaged", sound_);
  ExampleStream sound = stream_of({path}, skipping());
  const Reading before = read_lines(sound);
  folder_.write("damaged", with_damaged_list());
  ExampleStream rest(find_shards({path}), {0}, skipping(), before.cursors.at(12));
  EXPECT_EQ(labels_of(read_rest(rest)), "y6 y7 y8 y0 y1 y2 y3 y4");
  EXPECT_EQ(rest.bad_lines(), 1U);
}

TEST_F(DamagedBinary, IsNoticedWhereAPartOfTheListIsMissingOrThereTwice) {
  const std::vector<std::size_t> lists = offsets_of("FEAT", sound_);
  EXPECT_EQ(lists.size(), 5U);
  for (const std::size_t at : lists) {
    SCOPED_TRACE("list at " + std::to_string(at));
    BlockHead head;
    std::memcpy(&head, sound_.data() + at, sizeof head);
    const std::size_t bytes = sizeof head + head.stored_bytes;
    for (const std::string& damaged :
         {sound_.substr(0, at) + sound_.substr(at + bytes), sound_.substr(0, at + bytes) + sound_.substr(at)}) {
      Content read;
      ASSERT_EQ(read_damaged(damaged, read), "");
      EXPECT_GE(read.bad_lines, 1U);
      EXPECT_LE(read.examples.size(), examples_.size() - 3);
      ASSERT_NO_FATAL_FAILURE(expect_part(read.examples));
    }
  }
}

// Two shards in one file, or one without a block of its middle.
TEST_F(DamagedBinary, IsNoticedWherePartsAreMissingOrTooMany) {
  Content read;
  read_damaged(sound_ + sound_, read);
  EXPECT_EQ(read.examples.size(), examples_.size());
  EXPECT_EQ(read.bad_lines, 1U);
  const std::vector<std::size_t> lists = offsets_of("FEAT", sound_);
  read_damaged(sound_.substr(0, lists[0]) + sound_.substr(lists[1]), read);
  EXPECT_EQ(read.examples.size(), 0U);
  EXPECT_EQ(read.bad_lines, 1U);
}

}  // namespace
}  // namespace cpt
