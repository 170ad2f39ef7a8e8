// A stream that goes on at cursors reads what the stream before it had left.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/lines.h"
#include "data/random_shards.h"
#include "data/reading.h"
#include "data/shards/shards.h"

namespace cpt {
namespace {

// 1 to 5 shards in the folder, some of them empty, packed or binary, to be read in either order.
Input random_input(RandomShards& random, const Folder& folder, ReadOptions options) {
  options.order = random.below(2) == 0 ? ShardOrder::kInterleaved : ShardOrder::kSequential;
  std::vector<std::string> paths;
  for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
    const auto format = static_cast<Format>(1 + random.below(3));
    std::string content = random.text(format, random.below(3) * random.below(20));
    if (random.below(5) == 0) content = binary_of({folder.write("text", content)}, options, {5, 40, 16});
    paths.push_back(folder.write(std::to_string(left), random.packed(content)));
  }
  return input_of(paths, std::move(options));
}

// Lines like "y0 |f x0", with that many labels, and numbers of features that are `step` apart.
std::string many_lines(int count, int labels = 10, int step = 1) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "y" + std::to_string(i % labels) + " |f x" + std::to_string(i * step % 40'000) + "\n";
  }
  return text;
}

TEST(Cursor, EveryLineOfRandomShardsIsAPlaceToGoOn) {
  std::uint64_t lines = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    ReadOptions options = skipping();
    options.multilabel = random.below(2) == 0 ? MultiLabel::kSplit : MultiLabel::kSample;
    const Input input = random_input(random, folder, options);
    ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(input));
    ExampleStream all = input.stream();
    lines += read_lines(all).lines.size();
  }
  EXPECT_GT(lines, 1000U) << "of a few only, not much is shown";
}

TEST(Cursor, CountsToTheEndOfItsLine) {
  const Folder folder;
  const Input input = input_of({folder.write("a", "a |f x\r\n\nbad\nb |f y\nbad\nc |f z")}, skipping());
  ExampleStream stream = input.stream();
  const Reading reading = read_lines(stream);
  ASSERT_EQ(reading.cursors.size(), 4U);
  EXPECT_EQ(reading.cursors[0][0], Cursor());
  EXPECT_EQ(reading.cursors[1][0], (Cursor{8, 1, 1, 1, 0, 2}));
  EXPECT_EQ(reading.cursors[2][0], (Cursor{20, 4, 2, 2, 1, 4}));
  EXPECT_EQ(reading.cursors[3][0], (Cursor{30, 6, 3, 3, 2, 6}));
  EXPECT_EQ(reading.end, reading.cursors[3]);
}

TEST(Cursor, AtTheEndCountsAllLines) {
  const Folder folder;
  const Input input =
      input_of({folder.write("0", "a |f x\nbad\n\n"), folder.write("1", ""), folder.write("2", "\n ")}, skipping());
  ExampleStream stream = input.stream();
  EXPECT_EQ(read_lines(stream).end, (std::vector<Cursor>{{12, 3, 1, 1, 1, 2}, {}, {2, 2, 0, 0, 0, 0}}));
}

// Shards of more than every buffer.
TEST(Cursor, GoesOnFarInsideAShard) {
  const Folder folder;
  const std::string text = many_lines(40'000);
  for (const std::string& content : {text, gzip(text), zstd(text)}) {
    const Input input = input_of({folder.write("a", content)});
    ExampleStream all = input.stream();
    const Reading expected = read_lines(all);
    for (const std::size_t done : {1U, 5000U, 39'999U, 40'000U}) {
      ExampleStream rest = input.stream(expected.cursors.at(done));
      const Reading reading = read_lines(rest);
      ASSERT_EQ(reading.lines.size(), expected.lines.size() - done);
      EXPECT_TRUE(std::equal(reading.lines.begin(), reading.lines.end(),
                             expected.lines.begin() + static_cast<std::ptrdiff_t>(done)));
      EXPECT_EQ(reading.end, expected.end);
    }
  }
}

TEST(Cursor, IsGoneToInAllShardsAtOnce) {
  const Folder folder;
  const std::string text = many_lines(40'000);
  const Input input = input_of({folder.write("a", gzip(text)), folder.write("b", zstd(text)), folder.write("c", text)});
  ExampleStream all = input.stream();
  const Reading expected = read_lines(all);
  ExampleStream fresh = input.stream();
  fresh.go_to_cursors([] {});
  EXPECT_EQ(fresh.part_read(), 0) << "nothing is to be skipped";
  ExampleStream rest = input.stream(expected.cursors.at(119'000));
  std::size_t signs_of_life = 0;
  rest.go_to_cursors([&] { ++signs_of_life; });
  EXPECT_GT(signs_of_life, 5U);
  EXPECT_GT(rest.part_read(), 0.9);
  const Reading reading = read_lines(rest);
  EXPECT_TRUE(
      std::equal(reading.lines.begin(), reading.lines.end(), expected.lines.begin() + 119'000, expected.lines.end()));
  EXPECT_EQ(reading.end, expected.end);
}

TEST(Cursor, SkippingEndsWhereTheSignOfLifeThrows) {
  const Folder folder;
  const std::string text = many_lines(40'000, 1, 7919);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    const Input input = input_of({folder.write("a", packed), folder.write("b", packed)});
    const std::vector<Cursor> ends(2, {text.size(), 40'000, 40'000, 40'000, 0, 80'000});
    ExampleStream stream = input.stream(ends);
    int calls = 0;
    const auto skip = [&] {
      stream.go_to_cursors([&] {
        if (++calls == 2) throw Error(Fault::kNoInput, "stuck");
      });
    };
    EXPECT_EQ(error_of(Fault::kNoInput, skip), "stuck");
    EXPECT_EQ(calls, 2);
  }
}

TEST(Cursor, ThatCannotBeGoneToFailsWhenItsLineIsDue) {
  const Folder folder;
  const Input input = input_of({folder.write("a", "a |f x\nb |f x\n"), folder.write("b", "c |f x\n")});
  ExampleStream stream = input.stream({{7, 1, 1, 1, 0, 2}, {70, 10, 1, 10, 0, 20}});
  stream.go_to_cursors([] {});
  Batch batch = stream.make_batch();
  EXPECT_TRUE(stream.read(batch));
  EXPECT_THROW(stream.read(batch), Error);
}

// The fasttext line is bad in a shard that began as libsvm; a stream that began with it would take it.
TEST(Cursor, FormatsAreToldByTheFirstLineOfTheShard) {
  const Folder folder;
  const Input input = input_of({folder.write("a", "\n1 1:1\n__label__a w\n__label__b w\n2 1:1\n")}, skipping());
  ExampleStream stream = input.stream({{7, 2, 1, 1, 0}});
  const Reading reading = read_lines(stream);
  ASSERT_EQ(reading.lines.size(), 1U);
  EXPECT_EQ(reading.lines[0][0].origin, (Origin{0, 5, 1, 39, 2}));
}

TEST(Cursor, AHeaderIsAMatterOfTheFirstLine) {
  const Folder folder;
  const Input input =
      input_of({folder.write("a", "1 1:1\n3 10 5\n2 1:1\n")}, {.format = Format::kLibsvm, .skip_bad_lines = true});
  ExampleStream stream = input.stream({{6, 1, 1, 1, 0}});
  read_lines(stream);
  EXPECT_EQ(stream.bad_lines(), 1U);
}

// As when some shards ended long ago, which nobody knows before they are looked at.
TEST(Cursor, InterleavedOrderGoesOnAfterShardsThatEnded) {
  const Folder folder;
  const std::string short_one = folder.write("1", "a |f x\nbad\n");
  const std::string text = "b |f x\nc |f x\nd |f x\ne |f x\n";
  const std::string second = folder.write("2", text);
  const std::string third = folder.write("3", text);
  for (const std::vector<std::string>& paths : std::vector<std::vector<std::string>>{
           {short_one, second, third}, {second, short_one, third}, {second, third, short_one}}) {
    expect_to_go_on_anywhere(input_of(paths, skipping()));
  }
}

// Only the shards of a rank have cursors.
TEST(Cursor, CursorsAreParallelToTheShardsOfTheStream) {
  const Folder folder;
  Input input = input_of({folder.write("0", "a |f x\nb |f x\n"), folder.write("1", "c |f x\nd |f x\n"),
                          folder.write("2", "e |f x\nf |f x\n")});
  input.mine = {0, 2};
  expect_to_go_on_anywhere(input);
}

TEST(Cursor, BadLinesBeforeItAreCountedButNotToldAgain) {
  const Folder folder;
  const Input input = input_of({folder.write("a", "a |f x\nbad\nb |f x\nbad\n")}, skipping());
  ExampleStream rest = input.stream({{18, 3, 2, 2, 1}});
  EXPECT_EQ(rest.bad_lines(), 1U);
  read_lines(rest);
  EXPECT_EQ(rest.bad_lines(), 2U);
  EXPECT_EQ(rest.take_warnings().size(), 1U);
  ExampleStream silent = input.stream({{18, 3, 2, 2, ExampleStream::kWarnings}});
  read_lines(silent);
  EXPECT_EQ(silent.take_warnings().size(), 0U);
}

TEST(Cursor, SkippedBytesCountAsRead) {
  const Folder folder;
  const std::string half = many_lines(40'000);
  const Input input = input_of({folder.write("a", half + half)});
  ExampleStream stream = input.stream({{half.size(), 40'000, 40'000, 40'000, 0}});
  EXPECT_EQ(stream.part_read(), 0);
  Batch batch = stream.make_batch();
  ASSERT_TRUE(stream.read(batch));
  EXPECT_GE(stream.part_read(), 0.5);
  EXPECT_LT(stream.part_read(), 0.7);
}

TEST(Cursor, ContentThatEndsBeforeItIsAnError) {
  const Folder folder;
  const std::string text = "a |f x\nb |f x\n";
  for (const ReadOptions& options : {ReadOptions{}, skipping()}) {
    for (const std::string& content : {text, gzip(text), zstd(text)}) {
      const std::string path = folder.write("a", content);
      const Input input = input_of({path}, options);
      for (const std::uint64_t bytes : {15U, 1'000'000U}) {
        ExampleStream stream = input.stream({{bytes, 2, 2, 2, 0}});
        EXPECT_EQ(error_of(Fault::kBadData, [&] { read_lines(stream); }),
                  path + ": expected at least " + std::to_string(bytes) +
                      " bytes of content, which were read before, found 14");
      }
    }
  }
}

TEST(Cursor, APipeIsReadFromItsBeginningOnly) {
  const Folder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Input input = input_of({path, "-"});
  EXPECT_NO_THROW(input.stream({{}, {}}));
  const auto refusal = [&](const std::vector<Cursor>& cursors) {
    return error_of(Fault::kFailed, [&] { input.stream(cursors); });
  };
  const std::string reason = ": a pipe can only be read from its beginning, not from byte ";
  EXPECT_EQ(refusal({{7, 1, 1, 1, 0}, {}}), path + reason + "7");
  EXPECT_EQ(refusal({{}, {9, 1, 1, 1, 0}}), "standard input" + reason + "9");
}

// The same of binary shards, damaged or cut anywhere.
TEST(Cursor, DamageOfBlocksIsMetOnceWhereverTheReadingGoesOn) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "y" + std::to_string(i) + " |f x" + std::to_string(3 * i) + " x" + std::to_string(3 * i + 1) + "\n";
  // The second of three blocks adds to the list of the first, the third one begins it anew.
  const std::string sound = binary_of({folder.write("text", text)}, {}, {5, 40, 22});
  const std::size_t first_block = sound.find("BLK1");
  ASSERT_NE(first_block, std::string::npos);
  for (const bool packed : {false, true}) {
    for (std::size_t bytes = first_block; bytes < sound.size(); bytes += packed ? 7 : 2) {
      SCOPED_TRACE("cut to " + std::to_string(bytes));
      std::string cut = sound.substr(0, bytes);
      if (packed) cut = gzip(cut);
      ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(input_of({folder.write("cut", cut)}, skipping())));
    }
    for (std::size_t i = first_block; i < sound.size(); i += packed ? 13 : 3) {
      SCOPED_TRACE("flipped " + std::to_string(i));
      std::string damaged = flipped(sound, i, 0x10);
      if (packed) damaged = gzip(damaged);
      ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(
          input_of({folder.write("damaged", damaged), folder.write("sound", text)}, skipping())));
    }
  }
}

// zstd decompresses such a frame in one go if there is room for it.
std::string frame_of_known_size(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

// Wherever a compressed shard breaks off or is damaged: what can be read does not depend on where the reading began,
// and the damage is counted once, even if the reading goes on after it.
TEST(Cursor, DamageIsMetOnceWhereverTheReadingGoesOn) {
  const Folder folder;
  std::string text;
  RandomShards random(1);
  for (int i = 0; i < 12; ++i) text += "y" + std::to_string(i) + " |f x" + std::to_string(random.below(1000)) + "\n";
  for (const std::string& packed :
       {gzip(text) + gzip(text), zstd(text) + zstd(text), frame_of_known_size(text) + frame_of_known_size(text)}) {
    for (std::size_t bytes = 4; bytes < packed.size(); ++bytes) {
      SCOPED_TRACE("cut to " + std::to_string(bytes));
      ASSERT_NO_FATAL_FAILURE(
          expect_to_go_on_anywhere(input_of({folder.write("cut", packed.substr(0, bytes))}, skipping())));
    }
    for (std::size_t i = 4; i < packed.size(); i += 3) {
      SCOPED_TRACE("flipped " + std::to_string(i));
      const Input input =
          input_of({folder.write("damaged", flipped(packed, i, 0x10)), folder.write("sound", text)}, skipping());
      ExampleStream stream = input.stream();
      const std::string reason = error_of(Fault::kBadData, [&] { read_lines(stream); });  // if no line shows the format
      if (reason.empty()) {
        ASSERT_NO_FATAL_FAILURE(expect_to_go_on_anywhere(input));
      }
    }
  }
}

}  // namespace
}  // namespace cpt
