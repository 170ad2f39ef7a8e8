#include "data/text/label_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LabelList : public ::testing::Test {
 protected:
  std::string error_of_list(const std::string& content) const {
    return error_of(Fault::kBadData, [&] { read_label_list(folder_.write("list", content)); });
  }

  Folder folder_;
};

TEST_F(LabelList, HasOneLabelALine) {
  EXPECT_THAT(read_label_list(folder_.write("list", "d\r\n\nb\nnever-seen")), ElementsAre("d", "b", "never-seen"));
  EXPECT_THAT(error_of_list("a\nb\na\n"), AllOf(HasSubstr("list:3: expected one label"), HasSubstr("listed before")));
  EXPECT_THAT(error_of_list("a\nb c\n"), HasSubstr("list:2: expected one label, found 'b c'"));
  EXPECT_THAT(error_of_list("\n"), HasSubstr("is empty"));
}

TEST_F(LabelList, ThatIsMissingIsNamed) {
  const std::string error = error_of(Fault::kNoInput, [&] { read_label_list(folder_.path("missing")); });
  EXPECT_THAT(error, AllOf(HasSubstr("missing"), HasSubstr("cannot be read")));
}

}  // namespace
}  // namespace cpt
