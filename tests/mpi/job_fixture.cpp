#include "mpi/job_fixture.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "cpt/model.h"
#include "mpi/job_waiting.h"

namespace cpt::testing {

namespace fs = std::filesystem;

using ::testing::ElementsAre;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string stream(int examples, unsigned seed) {
  std::mt19937 random(seed);  // whose numbers, unlike those of distributions, are the same everywhere
  std::ostringstream text;
  for (int i = 0; i < examples; ++i) {
    const auto label = random() % kLabels;
    text << 'l' << label << " |a f" << label << " f" << random() % 20 << " |b g" << label % 7 << ":0.5\n";
  }
  return text.str();
}

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Words reasons_in(const Outcome& outcome) {
  Words lines = lines_of(outcome.err);
  std::erase_if(lines, [](const std::string& line) {
    return !line.starts_with("cpt_dist:") || line.starts_with("cpt_dist: warning:");
  });
  return lines;
}

std::string JobTest::shards() const {
  for (int i = 0; i < 6; ++i) {
    file("shards/" + std::to_string(i) + ".vw", stream(200 + 20 * i, static_cast<unsigned>(i)));
  }
  return path("shards").string();
}

Words JobTest::train(const Words& data, const Words& more) const {
  const auto says = [&more](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
  Words words = joined(joined({"--data"}, data), {"--run", run_directory().string(), "--overwrite"});
  if (!says("--bits")) words = joined(words, {"--bits", "12"});
  if (!says("--progress-every")) words = joined(words, {"--progress-every", "0"});  // a clock would send messages
  return joined(words, more);
}

fs::path JobTest::new_job_folder() { return path("job" + std::to_string(jobs_++)); }

std::unique_ptr<Job> JobTest::start(int ranks, const Words& arguments, const Launch& launch) {
  return start_command(joined({CPT_MPIEXEC, "-n", std::to_string(ranks), CPT_DIST}, arguments), launch);
}

std::unique_ptr<Job> JobTest::start_alone(const Words& arguments, const Launch& launch) {
  return start_command(joined({CPT_DIST}, arguments), launch);
}

std::optional<Words> JobTest::as_plain_user(const Words& command) {
  if (::geteuid() != 0) return command;
  constexpr auto kNobody = "65534";
  const Words as_nobody{
      "setpriv", std::string("--reuid=") + kNobody, std::string("--regid=") + kNobody, "--clear-groups",
      "env",     "HOME=" + path("").string(),       "TMPDIR=" + path("").string()};
  fs::permissions(path(""), fs::perms::all);
  for (const auto& entry : fs::recursive_directory_iterator(path(""))) fs::permissions(entry, fs::perms::all);
  if (start_command(joined(as_nobody, {CPT_DIST, "--version"}))->wait(kSoon).code != 0) return std::nullopt;
  return joined(as_nobody, command);
}

std::unique_ptr<Job> JobTest::start_command(const Words& command, const Launch& launch) {
  earlier_model_ = model_manifest();
  return std::make_unique<Job>(command, launch, new_job_folder());
}

Outcome JobTest::run(int ranks, const Words& arguments, const Launch& launch) {
  return start(ranks, arguments, launch)->wait(kLongEnough);
}

Outcome JobTest::run_alone(const Words& arguments, const Launch& launch) {
  return start_alone(arguments, launch)->wait(kLongEnough);
}

void JobTest::wait_until_learning() const {
  const fs::path metrics = run_directory() / "metrics.jsonl";
  wait_until("the job learns", [&] { return fs::exists(metrics) && fs::file_size(metrics) > 0; });
}

Json JobTest::summary() const { return Json::parse(content_of(run_directory() / "summary.json")); }

Json JobTest::figures() const {
  const Json told = summary();
  Json figures;
  for (const char* part : {"train", "test", "tree", "weights"}) {
    if (told.contains(part)) figures[part] = told[part];
  }
  return figures;
}

std::vector<Json> JobTest::reports() const {
  std::vector<Json> reports = metrics();
  for (Json& report : reports) {
    for (const char* name : {"seconds", "communication", "rounds", "sync_points"}) report.erase(name);
  }
  return reports;
}

std::vector<Json> JobTest::metrics() const {
  std::vector<Json> reports = metrics_lines();
  std::erase_if(reports, [](const Json& line) { return line["phase"] != "train" && line["phase"] != "test"; });
  return reports;
}

std::vector<Json> JobTest::changes_of_owners() const { return metrics_of("balance"); }

std::vector<Json> JobTest::stretches() const { return metrics_of("progress"); }

std::vector<Json> JobTest::checkpoints_told() const { return metrics_of("checkpoint"); }

std::vector<Json> JobTest::validations_told() const { return metrics_of("validation"); }

std::vector<Json> JobTest::metrics_of(const std::string& phase) const {
  std::vector<Json> lines = metrics_lines();
  std::erase_if(lines, [&](const Json& line) { return line["phase"] != phase; });
  return lines;
}

std::vector<Json> JobTest::metrics_lines() const {
  std::vector<Json> lines;
  for (const std::string& line : lines_of(content_of(run_directory() / "metrics.jsonl"))) {
    Json& parsed = lines.emplace_back(Json::parse(line));
    EXPECT_THAT(parsed["time"].get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
    parsed.erase("time");  // differs from run to run
  }
  return lines;
}

Words JobTest::log() const { return lines_of(content_of(run_directory() / "log.txt")); }

void JobTest::expect_complete(const Outcome& outcome) const {
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_complete();
}

void JobTest::expect_complete() const {
  const Json told = summary();
  const Model model = Model::load(run_directory() / "model");
  EXPECT_EQ(model.labels(), told["tree"]["labels"]);
  EXPECT_EQ(model.options().table_bits(), told["weights"]["bits"]);
  EXPECT_FALSE(log().empty());
}

void JobTest::expect_failed(const Outcome& outcome, int code, const ::testing::Matcher<std::string>& reason) const {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_THAT(reasons_in(outcome), ElementsAre(reason)) << outcome.err;
  expect_no_results();
}

void JobTest::expect_no_results() const {
  EXPECT_FALSE(fs::exists(run_directory() / "summary.json"));
  EXPECT_EQ(model_manifest(), earlier_model_);
}

std::string JobTest::model_manifest() const {
  const fs::path manifest = run_directory() / "model/MANIFEST";
  return fs::exists(manifest) ? content_of(manifest) : "";
}

}  // namespace cpt::testing
