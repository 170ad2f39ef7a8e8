#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

struct Compression {
  std::string name;
  std::function<std::string(std::string_view)> pack;
};

const std::vector<Compression>& compressions() {
  static const std::vector<Compression> kAll = {{"gzip", [](std::string_view text) { return gzip(text); }},
                                                {"zstd", [](std::string_view text) { return zstd(text); }}};
  return kAll;
}

constexpr std::string_view kText = "u |f a b c\nv |f b:2\nw |g d\n";

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + " |f a" + std::to_string(i * 7919 % 1000) + "\n";
  return text;
}

TEST(Compression, IsKnownByContentWhateverTheName) {
  const Folder folder;
  const auto expected = read_all({folder.write("plain.gz", kText)});
  EXPECT_EQ(labels_of(expected), "u v w");
  for (const Compression& c : compressions()) {
    EXPECT_EQ(read_all({folder.write(c.name + ".txt", c.pack(kText))}), expected) << c.name;
  }
}

TEST(Compression, StreamsLargerThanEveryBuffer) {
  const Folder folder;
  const std::string text = lines(100'000);
  const auto expected = read_all({folder.write("plain", text)});
  for (const Compression& c : compressions()) {
    EXPECT_EQ(read_all({folder.write("packed", c.pack(text))}), expected) << c.name;
  }
}

TEST(Compression, MembersAndFramesFollowOneAnother) {
  const Folder folder;
  for (const Compression& c : compressions()) {
    // Lines go across members; one of them is empty.
    const std::string packed = c.pack("u |f a\nv |") + c.pack("") + c.pack("f b\n") + c.pack("w |f c");
    EXPECT_EQ(labels_of(read_all({folder.write("packed", packed)})), "u v w") << c.name;
    EXPECT_EQ(labels_of(read_all({folder.write("empty", c.pack(""))})), "") << c.name;
  }
}

TEST(Compression, ZstdFramesMayBeSkippableOrHaveLongWindows) {
  const Folder folder;
  const std::string skippable("\x53\x2a\x4d\x18\x02\0\0\0hi", 10);
  EXPECT_EQ(labels_of(read_all({folder.write("skippable", skippable + zstd(kText))})), "u v w");
  EXPECT_EQ(labels_of(read_all({folder.write("long", zstd(kText, 28))})), "u v w");
}

TEST(Compression, TruncationAtEveryLengthIsAnErrorThatNamesTheByte) {
  const Folder folder;
  for (const Compression& c : compressions()) {
    const std::string packed = c.pack(kText);
    // Shorter than its magic number, a file is not known to be compressed; it is no good text either.
    for (std::size_t bytes = 1; bytes < packed.size(); ++bytes) {
      const std::string path = folder.write("cut", packed.substr(0, bytes));
      const std::string reason = error_of(Fault::kBadData, [&] { read_all({path}); });
      EXPECT_TRUE(reason.starts_with(path + ":")) << bytes << reason;
      if (bytes < 4) continue;
      EXPECT_TRUE(reason.ends_with("expected the rest of a " + c.name + " stream, found its end at byte " +
                                   std::to_string(bytes)))
          << reason;
    }
  }
}

TEST(Compression, TruncationNeverLearnsAPartialLine) {
  const Folder folder;
  const std::string text = lines(20'000);
  const auto whole = read_all({folder.write("plain", text)});
  for (const Compression& c : compressions()) {
    const std::string packed = c.pack(text);
    for (const std::size_t bytes : {packed.size() / 3, packed.size() / 2, packed.size() - 1}) {
      ExampleStream stream = stream_of({folder.write("cut", packed.substr(0, bytes))}, skipping());
      const auto examples = read_rest(stream);
      ASSERT_LE(examples.size(), whole.size());
      EXPECT_TRUE(std::equal(examples.begin(), examples.end(), whole.begin())) << c.name << " " << bytes;
      EXPECT_EQ(stream.error_lines(), 1U);
    }
  }
}

TEST(Compression, DamageEndsItsShardOnlyWhenSkipping) {
  const Folder folder;
  for (const Compression& c : compressions()) {
    const std::string packed = c.pack(kText);
    const std::string cut = folder.write("cut", packed.substr(0, packed.size() / 2));
    ExampleStream stream = stream_of({cut, folder.write("sound", packed)}, skipping());
    const auto examples = read_rest(stream);
    ASSERT_GE(examples.size(), 3U);
    std::size_t sound = 0;
    for (const Read& read : examples) sound += read.shard;
    EXPECT_EQ(sound, 3U) << c.name;
    EXPECT_EQ(stream.error_lines(), 1U);
    EXPECT_TRUE(stream.take_warnings().at(0).starts_with("skipped: " + cut + ":")) << c.name;
  }
}

// The headers carry bytes that mean nothing (times, hints); from the end of the header on, a checksum sees everything.
TEST(Compression, EveryFlippedByteIsNoticedOrHarmless) {
  const Folder folder;
  const auto expected = read_all({folder.write("plain", kText)});
  for (const Compression& c : compressions()) {
    const std::string packed = c.pack(kText);
    int noticed = 0;
    for (std::size_t i = 4; i < packed.size(); ++i) {
      std::string broken = packed;
      broken[i] = static_cast<char>(broken[i] ^ 0x10);
      const std::string path = folder.write("broken", broken);
      std::vector<Read> examples;
      const std::string reason = error_of(Fault::kBadData, [&] { examples = read_all({path}); });
      noticed += reason.empty() ? 0 : 1;
      if (reason.empty()) {
        EXPECT_EQ(examples, expected) << c.name << " byte " << i;
      }
    }
    EXPECT_GE(noticed, static_cast<int>(packed.size()) - 12) << c.name;
  }
}

TEST(Compression, ZerosBehindGzipArePadding) {
  const Folder folder;
  const std::vector<Read> expected = read_all({folder.write("plain", kText)});
  for (const std::size_t zeros : {1U, 1000U, 3'000'000U}) {
    const std::string padding(zeros, '\0');
    EXPECT_EQ(read_all({folder.write("padded", gzip(kText) + padding)}), expected) << zeros;
    const std::string path = folder.write("more", gzip(kText) + padding + gzip(kText) + padding);
    EXPECT_EQ(labels_of(read_all({path})),
              labels_of(read_all({folder.write("text", std::string(kText).append(kText))})));
    folder.write("more", gzip(kText) + padding + "garbage");
    EXPECT_NE(error_of(Fault::kBadData, [&] { read_all({path}); }), "") << zeros;
  }
}

TEST(Compression, GarbageAfterAStreamIsDamage) {
  const Folder folder;
  for (const Compression& c : compressions()) {
    const std::string path = folder.write("tail", c.pack(kText) + "garbage");
    const std::string reason = error_of(Fault::kBadData, [&] { read_all({path}); });
    EXPECT_TRUE(reason.starts_with(path + ":4:1: expected a sound " + c.name + " stream, found ")) << reason;
  }
}

}  // namespace
}  // namespace cpt
