#include "train/job.h"

#include <stdlib.h>

#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "api/options/option_values.h"
#include "comm/agreement.h"
#include "comm/threads/threads.h"
#include "model/learning/learner.h"
#include "model/random_stream.h"

namespace cpt {

namespace fs = std::filesystem;

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "cpt-train-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw Error(Fault::kCannotWrite, "no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
  return (path_ / name).string();
}

std::string random_lines(const Lines& lines) {
  constexpr std::size_t kVocabulary = 40;
  Dice dice(lines.seed);
  std::ostringstream text;
  std::size_t known = 0;
  for (std::size_t i = 0; i < lines.examples; ++i) {
    const bool is_new = known < lines.labels && known * lines.examples <= i * lines.labels;
    const auto old = static_cast<std::size_t>(std::pow(dice.unit(), 2) * static_cast<double>(known));
    const std::size_t label = lines.first_label + (is_new ? known++ : old);
    text << label_number(label);
    if (dice.chance(0.3)) text << ' ' << std::setprecision(3) << dice.between(0.5, 2.0);
    text << " |";
    for (std::size_t f = 0; f < 4; ++f) {
      const std::uint64_t typical = mix(label * 4 + f) % kVocabulary;
      text << " w" << (dice.chance(0.8) ? typical : dice.below(kVocabulary));
      if (dice.chance(0.3)) text << ':' << std::setprecision(3) << dice.between(-2, 2);
    }
    text << '\n';
  }
  return text.str();
}

std::set<std::string> labels_of(const std::string& lines) {
  std::set<std::string> labels;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) labels.insert(line.substr(0, line.find(' ')));
  }
  return labels;
}

TrainingOptions small_job() {
  TrainingOptions options;
  options.model.bits = 13;
  options.sync_examples = 150;
  options.placement = Placement::kReplicated;
  return options;
}

std::string name_of_placement(const ::testing::TestParamInfo<Placement>& test) {
  std::string name = name_of(placement_names(), test.param);
  name[0] = static_cast<char>(std::toupper(name[0]));
  return name;
}

namespace {

class Silent : public Observer {
  void report(const Report&) override {}
  void warn(const std::string&) override {}
  void progress(std::uint64_t, double, double) override {}
};

Ending run_rank(Communicator& comm, TrainingOptions options, const Staging& staging) {
  Silent silent;
  Ending ending;
  try {
    if (staging.options_of) staging.options_of(comm.rank(), options);
    Observer& observer = comm.rank() == 0 && staging.observer != nullptr ? *staging.observer : silent;
    ending.result = Training(options, comm).run(observer, staging.model);
  } catch (const std::exception& error) {
    ending.error = describe(error);
    ending.fault = fault_of(error);
    ending.agreed = dynamic_cast<const AgreedError*>(&error) != nullptr;
  }
  return ending;
}

}  // namespace

std::vector<Ending> train_on(int ranks, const TrainingOptions& options, const Staging& staging) {
  std::vector<Ending> endings(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& plain) {
    const std::unique_ptr<Communicator> wrapped = staging.wrap ? staging.wrap(plain) : nullptr;
    Communicator& comm = wrapped ? *wrapped : plain;
    comm.set_stall_timeout(plain.stall_timeout());
    endings[static_cast<std::size_t>(comm.rank())] = run_rank(comm, options, staging);
  });
  return endings;
}

std::vector<TrainingResult> results_on(int ranks, const TrainingOptions& options, const Staging& staging) {
  std::vector<TrainingResult> results;
  for (Ending& ending : train_on(ranks, options, staging)) {
    if (!ending.result) throw Error(Fault::kFailed, "training failed: " + ending.error);
    results.push_back(std::move(*ending.result));
  }
  return results;
}

Digests digests_of(const Learner& learner) { return {learner.structure_digest(), learner.state_digest()}; }
Digests digests_of(const Model& model) { return digests_of(model.learner()); }
Digests digests_of(const ModelShare& model) { return digests_of(model.learner()); }

void PrintTo(const Digests& digests, std::ostream* out) {
  *out << std::hex << "tree " << digests.structure << ", weights " << digests.weights << std::dec;
}

std::set<std::string> labels_in(const Learner& learner) {
  std::set<std::string> labels;
  for (LabelId label = 0; label < learner.tree().labels(); ++label) labels.emplace(learner.labels().name(label));
  return labels;
}

std::set<std::string> labels_in(const Model& model) {
  Batch batch;
  batch.finish_example("", 1, {});
  std::set<std::string> labels;
  for (const Prediction& prediction : model.top_k(batch[0], model.labels())) labels.emplace(prediction.label);
  return labels;
}

void expect_same_losses(const Losses& a, const Losses& b) {
  using Words = std::array<std::uint64_t, sizeof(Losses) / sizeof(std::uint64_t)>;
  EXPECT_EQ(a.examples, b.examples);
  EXPECT_EQ(a.new_labels, b.new_labels);
  EXPECT_EQ(a.squared, b.squared);
  EXPECT_EQ(a.log_seen, b.log_seen);
  EXPECT_EQ(a.other_squares, b.other_squares);
  EXPECT_EQ(a.top1_error, b.top1_error);
  EXPECT_EQ(std::bit_cast<Words>(a), std::bit_cast<Words>(b));  // the rest of them
}

void expect_protocol_error(const Thrown& thrown) {
  EXPECT_EQ(thrown.fault, Fault::kFailed);
  EXPECT_EQ(thrown.text.rfind("protocol error: ", 0), 0U) << thrown.text;
}

Thrown thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return {fault_of(error), describe(error)};
  }
  return {};
}

void run_ranks(int ranks, const std::function<void(Communicator&)>& action) {
  run_threads(ranks, [&](Communicator& comm) {
    comm.set_stall_timeout(std::chrono::seconds(30));
    action(comm);
  });
}

Thrown thrown_by_all(int ranks, const std::function<void(Communicator&)>& action) {
  std::vector<Thrown> thrown(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    try {
      action(comm);
    } catch (const std::exception& error) {
      EXPECT_EQ(dynamic_cast<const AgreedError*>(&error) != nullptr, ranks > 1);
      thrown[static_cast<std::size_t>(comm.rank())] = {fault_of(error), describe(error)};
    }
  });
  for (const Thrown& each : thrown) {
    EXPECT_EQ(each.fault, thrown[0].fault);
    EXPECT_EQ(each.text, thrown[0].text);
  }
  return thrown[0];
}

}  // namespace cpt
