#include "cpt/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cpt {
namespace {

// Throws `inner` as the cause of `outer`.
template <typename Outer, typename Inner>
[[noreturn]] void throw_chain(const Outer& outer, const Inner& inner) {
  try {
    throw inner;
  } catch (...) {
    std::throw_with_nested(outer);
  }
}

// The description and the fault of such a chain.
template <typename Outer, typename Inner>
std::pair<std::string, Fault> chain(const Outer& outer, const Inner& inner) {
  try {
    throw_chain(outer, inner);
  } catch (const std::exception& error) {
    return {describe(error), fault_of(error)};
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

TEST(Error, IsDescribedWithItsCausesAndHasTheFaultOfTheOutermostError) {
  using Chain = std::pair<std::string, Fault>;
  const Error outer(Fault::kBadData, "outer");
  EXPECT_EQ(chain(outer, std::runtime_error("inner")), (Chain{"outer: inner", Fault::kBadData}));
  EXPECT_EQ(chain(outer, 7), (Chain{"outer: unknown cause", Fault::kBadData}));
  EXPECT_EQ(chain(outer, Error(Fault::kNoInput, "inner")), (Chain{"outer: inner", Fault::kBadData}));
  EXPECT_EQ(chain(std::runtime_error("foreign"), Error(Fault::kNoInput, "inner")),
            (Chain{"foreign: inner", Fault::kNoInput}));
  EXPECT_EQ(fault_of(std::runtime_error("foreign")), Fault::kFailed);
}

// As std::thread throws it.
TEST(Error, OfAThreadThatCannotBeStartedSaysSo) {
  const std::system_error error(EAGAIN, std::generic_category());
  EXPECT_EQ(describe(error),
            "no thread could be started: Resource temporarily unavailable; raise the limit of processes and threads "
            "(ulimit -u, or pids.max of the cgroup), or start fewer ranks on this host");
  EXPECT_EQ(describe(std::system_error(ENOENT, std::generic_category())), "No such file or directory");
}

TEST(Error, DescribesErrno) { EXPECT_EQ(describe_errno("open", ENOENT), "open failed: No such file or directory"); }

}  // namespace
}  // namespace cpt
