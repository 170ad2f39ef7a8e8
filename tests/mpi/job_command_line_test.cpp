// The command line under mpirun: what all ranks see is told once.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "api/options/option_table.h"
#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineOfAJob : public JobTest {
 protected:
  void expect_usage_error(const Outcome& outcome, const ::testing::Matcher<std::string>& reason) {
    expect_failed(outcome, kUsage, reason);
    EXPECT_FALSE(std::filesystem::exists(run_directory()));
  }
  // Trains with these options too, on one rank, which is quickly done.
  Outcome with(const Words& more) { return start_alone(train({shards()}, more))->wait(kSoon); }
};

TEST_F(CommandLineOfAJob, IsCheckedOnceForAllRanks) {
  expect_usage_error(start(3, train({shards()}, {"--bits", "99"}))->wait(kSoon),
                     Eq("cpt_dist: --bits is 99: it must be between 10 and 40"));
  expect_usage_error(start(3, {"--run", run_directory().string()})->wait(kSoon),
                     StartsWith("cpt_dist: --data is missing: "));
}

// Before anything is written.
TEST_F(CommandLineOfAJob, IsRefusedForEachWrongWord) {
  const std::vector<std::pair<Words, ::testing::Matcher<std::string>>> cases = {
      {{"--bitz", "12"}, Eq("cpt_dist: not expected: --bitz 12; did you mean --bits? (see --help)")},
      {{"--frobnicate", "x"}, Eq("cpt_dist: not expected: --frobnicate x (see --help)")},
      {{"--ranks", "4"}, Eq("cpt_dist: --ranks is not an option; here: mpirun -n N cpt_dist (see --help)")},
      {{"-b", "24"}, StartsWith("cpt_dist: -b is an option of Vowpal Wabbit; here: --bits B")},
      {{"-epoch", "5"}, Eq("cpt_dist: -epoch is an option of fastText; here: --passes N (see --help)")},
      {{"--passes", "0"}, HasSubstr("--passes: '0' is not a whole number of at least 1")},
      {{"--passes", "2", "--passes", "3"}, Eq("cpt_dist: --passes takes one value, and was given 2 (see --help)")},
      {{"--passes", "many"}, HasSubstr("--passes")},
      {{"--sync-examples", "9", "--sync-fraction", "0.1"},
       AllOf(HasSubstr("--sync-examples"), HasSubstr("--sync-fraction"))},
      {{"--run=", "--resume"}, Eq("cpt_dist: --run is empty (see --help)")},  // the next word is no value
      {{"--init="}, Eq("cpt_dist: --init is empty (see --help)")},
      {{"--init", ""}, Eq("cpt_dist: --init is empty (see --help)")},
      {{"--sync-fraction", "0"}, HasSubstr("--sync-fraction: '0' is neither a fraction above 0 nor auto")},
      {{"--sync-examples", "few"}, HasSubstr("--sync-examples: 'few' is not a whole number")},
      {{"--on-error", "skip:few"}, HasSubstr("--on-error: 'skip:few' is none of: ")},
      {{"--checkpoint-every", "soon"}, HasSubstr("--checkpoint-every: 'soon' is not a duration")},
      {{"--checkpoint-every", "1.5"}, HasSubstr("'1.5' is not a whole number")},
      {{"--checkpoint-every", "0s"}, HasSubstr("use never for no checkpoints")},
      {{"--bits", "many"}, HasSubstr("' is neither a whole number nor auto")},
      {{"--bits", "12.5"}, HasSubstr("' is neither a whole number nor auto")},
      {{"--keep", "0"}, HasSubstr("--keep: '0' is not a whole number of at least 1")},
      {{"--stall-timeout", "soon"}, HasSubstr("--stall-timeout: 'soon' is not a duration")},
      {{"--stall-timeout", "0.0001"}, HasSubstr("'0.0001' is less than a millisecond")},
      {{"--format", "xml"}, HasSubstr("--format: 'xml' is none of: auto, binary, csv, fasttext")},
      {{"--method", "oaa", "--placement", "partitioned"},
       AllOf(HasSubstr("--placement partitioned needs a tree"), HasSubstr("--method oaa"))},
      {{"--interactions", "ab", "cd"}, HasSubstr("cd")}};
  for (const auto& [words, reason] : cases) expect_usage_error(with(words), reason);
  for (const char* option : {"--format", "--multilabel", "--normalize", "--on-error", "--method", "--tree", "--loss",
                             "--update", "--merge", "--placement", "--progress"}) {
    expect_usage_error(with({option, "what"}), HasSubstr(std::string(option) + ": 'what' is none of: "));
  }
}

// A finished run is worth hours; a second one in the same directory, by default or by --run, must not remove it
// unasked.
TEST_F(CommandLineOfAJob, ReplacesAFinishedRunOnlyIfAsked) {
  const Words words{"--data", shards(), "--bits", "12", "--run", run_directory().string()};
  expect_complete(run_alone(words));
  const Json first = summary();
  for (const int ranks : {1, 3}) {
    const Outcome refused = run(ranks, joined(words, {"--seed", "2"}));
    EXPECT_EQ(refused.code, 73);
    EXPECT_THAT(reasons_in(refused),
                ElementsAre(HasSubstr(
                    run_directory().string() +
                    ": holds the results of a finished run; add --overwrite to replace them, or choose another "
                    "directory with --run")));
    EXPECT_EQ(summary(), first);
    expect_complete();
  }
  expect_complete(run_alone(joined(words, {"--resume"})));
  EXPECT_EQ(summary()["train"], first["train"]);
  expect_complete(run_alone(joined(words, {"--seed", "2", "--overwrite"})));
  EXPECT_EQ(summary()["options"]["seed"], "2");
}

// N jobs of one rank that would overwrite one another.
TEST_F(CommandLineOfAJob, IsRefusedWhereAnotherLauncherStartedMoreTasks) {
  for (const char* variable : {"PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const Launch launch{.environment = {{variable, "4"}}};
    expect_failed(start_alone(train({shards()}), launch)->wait(kSoon), kUsage,
                  HasSubstr("the launcher started 4 tasks (" + std::string(variable) + "=4)"));
    EXPECT_FALSE(std::filesystem::exists(run_directory()));
  }
}

// The options that lines of the help explain: these lines begin with two blanks and the option.
std::set<std::string> explained(const Words& help) {
  std::set<std::string> options;
  for (const std::string& line : help) {
    if (line.starts_with("  -")) options.insert(line.substr(2, line.find_first_of(" ,", 2) - 2));
  }
  return options;
}

TEST_F(CommandLineOfAJob, HelpIsPrintedOnceAndTellsWhatIsBuilt) {
  const Outcome outcome = start(3, {"--help"})->wait(kSoon);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  const Words help = lines_of(outcome.out);
  EXPECT_EQ(std::count_if(help.begin(), help.end(), [](const auto& line) { return line.starts_with("Usage:"); }), 1);
  std::set<std::string> options{"--run",      "--resume",         "--dry-run", "--stall-timeout", "--checkpoint-every",
                                "--progress", "--progress-every", "--config",  "--overwrite",     "--version",
                                "-h"};
  for (const TrainingOptionRow& row : training_option_table()) options.insert(std::string("--") + row.name);
  EXPECT_EQ(explained(help), options);
  EXPECT_THAT(outcome.out, HasSubstr("binary, csv, fasttext"));
  for (const std::string& line : help) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(CommandLineOfAJob, VersionIsPrintedOnce) {
  const Outcome outcome = start(3, {"--version"})->wait(kSoon);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out),
              ElementsAre(MatchesRegex("cpt_dist [0-9.]+"), AllOf(StartsWith("Commit "), HasSubstr("MPI"))));
}

TEST_F(CommandLineOfAJob, WinsOverTheConfigFile) {
  const std::string config = file("job.ini", "bits = 13\nseed = 5\nmerge = average\ntest-frozen = true\n");
  expect_complete(run(3, train({shards()}, {"--config", config, "--bits", "11"})));
  const Json options = summary()["options"];
  EXPECT_EQ(options["bits"], "11");
  EXPECT_EQ(options["seed"], "5");
  EXPECT_EQ(options["merge"], "average");
  EXPECT_EQ(options["test-frozen"], "true");
}

// Most often a mistake, but a file of options may serve many jobs.
TEST_F(CommandLineOfAJob, TellsWhatChangesNothing) {
  const auto told = [&](const Words& options) {
    const Outcome outcome = run(2, train({shards()}, options));
    expect_complete(outcome);
    std::vector<std::string> lines = lines_of(outcome.err);
    std::erase_if(lines, [](const std::string& line) { return line.find(" has no effect here: ") == line.npos; });
    for (std::string& line : lines) line.erase(0, std::string("cpt_dist: warning: ").size());
    return lines;
  };
  const std::string log = file("job.ini", "merge = average\n");
  EXPECT_THAT(told({"--config", log, "--alpha", "0.5", "--arity", "4", "--tree", "random", "--test-frozen"}),
              ElementsAre(StartsWith("--alpha "), StartsWith("--arity "), StartsWith("--merge "),
                          StartsWith("--test-frozen ")));
  EXPECT_THAT(told({"--keep", "2", "--checkpoint-every", "never"}), ElementsAre(StartsWith("--keep ")));
  EXPECT_THAT(told({"--method", "table", "--bits", "12", "--tree", "balanced", "--update", "sgd", "--loss", "squared",
                    "--clip", "0.1", "--learning-rate", "2"}),
              ElementsAre(StartsWith("--bits "), StartsWith("--clip "), StartsWith("--learning-rate "),
                          StartsWith("--loss "), StartsWith("--tree "), StartsWith("--update ")));
  EXPECT_THAT(told({"--calibrate", "off", "--rarity", "on"}), ElementsAre(StartsWith("--rarity ")));
  EXPECT_THAT(told({"--calibrate", "off", "--rarity", "off"}), IsEmpty());
  EXPECT_THAT(told({"--alpha", "0.5", "--keep", "2", "--placement", "replicated", "--merge", "average"}), IsEmpty());
  EXPECT_THAT(told({"--method", "cpecoc", "--arity", "4", "--test", shards(), "--test-frozen"}), IsEmpty());
  EXPECT_THAT(told({"--method", "oaa", "--merge", "average"}), IsEmpty());
}

TEST_F(CommandLineOfAJob, MayComeFromTheConfigFileAlone) {
  const std::string config = file("job.ini",
                                  "\xef\xbb\xbf"
                                  "data = \"" +
                                      shards() + "\"\nrun = \"" + run_directory().string() +
                                      "\"\nbits = 12\ninteractions = [\"ab\", \"bb\"]\n");
  expect_complete(run(2, {"--config", config}));
  EXPECT_EQ(summary()["options"]["interactions"], "ab bb");
  EXPECT_EQ(summary()["train"]["examples"], 1500);
}

TEST_F(CommandLineOfAJob, RefusesWrongConfigFiles) {
  expect_failed(with({"--config", path("nowhere.ini").string()}), kNoInput, HasSubstr("nowhere.ini"));
  expect_failed(with({"--config", "/dev/zero"}), kNoInput, HasSubstr("--config: the file has more than 1048576 bytes"));
  const auto refuses = [&](const std::string& content, const std::string& reason) {
    const std::string config = file("wrong.ini", content);
    expect_usage_error(with({"--config", config}), StartsWith("cpt_dist: " + config + reason));
  };
  refuses("# bitz\nbits = 12\n\nbitz = 12\n", ":4: no option 'bitz'; did you mean bits? (see --help)");
  refuses("bits: 12\n", ":1: expected option = value, found 'bits: 12' (see --help)");
  refuses("keep = 2\n  frobnicate\n", ":2: expected option = value, found 'frobnicate'");
  for (const std::string section : {"[bits]", "[a]"})  // -a is an option of another tool
    refuses(section + "\nbits = 12\n", ":1: expected option = value, found '" + section + "'");
  for (const char* const line : {"learning_rate = 0.5", "num_class = 7", "-q = ab", "wordNgrams = 2"}) {
    const std::string name(line, std::string_view(line).find(' '));
    const std::string config = file("other.ini", std::string("bits = 12\n") + line + "\n");
    expect_usage_error(with({"--config", config}), AllOf(StartsWith("cpt_dist: " + config + ":2: "), HasSubstr(name),
                                                         HasSubstr(" is an option of "), HasSubstr("; here: ")));
  }
}

TEST_F(CommandLineOfAJob, ChecksTheConfigFileLikeTheCommandLine) {
  const auto with_config = [&](const std::string& content) {
    return with({"--config", file("job.ini", "# seed = 1\nkeep = 2\n" + content)});
  };
  const std::string place = "cpt_dist: " + path("job.ini").string();
  expect_usage_error(with({"--config", file("job.ini", "\xef\xbb\xbfseed = five\n")}),
                     StartsWith(place + ":1: --seed"));
  expect_usage_error(with_config("seed = five\n"), StartsWith(place + ":3: --seed: 'five' is not a whole number"));
  expect_usage_error(with_config("\n  arity=x\n"), StartsWith(place + ":4: --arity: 'x' is not a whole number"));
  expect_usage_error(with_config("alpha = 2\n"), StartsWith(place + ":3: --alpha is 2: it must be "));
  expect_usage_error(with_config("loss = \"hinge\"\n"), StartsWith(place + ":3: --loss: 'hinge' is none of: "));
  expect_usage_error(with_config("passes = 2\npasses = 3\n"), StartsWith(place + ":3: --passes takes one value"));
  expect_usage_error(with_config("--alpha = 2\n"), StartsWith(place + ":3: --alpha is 2: it must be "));
  expect_usage_error(with_config("test-frozen = maybe\n"),
                     StartsWith(place + ":3: --test-frozen: 'maybe' is neither true nor false"));
  for (const char* name : {"config", "help"}) {
    expect_usage_error(with_config(std::string(name) + " = x\n"),
                       StartsWith(place + ":3: '" + name + "' is for the command line only"));
  }
  expect_usage_error(with_config("\nignore-columns = a,,b\n"), StartsWith(place + ":4: --ignore-keys"));
}

// The command line goes before the file.
TEST_F(CommandLineOfAJob, IsNotTakenForItsConfigFile) {
  const std::string config = file("job.ini", "alpha = 0.9\nseed = 1\n");
  for (const Words& wrong : {Words{"--alpha", "2", "--config", config}, Words{"--alpha=2", "--config", config}}) {
    expect_usage_error(with(wrong), StartsWith("cpt_dist: --alpha is 2: it must be "));
  }
}

TEST_F(CommandLineOfAJob, TakesAnInteractionWithEachOption) {
  expect_complete(run_alone(train({shards()}, {"--interactions", "ab", "--interactions", "cd"})));
  EXPECT_EQ(summary()["options"]["interactions"], "ab cd");
}

TEST_F(CommandLineOfAJob, IsShownAsItWasMeant) {
  for (const auto& [given, shown] : {std::pair("0.5s", "0.5s"), std::pair("1500h", "5400000s"), std::pair("7", "7")}) {
    expect_complete(run_alone(train({shards()}, {"--checkpoint-every", given})));
    EXPECT_EQ(summary()["options"]["checkpoint-every"], shown);
  }
}

class WarningsOfAJob : public JobTest {};

TEST_F(WarningsOfAJob, NameAnIntervalOfExamplesThatMayBeMeantAsATime) {
  const std::string warning = "warning: --checkpoint-every 20 is a number of examples, ";
  EXPECT_THAT(run_alone(train({shards()}, {"--checkpoint-every", "20"})).err, HasSubstr(warning));
  EXPECT_THAT(run_alone(train({shards()}, {"--checkpoint-every", "20s"})).err, Not(HasSubstr("--checkpoint-every")));
}

TEST_F(WarningsOfAJob, NameAnotherNumberOfRanksWhereTheResultDependsOnIt) {
  for (const char* placement : {"hybrid", "partitioned"}) {
    const Words arguments = train({shards()}, {"--placement", placement});
    expect_complete(run(2, arguments));
    const Outcome resumed = run(3, joined(arguments, {"--resume", "--passes", "2"}));
    expect_complete(resumed);
    const auto warning = HasSubstr("warning: --placement hybrid: the checkpoint is of 2 ranks, this job has 3: ");
    if (std::string(placement) == "hybrid") {
      EXPECT_THAT(resumed.err, warning);
    } else {
      EXPECT_THAT(resumed.err, Not(HasSubstr("this job has")));
    }
    std::filesystem::remove_all(run_directory());
  }
}

}  // namespace
}  // namespace cpt::testing
