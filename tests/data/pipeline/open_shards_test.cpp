// What shards that are open together take, counted by the allocator.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

std::uint64_t bytes_in_use() {
  const struct mallinfo2 memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
}

// Takes a line of each shard; returns what they hold then, beside a stream of one of them.
std::uint64_t bytes_held(const std::vector<std::string>& paths) {
  const auto held = [](const std::vector<std::string>& some) {
    const std::uint64_t before = bytes_in_use();
    ExampleStream stream = stream_of(some);
    Batch batch = stream.make_batch();
    for (std::size_t i = 0; i < some.size(); ++i, batch.clear()) EXPECT_TRUE(stream.read(batch));
    return bytes_in_use() - before;
  };
  const std::uint64_t of_one = held({paths.front()});
  if (of_one == 0) return 0;
  return held(paths) - of_one;
}

class OpenShards : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<char> some(1000);
    const std::uint64_t before = bytes_in_use();
    const std::vector<char> more(std::size_t{1} << 20);
    if (bytes_in_use() - before < more.size()) GTEST_SKIP() << "another allocator than that of the C library counts";
  }

  std::vector<std::string> shards(std::size_t count, const std::string& content) const {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i) paths.push_back(folder_.write(std::to_string(i), content));
    return paths;
  }

  const Folder folder_;
};

TEST_F(OpenShards, ShareTheBuffersOfLines) {
  constexpr std::uint64_t kCount = 3000;
  EXPECT_EQ(most_line_buffers(100), 100U << 16);
  EXPECT_LE(most_line_buffers(kCount), 1U << 26);
  EXPECT_LE(bytes_held(shards(kCount, "a |f x\nb |f y\n")), (1U << 26) + 4096 * kCount);
}

// Of a block as it is in a shard or on the way to examples, nothing is kept.
TEST_F(OpenShards, KeepTheExamplesOfABlockAndNoMore) {
  constexpr std::size_t kCount = 30;
  constexpr std::size_t kLines = 8000;
  constexpr std::size_t kWords = 12;
  std::string text;
  for (std::size_t i = 0; i < kLines; ++i) {
    text += "a |f";
    for (std::size_t w = 0; w < kWords; ++w) text += " w" + std::to_string(i * (w + 1) % 5000);
    text += "\n";
  }
  const std::string content = binary_of({folder_.write("text", text)});
  const std::uint64_t of_features = sizeof(std::uint16_t) * kLines * kWords;
  const std::uint64_t of_examples = 3 * sizeof(std::uint32_t) * kLines;
  const std::uint64_t of_list = 2 * 2 * sizeof(FeatureHash) * 5000;
  EXPECT_LE(bytes_held(shards(kCount, content)), kCount * (of_features + of_examples + of_list + 10'000));
}

// Lines longer than a buffer are read, too, and leave nothing behind.
TEST_F(OpenShards, ReadLinesLongerThanTheirBuffers) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += numbered_lines(i, i + 1) + "long |f " + std::string(20'000, 'x') + "\n";
  std::vector<std::string> paths = shards(4000, "a |f x\n");
  paths.push_back(folder_.write("long", text));
  const std::vector<Read> alone = read_all({paths.back()});
  std::vector<Read> together = read_all(paths);
  together.erase(together.begin(), together.begin() + 4000);
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(together[i].label, alone[i].label);
    EXPECT_EQ(together[i].x, alone[i].x);
  }
}

}  // namespace
}  // namespace cpt
