// Jobs that keep binary copies of their shards.
#include <chrono>
#include <filesystem>
#include <string>

#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kCannotWrite = 73;

class CacheOfAJob : public OneResultTest {
 protected:
  // Shards that nobody has changed for an hour, which is when they are copied.
  std::string settled_shards() const {
    for (const auto& entry : fs::directory_iterator(shards())) {
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    return path("shards").string();
  }
  std::string cache() const { return path("cache").string(); }
};

TEST_F(CacheOfAJob, ChangesNothingButTheLog) {
  const std::string questions = file("questions", stream(40, 3));
  const Words text = train({settled_shards()});
  const Words cached = joined(text, {"--cache", cache()});
  const Results expected = results_on(1, text, questions);
  expect_same(results_on(3, cached, questions), expected);
  EXPECT_THAT(log(), Contains(HasSubstr("cache " + cache() + ": 0 copies found, 6 written, ")));
  expect_same(results_on(2, cached, questions), expected);
  EXPECT_THAT(log(), Contains(HasSubstr("cache " + cache() + ": 6 copies found, 0 written, ")));
  EXPECT_EQ(summary()["options"]["cache"], cache());
}

TEST_F(CacheOfAJob, ComesAndGoesAsARunGoesOn) {
  expect_complete(run_alone(train({settled_shards()})));
  const Words more = train({path("shards").string()}, {"--resume"});
  expect_complete(run_alone(joined(more, {"--passes", "2", "--cache", cache()})));
  EXPECT_THAT(log(), Contains(HasSubstr("6 written")));
  expect_complete(run_alone(joined(more, {"--passes", "3"})));
}

TEST_F(CacheOfAJob, IsRefusedWhereNoFolderCanBe) {
  expect_failed(run(2, train({shards()}, {"--cache", file("here", "a file")})), kCannotWrite,
                HasSubstr("here: is not a directory"));
}

}  // namespace
}  // namespace cpt::testing
