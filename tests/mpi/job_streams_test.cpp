// Standard input as a shard, and standard streams that are closed, full or broken: never a hang.
#include <unistd.h>

#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;

using ::testing::HasSubstr;

using StandardStreams = JobTest;

TEST_F(StandardStreams, InputIsLearnedByOneRank) {
  const Words words = train({"-"}, {"--format", "vw"});
  const std::string shard = file("shard.vw", stream(500));
  expect_complete(run_alone(train({shard})));
  const Json expected = summary();
  expect_complete(run_alone(words, {.input = stream(500)}));
  EXPECT_EQ(summary()["weights"], expected["weights"]);
  expect_complete(run(1, words, {.input = stream(500)}));
  EXPECT_EQ(summary()["weights"], expected["weights"]);
}

TEST_F(StandardStreams, ClosedInputCannotBeLearned) {
  expect_failed(start_alone(train({"-"}), {.closed = {STDIN_FILENO}})->wait(kSoon), kNoInput,
                AllOf(HasSubstr("standard input"), HasSubstr("Bad file descriptor")));
}

TEST_F(StandardStreams, InputThatIsNotReadMayBeClosed) {
  expect_complete(run_alone(train({shards()}), {.closed = {STDIN_FILENO}}));
  expect_complete(run(2, train({shards()}), {.closed = {STDIN_FILENO}}));
}

// The results are there; only the words are lost. Scripts must not start the job again.
TEST_F(StandardStreams, OutputOfAFinishedRunThatCannotBeWrittenIsAWarning) {
  for (const Launch& launch : {Launch{.output_to = "/dev/full"}, Launch{.closed = {STDOUT_FILENO}}}) {
    const Outcome outcome = run_alone(train({shards()}), launch);
    EXPECT_THAT(outcome.err, HasSubstr("cpt_dist: warning: standard output cannot be written; the results are in " +
                                       run_directory().string()));
    expect_complete(outcome);
  }
}

TEST_F(StandardStreams, OutputOfADryRunThatCannotBeWrittenIsAnError) {
  const Outcome outcome = run_alone(train({shards()}, {"--dry-run"}), {.output_to = "/dev/full"});
  expect_failed(outcome, kCannotWrite, HasSubstr("standard output cannot be written"));
}

// As with `| head -n 1`, only that here it has gone before the job begins.
TEST_F(StandardStreams, ReadersThatHaveGoneEndNoTraining) {
  const Words arguments = train({shards()}, {"--progress", "plain"});
  const Words shell{"bash", "-c", R"(exec 3> >(:); wait $!; exec "$@" >&3 2>&3)", "bash", CPT_DIST};
  const Outcome outcome = start_command(joined(shell, arguments))->wait(kLongEnough);
  EXPECT_EQ(outcome.code, 0);
  expect_complete();
}

// No file takes the place of a closed stream, to be written or read as if it were one.
TEST_F(StandardStreams, ClosedErrorIsNotWrittenElsewhere) {
  const Launch silent{.closed = {STDIN_FILENO, STDERR_FILENO}};
  expect_complete(run_alone(train({shards()}, {"--progress", "plain"}), silent));
  for (const std::string& line : log()) EXPECT_THAT(line, ::testing::Not(HasSubstr("train  ")));
  EXPECT_FALSE(metrics().empty());
}

// mpirun deals with its own output in its own way; the job must come to an end.
TEST_F(StandardStreams, OutputOfMpirunMayBeBroken) {
  for (const Launch& launch : {Launch{.output_to = "/dev/full"}, Launch{.closed = {STDOUT_FILENO}},
                               Launch{.closed = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}}}) {
    run(2, train({shards()}), launch);
    expect_complete();
  }
}

// mpirun passes on what a rank writes, byte for byte, through a pipe.
TEST_F(StandardStreams, ShowABarWhereOneIsAskedFor) {
  constexpr const char* kBeginsALineAnew = "\r\033[K";
  EXPECT_THAT(run(2, train({shards()}, {"--progress", "bar"})).err, HasSubstr(kBeginsALineAnew));
  EXPECT_THAT(run(2, train({shards()}, {"--progress", "auto"})).err, ::testing::Not(HasSubstr(kBeginsALineAnew)));
}

}  // namespace
}  // namespace cpt::testing
