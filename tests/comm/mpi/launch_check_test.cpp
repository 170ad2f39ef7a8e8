// A job that was started as many jobs of one rank is found by its environment.
#include "comm/mpi/launch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Environment = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Environment& environment) {
  return [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

std::optional<std::string> mismatch(int mpi_size, const Environment& environment) {
  return launcher_mismatch(mpi_size, lookup_in(environment));
}

TEST(WasLaunched, SeesLaunchersOfRanks) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PMI_FD", "PMI_PORT", "ALPS_APP_PE"}) {
    const Environment environment{{name, "0"}};
    EXPECT_TRUE(was_launched(lookup_in(environment))) << name;
  }
  const Environment many{{"SLURM_STEP_NUM_TASKS", "4"}};
  EXPECT_TRUE(was_launched(lookup_in(many)));
}

TEST(WasLaunched, DoesNotTakeABatchScriptForOne) {
  const Environment environment{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_FALSE(was_launched(lookup_in(environment)));
}

TEST(LauncherMismatch, SeesTasksThatBelieveToBeAlone) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const auto text = mismatch(1, {{name, "4"}});
    ASSERT_TRUE(text.has_value()) << name;
    EXPECT_THAT(*text, AllOf(HasSubstr(std::string(name) + "=4"), HasSubstr("mpirun")));
  }
}

TEST(LauncherMismatch, AcceptsJobsThatMpiSeesWholeBatchScriptsAndVariablesThatAreNoNumbers) {
  EXPECT_FALSE(mismatch(4, {{"OMPI_COMM_WORLD_SIZE", "4"}}));
  for (const Environment& environment :
       {Environment{}, Environment{{"OMPI_COMM_WORLD_SIZE", "1"}},
        Environment{{"SLURM_NTASKS", "64"}, {"SLURM_NPROCS", "64"}},
        Environment{{"PMI_SIZE", "many"}, {"SLURM_STEP_NUM_TASKS", "4x"}, {"OMPI_COMM_WORLD_SIZE", ""}}}) {
    EXPECT_EQ(mismatch(1, environment), std::nullopt);
  }
}

}  // namespace
}  // namespace cpt::testing
