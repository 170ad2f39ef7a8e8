#include <gtest/gtest.h>

#include "data/folder.h"
#include "data/reading.h"
#include "synthetic/web_ads.h"

namespace cpt {
namespace {

const std::vector<WordCount> kWords{{5, 1}, {9, 2}, {131'087, 1}};

std::string line_in(Format format) {
  std::string text = "before\n";
  append_line(format, 17, kWords, text);
  return text.substr(7);
}

TEST(WebAdsLine, EveryFormatAsItsHeaderSays) {
  EXPECT_EQ(line_in(Format::kVw), "ad17 |page w5 w9:2 w131087\n");
  EXPECT_EQ(line_in(Format::kLibsvm), "17 5:1 9:2 131087:1\n");
  EXPECT_EQ(line_in(Format::kFasttext), "__label__ad17 w5 w9 w9 w131087\n");
}

TEST(WebAdsLine, IsReadBack) {
  const Folder folder;
  const auto read_back = [&](Format format) {
    const std::vector<Read> read = read_all({folder.write("log", line_in(format))});
    EXPECT_EQ(read.size(), 1U);
    return read.at(0);
  };
  EXPECT_EQ(read_back(Format::kVw).label, "ad17");
  EXPECT_EQ(read_back(Format::kVw).x, features({{"page", "w5"}, {"page", "w9", 2}, {"page", "w131087"}}));
  EXPECT_EQ(read_back(Format::kLibsvm).label, "17");
  EXPECT_EQ(read_back(Format::kLibsvm).x, features({{"", "5"}, {"", "9", 2}, {"", "131087"}}));
  EXPECT_EQ(read_back(Format::kFasttext).label, "ad17");
  EXPECT_EQ(read_back(Format::kFasttext).x, features({{"", "w5"}, {"", "w9", 2}, {"", "w131087"}}));
}

}  // namespace
}  // namespace cpt
