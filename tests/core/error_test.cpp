#include "cpt/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <stdexcept>

namespace cpt {
namespace {

// Throws `innermost` below one Error per fault, the first being the outermost.
template <typename Innermost>
[[noreturn]] void throw_chain(const Innermost& innermost, Fault outer) {
  try {
    throw innermost;
  } catch (...) {
    std::throw_with_nested(Error(outer, "outer"));
  }
}

template <typename Action, typename Check>
void expect_thrown(Action action, Check check) {
  try {
    action();
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    check(error);
  }
}

TEST(Error, HasAReasonAndAFault) {
  const Error error(Fault::kUsage, "--bits is 99");
  EXPECT_STREQ(error.what(), "--bits is 99");
  EXPECT_EQ(fault_of(error), Fault::kUsage);
  EXPECT_EQ(describe(error), "--bits is 99");
}

TEST(Error, FaultsAreExitCodes) {
  EXPECT_EQ(static_cast<int>(Fault::kFailed), 1);
  EXPECT_EQ(static_cast<int>(Fault::kUsage), 2);
  EXPECT_EQ(static_cast<int>(Fault::kBadData), 65);
  EXPECT_EQ(static_cast<int>(Fault::kNoInput), 66);
  EXPECT_EQ(static_cast<int>(Fault::kCannotWrite), 73);
}

TEST(Error, DescribesTheChainOfCausesOutermostFirst) {
  expect_thrown([] { throw_chain(std::runtime_error("inner"), Fault::kBadData); },
                [](const std::exception& error) {
                  EXPECT_EQ(describe(error), "outer: inner");
                  EXPECT_EQ(fault_of(error), Fault::kBadData);
                });
  expect_thrown([] { throw_chain(7, Fault::kBadData); },
                [](const std::exception& error) { EXPECT_EQ(describe(error), "outer: unknown cause"); });
}

TEST(Error, TheOutermostFaultCounts) {
  expect_thrown([] { throw_chain(Error(Fault::kNoInput, "inner"), Fault::kBadData); },
                [](const std::exception& error) { EXPECT_EQ(fault_of(error), Fault::kBadData); });
}

TEST(Error, AFaultIsFoundBelowForeignExceptions) {
  const auto foreign_around_ours = [] {
    try {
      throw Error(Fault::kNoInput, "inner");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("foreign"));
    }
  };
  expect_thrown(foreign_around_ours, [](const std::exception& error) { EXPECT_EQ(fault_of(error), Fault::kNoInput); });
  EXPECT_EQ(fault_of(std::runtime_error("foreign")), Fault::kFailed);
}

TEST(Error, DescribesErrno) { EXPECT_EQ(describe_errno("open", ENOENT), "open failed: No such file or directory"); }

}  // namespace
}  // namespace cpt
