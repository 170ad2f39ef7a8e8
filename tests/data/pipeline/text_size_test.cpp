// How much text a shard stands for is told by its size and first bytes.
#include "data/pipeline/text_size.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "data/binary.h"
#include "data/folder.h"

namespace cpt {
namespace {

std::uint64_t estimate(const std::string& path) { return estimated_text_bytes(find_shards({path}).at(0)); }

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "l" + std::to_string(i % 7) + " |a f" + std::to_string(i * 7919 % 1000) + "\n";
  return text;
}

TEST(EstimatedTextBytes, OfTextAreItsOwn) {
  const Folder folder;
  EXPECT_EQ(estimate(folder.write("empty", "")), 0U);
  EXPECT_EQ(estimate(folder.write("tiny", "l")), 1U);
  EXPECT_EQ(estimate(folder.write("text", lines(100))), lines(100).size());
}

// A frame that knows its size, as the program zstd writes it of a file.
std::string sized_zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(EstimatedTextBytes, OfPackedShardsAreWhatTheyTell) {
  const Folder folder;
  const std::string text = lines(500);
  const std::string path = folder.write("text", text);
  EXPECT_EQ(estimate(folder.write("packed", gzip(text))), text.size());
  EXPECT_EQ(estimate(folder.write("packed", sized_zstd(text))), text.size());
  EXPECT_EQ(estimate(folder.write("packed", binary_of({path}, {}, {}, 123'456))), 123'456U);
}

TEST(EstimatedTextBytes, OfPackedShardsThatDoNotTellAreThreeTimesTheirOwn) {
  const Folder folder;
  const std::string text = lines(500);
  const std::string path = folder.write("text", text);
  const std::string binary = binary_of({path}, {}, {}, 123'456);
  std::string damaged = binary;
  damaged[binary.size() - 60] ^= 1;  // in the index or its head
  std::string misleading = binary;
  misleading[binary.size() - 17] ^= 1;  // in what it tells
  for (const std::string& packed : {zstd(text), gzip(text) + gzip("l |a f\n"), binary_of({path}), damaged, misleading,
                                    binary.substr(0, binary.size() - 1), binary.substr(0, 9)}) {
    EXPECT_EQ(estimate(folder.write("packed", packed)), packed.size() * kTextOfPacked) << packed.size();
  }
}

// The end of a gzip file tells its text's size modulo 2^32.
TEST(EstimatedTextBytes, OfLargeGzipFilesAreTheLikeliest) {
  const Folder folder;
  const std::string path = folder.write("large", gzip("x").substr(0, 10));
  constexpr std::uint64_t kPacked = 1'500'000'000;
  constexpr std::uint64_t kText = 6'000'000'000;
  std::filesystem::resize_file(path, kPacked - 4);
  const auto rest = static_cast<std::uint32_t>(kText);
  std::ofstream(path, std::ios::binary | std::ios::app).write(reinterpret_cast<const char*>(&rest), sizeof rest);
  EXPECT_EQ(estimate(path), kText);
}

TEST(EstimatedTextBytes, OfPipesAreNotKnownAndNobodyWaitsForThem) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(estimate(folder.path("pipe")), 0U);
  EXPECT_EQ(estimated_text_bytes({"-", 0, false}), 0U);
}

TEST(EstimatedTextBytes, OfAFileThatIsGoneAreAnError) {
  const Folder folder;
  const Shard shard{folder.path("gone"), 5};
  EXPECT_NE(error_of(Fault::kNoInput, [&] { estimated_text_bytes(shard); }), "");
}

}  // namespace
}  // namespace cpt
