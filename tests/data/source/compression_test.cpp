#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

struct Packer {
  std::string name;
  std::function<std::string(std::string_view)> pack;
};

const std::vector<Packer>& packers() {
  static const std::vector<Packer> kAll = {{"gzip", [](std::string_view text) { return gzip(text); }},
                                           {"zstd", [](std::string_view text) { return zstd(text); }}};
  return kAll;
}

constexpr std::string_view kText = "u |f a b c\nv |f b:2\nw |g d\n";

// Texts of a few lines, and of more than every buffer.
TEST(Compression, IsKnownByContentWhateverTheName) {
  const Folder folder;
  for (const std::string& text : {std::string(kText), numbered_lines(0, 100'000)}) {
    const auto expected = read_all({folder.write("plain.gz", text)});
    EXPECT_GE(expected.size(), 3U);
    for (const Packer& c : packers()) {
      EXPECT_EQ(read_all({folder.write(c.name + ".txt", c.pack(text))}), expected) << c.name;
    }
  }
}

TEST(Compression, MembersAndFramesFollowOneAnother) {
  const Folder folder;
  for (const Packer& c : packers()) {
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
  for (const Packer& c : packers()) {
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

// Nothing of a partial line is learned, and the shard beside it is read to its end.
TEST(Compression, TruncationEndsItsShardOnlyWhenSkipping) {
  const Folder folder;
  const std::string text = numbered_lines(0, 20'000);
  const auto whole = read_all({folder.write("plain", text)});
  for (const Packer& c : packers()) {
    const std::string packed = c.pack(text);
    const std::string sound = folder.write("sound", packed);
    for (const std::size_t bytes : {packed.size() / 3, packed.size() / 2, packed.size() - 1}) {
      SCOPED_TRACE(c.name + " " + std::to_string(bytes));
      const std::string cut = folder.write("cut", packed.substr(0, bytes));
      ExampleStream stream = stream_of({cut, sound}, skipping());
      std::vector<std::vector<Read>> examples(2);
      for (Read& read : read_rest(stream)) examples[std::exchange(read.shard, 0)].push_back(read);
      ASSERT_LE(examples[0].size(), whole.size());
      EXPECT_TRUE(std::equal(examples[0].begin(), examples[0].end(), whole.begin()));
      EXPECT_EQ(examples[1], whole);
      EXPECT_EQ(stream.bad_lines(), 1U);
      EXPECT_TRUE(stream.take_warnings().at(0).starts_with("skipped: " + cut + ":"));
    }
  }
}

// The headers carry bytes that mean nothing (times, hints); from the end of the header on, a checksum sees everything.
TEST(Compression, EveryFlippedByteIsNoticedOrHarmless) {
  const Folder folder;
  const auto expected = read_all({folder.write("plain", kText)});
  for (const Packer& c : packers()) {
    const std::string packed = c.pack(kText);
    int noticed = 0;
    for (std::size_t i = 4; i < packed.size(); ++i) {
      const std::string path = folder.write("broken", flipped(packed, i, 0x10));
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

TEST(Compression, OthersAreRefusedByName) {
  const Folder folder;
  for (const auto& [content, name] :
       std::vector<std::pair<std::string, std::string>>{{"BZh91AY&SY.", "bzip2"},
                                                        {std::string("\3757zXZ\0\0\4", 8), "xz"},
                                                        {"PK\3\4.......", "zip"},
                                                        {"\4\x22M\x18....", "lz4"}}) {
    const std::string path = folder.write("a", content);
    EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
              path + ": is compressed with " + name + ", which is not read: decompress it first, or into a pipe");
  }
  for (const std::string& content : {std::string("\xff\xfe"
                                                 "a\0|\0",
                                                 6),
                                     std::string("\xfe\xff\0a\0|", 6)}) {
    const std::string path = folder.write("wide.csv", content);
    EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
              path + ": is UTF-16 text, which is not read: convert it to UTF-8 first (iconv -f UTF-16)");
  }
  for (const std::string label : {"BZh", "BZh9", "PK", "PK\3", "xz"}) {
    EXPECT_EQ(labels_of(read_all({folder.write("a", label + "|f")})), label);
  }
}

TEST(Compression, ContentWithZeroBytesIsNotTakenForText) {
  const Folder folder;
  const std::string path = folder.write("a", std::string("a.vw\0\0000644\0 | x\n", 16));
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
            path +
                ": is not text: its first line holds a zero byte; if it is an archive, Parquet or UTF-16, make UTF-8 "
                "text of it first");
  ReadOptions named;
  named.format = Format::kVw;
  named.labels_required = false;
  EXPECT_EQ(read_all({folder.write("b", std::string("a |f x\0y\n", 9))}, named).size(), 1U) << "names hold any byte";
}

TEST(Compression, GarbageAfterAStreamIsDamage) {
  const Folder folder;
  for (const Packer& c : packers()) {
    const std::string path = folder.write("tail", c.pack(kText) + "garbage");
    const std::string reason = error_of(Fault::kBadData, [&] { read_all({path}); });
    EXPECT_TRUE(reason.starts_with(path + ":4:1: expected a sound " + c.name + " stream, found ")) << reason;
  }
}

}  // namespace
}  // namespace cpt
