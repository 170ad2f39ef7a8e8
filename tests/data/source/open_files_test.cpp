#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "data/reading.h"
#include "data/source/file_source.h"

namespace cpt {
namespace {

// Puts the limits of the process back.
class OpenFiles : public testing::Test {
 protected:
  OpenFiles() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFiles() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  void set_soft_limit(rlim_t files) const {
    const rlimit limit{files, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  static rlim_t soft_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }

  rlimit before_{};
};

TEST_F(OpenFiles, LimitStaysWhereItIsEnough) {
  set_soft_limit(256);
  allow_open_files(100, "");
  EXPECT_EQ(soft_limit(), 256U);
}

TEST_F(OpenFiles, LimitRisesWhereItIsNot) {
  if (before_.rlim_max < 1000) GTEST_SKIP() << "the hard limit of this machine is " << before_.rlim_max;
  set_soft_limit(256);
  allow_open_files(500, "");
  EXPECT_GE(soft_limit(), 500U);
}

TEST_F(OpenFiles, BeyondTheHardLimitTheErrorSaysBothNumbers) {
  if (before_.rlim_max == RLIM_INFINITY) GTEST_SKIP() << "this machine has no hard limit";
  const std::size_t many = before_.rlim_max + 1;
  const std::string reason = error_of(Fault::kFailed, [&] { allow_open_files(many, "do that"); });
  EXPECT_TRUE(reason.starts_with(std::to_string(many) + " shards")) << reason;
  EXPECT_NE(reason.find(" " + std::to_string(before_.rlim_max) + " files"), std::string::npos) << reason;
  EXPECT_TRUE(reason.ends_with(", or do that")) << reason;
}

}  // namespace
}  // namespace cpt
