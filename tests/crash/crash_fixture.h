// Whole jobs that are killed at a chosen call and resumed: the run must end with the results of an uninterrupted one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash/crash_calls.h"
#include "mpi/job_fixture.h"

namespace cpt::testing {

enum class Lost {
  kOneRank,       // mpirun asks the others to end and kills them a second or two later: for so long they go on
  kOneRankFirst,  // mpirun kills the others as soon as it sees that
  kAllRanks,      // at once
};

// A call of a rank right before which ranks are killed.
struct Point {
  int rank = 0;
  Call call;
  Lost lost = Lost::kOneRank;
};

// What happens to one run, crash after crash.
using Points = std::vector<Point>;

// "0 file 17 one", as kill_at.cpp reads it.
std::string text_of(const Point& point);
// With commas between them.
std::string text_of(const Points& points);

struct CrashJob {
  std::string placement;
  int ranks = 1;
};

class CrashTest : public JobTest {
 protected:
  // Makes the shards, and runs the job without a crash. What follows is about this job.
  void learn_undisturbed(const CrashJob& job);
  // Of that job, by rank.
  const Calls& calls(int rank) const { return calls_[static_cast<std::size_t>(rank)]; }

  // For each entry a run of its own: the job is killed at the first point, resumed, killed again at the next one, which
  // is one of the resumed job's calls, and so on, and at last resumed to its end. With CPT_CRASH_POINT set to the text
  // of an entry, only that one.
  void crash_at_each(const std::vector<Points>& crashes);

 private:
  std::unique_ptr<Job> start_watched(int ranks, const Words& more, const Points& crash_at = {});
  Outcome run_watched(int ranks, const Words& more) { return start_watched(ranks, more)->wait(kLongEnough); }
  void crash(const Points& points);
  void crash(const Words& more, const Point& point);
  void end_with_its_ranks(Job& job, const Point& point) const;
  // What the rank that dies has done of what is counted.
  Calls calls_before(const Point& point) const;
  // The lines of the log that say so. A run that is not resumed begins its log anew.
  Words resumptions() const;
  void resume_to_the_end(int ranks);
  void expect_whole_checkpoints();
  void expect_no_leftovers() const;

  CrashJob job_;
  Words arguments_;
  Json undisturbed_figures_;
  std::vector<Json> undisturbed_reports_;
  std::vector<Calls> calls_;
  std::filesystem::path latest_calls_;  // where the ranks of the job started last wrote theirs
  int jobs_ = 0;
};

}  // namespace cpt::testing
