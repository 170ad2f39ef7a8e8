#include "data/source/file_source.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "data/folder.h"
#include "data/reading.h"

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

TEST(FileSource, SkipsWithoutReadingButNotPastTheEnd) {
  const Folder folder;
  const std::string path = folder.write("a", std::string(1'000'000, 'x').append("yz"));
  const auto control = std::make_shared<ReadControl>();
  FileSource file(path, control);
  EXPECT_EQ(file.skip(1'000'000), 1'000'000U) << "in one step";
  std::string next(1, ' ');
  EXPECT_EQ(file.read(next), 1U);
  EXPECT_EQ(next, "y");
  EXPECT_EQ(file.skip(1000), 1U);
  EXPECT_EQ(file.skip(1000), 0U);
  EXPECT_EQ(file.read(next), 0U);
  EXPECT_EQ(control->bytes_read, 1'000'002U);
}

TEST(FileSource, TakesNoMoreThanItIsToldAndNoLess) {
  const Folder folder;
  const std::string path = folder.write("a", "abcdef");
  std::string space(10, ' ');
  FileSource shorter(path, nullptr, {}, 4);
  EXPECT_EQ(shorter.read(space), 4U);
  EXPECT_EQ(shorter.read(space), 0U);
  EXPECT_EQ(shorter.skip(10), 0U);
  FileSource longer(path, nullptr, {}, 7);
  EXPECT_EQ(longer.skip(5), 5U);
  EXPECT_EQ(longer.read(space), 1U);
  const std::string reason =
      path + ": expected the 7 bytes that it had at the start, found its end at byte 6: it was truncated meanwhile";
  EXPECT_EQ(error_of(Fault::kBadData, [&] { longer.read(space); }), reason);
  EXPECT_EQ(error_of(Fault::kBadData, [&] { longer.skip(10); }), reason);
}

}  // namespace
}  // namespace cpt
