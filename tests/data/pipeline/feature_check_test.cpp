// Features that are probably not meant as they are read.
#include "data/pipeline/feature_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/folder.h"
#include "data/pipeline/first_look.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FeatureChecks : public ::testing::Test {
 protected:
  std::vector<std::string> warnings(const std::string& name, const std::string& content,
                                    const ReadOptions& options = {}) const {
    const FirstLook look = look_at(find_shards({folder_.write(name, content)}).at(0), options);
    return look.check.warnings(name, look.format);
  }
  // A table of 50 records; the column `n` holds what `number(i)` gives.
  template <class Number>
  static std::string table(Number number) {
    std::string text = "label,user,n,price\n";
    for (int i = 0; i < 50; ++i) {
      text += "l,u" + std::to_string(i % 7) + "," + number(i) + "," + std::to_string(i % 90) + ".5\n";
    }
    return text;
  }

 private:
  Folder folder_;
};

TEST_F(FeatureChecks, NameTheColumnThatDrownsAllOthers) {
  const std::string times = table([](int i) { return std::to_string(1'700'000'000 + 1000 * i); });
  EXPECT_THAT(warnings("a.csv", times),
              ElementsAre("a.csv: values of the column 'n' are like 1.7e+09, 1.7e+09 times those of most features, "
                          "which they drown: scale them, take their logarithm, read them as names "
                          "(--categorical-columns n) or not at all (--ignore-columns n)"));
  EXPECT_THAT(warnings("b.csv", times, {.fields = {.categorical = {"n"}}}), IsEmpty());
  EXPECT_THAT(warnings("c.csv", times, {.fields = {.ignored = {"n"}}}), IsEmpty());
  ReadOptions crossed;
  crossed.interactions = {"nu", "np"};
  EXPECT_THAT(warnings("d.csv", times, crossed), ElementsAre(HasSubstr("the column 'n' are")));
}

TEST_F(FeatureChecks, NameTheFeatureThatDrownsAllOthers) {
  const std::string values = "l |d a b c:0.1 |page ts:1700000000\nl |d b |page ts:-1700000001\n";
  EXPECT_THAT(warnings("a.vw", values), ElementsAre(AllOf(StartsWith("a.vw: values of the feature 'page^ts' are like"),
                                                          EndsWith(": scale them or take their logarithm"))));
  const std::string objects = "{\"label\": \"l\", \"a\": 1, \"b\": 2, \"page\": {\"ts\": 1700000000}}\n";
  EXPECT_THAT(warnings("a.json", objects),
              ElementsAre(HasSubstr("(--categorical-keys page.ts) or not at all (--ignore-keys page.ts)")));
}

TEST_F(FeatureChecks, AreQuietAboutOrdinaryNumbers) {
  EXPECT_THAT(warnings("a.csv", table([](int i) { return std::to_string(10 * i); })), IsEmpty())
      << "up to some hundreds";
  EXPECT_THAT(warnings("b.csv", table([](int i) { return std::to_string(i < 4 ? 100'000 : 1); })), IsEmpty()) << "rare";
  EXPECT_THAT(warnings("c.csv", table([](int) { return std::string("1e-9"); })), IsEmpty());
  EXPECT_THAT(warnings("d.svm", "1 1:1000 2:2000 3:900\n2 1:3000 2:100 3:1100\n"), IsEmpty()) << "all are large";
  EXPECT_THAT(warnings("e.vw", "l | a:0.0001 b:0.0002 c:0.3\n"), IsEmpty());
}

TEST_F(FeatureChecks, NameColumnsOfBothNumbersAndText) {
  const std::string ids = "label,C1,C2,C3,n\na,00010695,ff,12e45678,1\nb,12e45678,ff,00001e25,2\nc,a,ff,,3\n";
  EXPECT_THAT(warnings("a.csv", ids),
              Contains("a.csv: the columns C1,C3 hold both numbers and text, such as '12e45678': if all are names, "
                       "--categorical-columns C1,C3; if the text stands for a missing number, leave that value empty"));
  EXPECT_THAT(warnings("b.csv", ids, {.fields = {.text = {"C3"}, .categorical = {"C1"}}}), IsEmpty());
  EXPECT_THAT(warnings("c.csv", "label,n\na,1\nb,NA\n"),
              ElementsAre(HasSubstr("the column n holds both numbers and text, such as 'NA'")));
  EXPECT_THAT(warnings("d.json", "{\"label\": \"a\", \"n\": 1}\n{\"label\": \"a\", \"n\": \"x\"}\n"), IsEmpty());
}

}  // namespace
}  // namespace cpt
