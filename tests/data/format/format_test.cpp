#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"
#include "data/text/line_parser.h"

namespace cpt {
namespace {

TEST(Format, IsToldByTheLookOfALine) {
  EXPECT_EQ(detect_format("__label__a b | c"), Format::kFasttext);
  EXPECT_EQ(detect_format("1 |f a"), Format::kVw);
  EXPECT_EQ(detect_format("1 1:1 |f a"), Format::kVw);
  EXPECT_EQ(detect_format("1 3:0.5 4:1"), Format::kLibsvm);
  EXPECT_EQ(detect_format("1,2 3:0.5"), Format::kLibsvm);
  EXPECT_EQ(detect_format("3:0.5"), Format::kLibsvm);
  EXPECT_EQ(detect_format("100 20 3"), Format::kLibsvm);
  for (const char* line : {"hello world", "93", "1 2", "1 2 3 4", "a b:1", "1 3:1 word", "{\"x\": 1}", "a,b,c"}) {
    EXPECT_EQ(detect_format(line), std::nullopt) << line;
  }
}

TEST(Format, IsToldForEachShardByItsFirstLineThatIsNotBlank) {
  const Folder folder;
  const auto examples = read_all(
      {folder.write("a", "\n \t\r\nu |f a\n"), folder.write("b", "v 1:1\n"), folder.write("c", "__label__w x\n")});
  EXPECT_EQ(labels_of(examples), "u v w");
}

TEST(Format, ThatCannotBeToldIsAnErrorEvenWhenSkipping) {
  const Folder folder;
  const std::string path = folder.write("a", "\nhello world\n");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
            path +
                ":2:1: expected a line in vw, libsvm or fasttext format, found 'hello world'; "
                "name the format with --format");
}

TEST(Format, OfAForeignCompressionIsRefusedByName) {
  const Folder folder;
  for (const auto& [content, name] : std::vector<std::pair<std::string, std::string>>{
           {"BZh91AY&SY.", "bzip2"}, {std::string("\3757zXZ\0\0\4", 8), "xz"}, {"PK\3\4.......", "zip"}}) {
    const std::string path = folder.write("a", content);
    EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
              path + ": is compressed with " + name + ", which is not read: decompress it first, or into a pipe");
  }
  for (const std::string label : {"BZh", "BZh9", "PK", "PK\3", "xz"}) {
    EXPECT_EQ(labels_of(read_all({folder.write("a", label + "|f")})), label);
  }
}

TEST(Format, GivenByNameIsNotGuessed) {
  const Folder folder;
  ReadOptions options;
  options.format = Format::kVw;
  EXPECT_EQ(labels_of(read_all({folder.write("a", "__label__a |f x\n")}, options)), "__label__a");
}

}  // namespace
}  // namespace cpt
