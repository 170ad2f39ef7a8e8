// How much text a shard stands for, as told by its size, its first bytes and the index of a binary one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "data/binary.h"
#include "data/binary/binary_index.h"
#include "data/folder.h"

namespace cpt {
namespace {

std::uint64_t estimate(const std::string& path) { return estimated_text_bytes(find_shards({path}).at(0)); }

TEST(EstimatedTextBytes, OfTextAreItsOwn) {
  const Folder folder;
  EXPECT_EQ(estimate(folder.write("empty", "")), 0U);
  EXPECT_EQ(estimate(folder.write("tiny", "l")), 1U);
  EXPECT_EQ(estimate(folder.write("text", numbered_lines(0, 100))), numbered_lines(0, 100).size());
}

TEST(EstimatedTextBytes, OfBinaryShardsAreThoseOfTheTextTheyWereMadeOf) {
  const Folder folder;
  const std::string path = folder.write("text", numbered_lines(0, 500));
  EXPECT_EQ(estimate(folder.write("binary", binary_of({path}, {}, {}, 123'456))), 123'456U);
  EXPECT_EQ(estimate(folder.write("binary", binary_of({path}, {.seed = 77}, {}, 123'456))), 123'456U);
}

TEST(EstimatedTextBytes, OfOtherFilesAreThreeTimesTheirOwn) {
  const Folder folder;
  const std::string text = numbered_lines(0, 500);
  const std::string path = folder.write("text", text);
  const std::string binary = binary_of({path}, {}, {}, 123'456);
  std::string damaged = binary;
  damaged[binary.size() - 60] ^= 1;  // in the index or its head
  for (const std::string& packed : {gzip(text), zstd(text), gzip(binary), binary_of({path}), damaged,
                                    binary.substr(0, binary.size() - 1), binary.substr(0, 9)}) {
    EXPECT_EQ(estimate(folder.write("packed", packed)), 3 * packed.size()) << packed.size();
  }
}

TEST(EstimatedTextBytes, OfPipesAreUnknownAndTakeNoWaiting) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(estimate(folder.path("pipe")), 0U);
  EXPECT_EQ(estimated_text_bytes({"-", 0, false}), 0U);
}

TEST(EstimatedTextBytes, OfAFileThatIsGoneAreAnError) {
  const Folder folder;
  EXPECT_NE(error_of(Fault::kNoInput, [&] { estimated_text_bytes({folder.path("gone"), 5}); }), "");
}

}  // namespace
}  // namespace cpt
