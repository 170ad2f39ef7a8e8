// The first look at a file: where it ends.
#include "data/pipeline/first_look.h"

#include <gtest/gtest.h>

#include <string>

#include "data/folder.h"

namespace cpt {
namespace {

class AtFirstLook : public ::testing::Test {
 protected:
  FirstLook look(const std::string& name, const std::string& content, ReadOptions options) const {
    return look_at(find_shards({folder_.write(name, content)}).at(0), std::move(options));
  }

 private:
  Folder folder_;
};

TEST_F(AtFirstLook, EnoughFeaturesAreEnough) {
  std::string line = "l |a";
  for (int i = 0; i < 500; ++i) line += " w" + std::to_string(i);
  ReadOptions options;
  options.interactions = {"aa"};
  const FirstLook seen = look("wide.vw", line + "\n" + line + "\n", options);
  EXPECT_EQ(seen.lines, 1U);
  EXPECT_EQ(seen.features.size(), 100'000U);
}

}  // namespace
}  // namespace cpt
