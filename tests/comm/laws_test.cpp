// The laws of the collectives on one rank and on ranks that are threads.
#include "comm/laws.h"

#include <gtest/gtest.h>

#include <tuple>

#include "comm/alone.h"
#include "comm/threads/threads.h"

namespace cpt::testing {
namespace {

class Laws : public ::testing::TestWithParam<std::tuple<Law, int>> {};

TEST_P(Laws, HoldOnThreads) {
  const auto& [law, ranks] = GetParam();
  run_threads(ranks, law.check);
}

INSTANTIATE_TEST_SUITE_P(, Laws, ::testing::Combine(::testing::ValuesIn(laws()), ::testing::Values(1, 2, 3, 5, 8)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "On" + std::to_string(std::get<1>(test.param));
                         });

class LawsAlone : public ::testing::TestWithParam<Law> {};

TEST_P(LawsAlone, Hold) {
  Alone alone;
  GetParam().check(alone);
}

INSTANTIATE_TEST_SUITE_P(, LawsAlone, ::testing::ValuesIn(laws()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace cpt::testing
