#include "crash/crash_fixture.h"

#include <cstdlib>
#include <iterator>
#include <random>
#include <sstream>

#include "api/checkpoint/checkpoint_reader.h"
#include "mpi/job_waiting.h"
#include "store/run/checkpoints.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kShards = 5;
constexpr int kExamples = 600;  // of a shard, about
// Several checkpoints in each pass.
constexpr const char* kCheckpointEvery = "900";
constexpr int kKept = 2;

// Lines in vw format. The later, the more labels there are to choose from.
std::string growing_stream(int examples, unsigned seed) {
  std::mt19937 random(seed);
  std::ostringstream text;
  for (int i = 0; i < examples; ++i) {
    const auto label = random() % (10 + static_cast<unsigned>(i) / 4);
    text << 'l' << label << " |a f" << label << " f" << random() % 50 << " |b g" << label % 7 << ":0.5\n";
  }
  return text.str();
}

// How to have this crash again.
std::string way_to_repeat(const Points& points) {
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  return "killed at '" + text_of(points) + "', first before " + points[0].call.name + " of " +
         points[0].call.path.string() + "; again with CPT_CRASH_POINT='" + text_of(points) +
         "' and --gtest_filter=" + test.test_suite_name() + "." + test.name();
}

bool is_wanted(const std::string& point) {
  const char* only = std::getenv("CPT_CRASH_POINT");
  return only == nullptr || point == only;
}

}  // namespace

std::string text_of(const Point& point) {
  const std::string lost = point.lost == Lost::kAllRanks ? "all" : point.lost == Lost::kOneRank ? "one" : "first";
  return std::to_string(point.rank) + ' ' + point.call.kind + ' ' + std::to_string(point.call.number) + ' ' + lost;
}

std::string text_of(const Points& points) {
  std::string text;
  for (const Point& point : points) text += (text.empty() ? "" : ", ") + text_of(point);
  return text;
}

void CrashTest::learn_undisturbed(const CrashJob& job) {
  job_ = job;
  for (int i = 0; i <= kShards; ++i) {
    const std::string folder = i < kShards ? "data/" : "test/";
    file(folder + std::to_string(i) + ".vw", growing_stream(kExamples + 20 * i, static_cast<unsigned>(i)));
  }
  arguments_ = train({path("data")}, {"--test", path("test"), "--passes", "2", "--bits", "14", "--placement",
                                      job.placement, "--checkpoint-every", kCheckpointEvery, "--keep",
                                      std::to_string(kKept), "--stall-timeout", "30s"});
  const Outcome outcome = run_watched(job.ranks, {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  undisturbed_figures_ = figures();
  undisturbed_reports_ = reports();
  for (int rank = 0; rank < job.ranks; ++rank) {
    calls_.push_back(read_calls(latest_calls_ / ("calls-" + std::to_string(rank))));
  }
}

// Replicas go on in the same number (C7), owners in any.
void CrashTest::crash_at_each(const std::vector<Points>& crashes) {
  constexpr int kMostRanks = 3;
  bool any = false;
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    if (!is_wanted(text_of(crashes[i]))) continue;
    any = true;
    SCOPED_TRACE(way_to_repeat(crashes[i]));
    fs::remove_all(run_directory());
    crash(crashes[i]);
    resume_to_the_end(job_.placement == "partitioned" ? 1 + static_cast<int>(i) % kMostRanks : job_.ranks);
  }
  EXPECT_TRUE(any) << "there is no such point";
}

std::unique_ptr<Job> CrashTest::start_watched(int ranks, const Words& more, const Points& crash_at) {
  latest_calls_ = path("calls" + std::to_string(jobs_++));
  fs::create_directory(latest_calls_);
  Words command{CPT_MPIEXEC,
                "-n",
                std::to_string(ranks),
                "env",
                std::string("LD_PRELOAD=") + CPT_KILL_AT,
                "CPT_CRASH_RUN=" + run_directory().string(),
                "CPT_CRASH_FOLDER=" + latest_calls_.string(),
                "CPT_CRASH_AT=" + text_of(crash_at),
                CPT_DIST};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  command.insert(command.end(), more.begin(), more.end());
  Launch launch;
  if (!crash_at.empty() && crash_at[0].lost != Lost::kOneRank) {
    // mpirun would wait for those that are gone, too.
    launch.environment.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "0");
  }
  return start_command(command, launch);
}

void CrashTest::crash(const Points& points) {
  Words more;
  for (const Point& point : points) {
    crash(more, point);
    more = {"--resume"};
  }
}

void CrashTest::crash(const Words& more, const Point& point) {
  const auto job = start_watched(job_.ranks, more, {point});
  if (point.lost != Lost::kOneRank) end_with_its_ranks(*job, point);
  const Outcome outcome = job->wait(kLongEnough);
  // Not always 128 + SIGKILL: Open MPI 4.1's mpirun itself may break at the loss of ranks that were about to end.
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(calls_before(point), SizeIs(point.call.number)) << outcome.err;
  // C1: what is listed is whole, whatever was under way.
  for (const Checkpoint& checkpoint : Checkpoints(run_directory() / "checkpoints").list()) {
    EXPECT_NO_THROW(verify_checkpoint(checkpoint.directory));
  }
}

// Open MPI 4.1's mpirun may lock itself up, in PMIx_server_finalize, where it loses all ranks as they are about to end.
// Then it goes as the ranks went.
void CrashTest::end_with_its_ranks(Job& job, const Point& point) const {
  const auto is_lost = [&] { return job.has_ended() || calls_before(point).size() >= point.call.number; };
  if (comes_true(kLongEnough, is_lost) && !comes_true(kSoon, [&] { return job.has_ended(); })) job.kill_all();
}

Calls CrashTest::calls_before(const Point& point) const {
  return of_kind(read_calls(latest_calls_ / ("calls-" + std::to_string(point.rank))), point.call.kind);
}

Words CrashTest::resumptions() const {
  Words lines = fs::exists(run_directory() / "log.txt") ? log() : Words{};
  std::erase_if(lines, [](const std::string& line) { return line.find("resumed from ") == line.npos; });
  return lines;
}

void CrashTest::resume_to_the_end(int ranks) {
  const std::vector<Checkpoint> kept = Checkpoints(run_directory() / "checkpoints").list();
  const std::size_t before = resumptions().size();
  const Outcome outcome = run_watched(ranks, {"--resume"});
  EXPECT_EQ(outcome.code, 0) << "on " << ranks << " ranks: " << outcome.err;
  if (outcome.code != 0) return;
  if (kept.empty()) {
    EXPECT_THAT(resumptions(), IsEmpty());
  } else {
    ASSERT_THAT(resumptions(), SizeIs(before + 1));
    EXPECT_THAT(resumptions().back(), HasSubstr("resumed from " + kept.back().directory.string() + ", written by "));
  }
  EXPECT_EQ(figures(), undisturbed_figures_) << "on " << ranks << " ranks";
  EXPECT_EQ(reports(), undisturbed_reports_) << "on " << ranks << " ranks";
  expect_complete();
  expect_whole_checkpoints();
  expect_no_leftovers();
}

void CrashTest::expect_whole_checkpoints() {
  const Outcome outcome =
      start_command({CPT_PROGRAM, "checkpoint", "verify", run_directory().string()})->wait(kLongEnough);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(lines_of(outcome.out), SizeIs(kKept));
  EXPECT_THAT(lines_of(outcome.out), Each(HasSubstr(": whole")));
  const fs::directory_iterator all(run_directory() / "checkpoints");
  EXPECT_EQ(std::distance(fs::begin(all), fs::end(all)), kKept) << "something of other checkpoints is left";
}

void CrashTest::expect_no_leftovers() const {
  for (const auto& entry : fs::recursive_directory_iterator(run_directory())) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
  }
}

}  // namespace cpt::testing
