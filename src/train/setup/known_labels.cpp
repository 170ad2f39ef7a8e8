#include "train/setup/known_labels.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "data/pipeline/example_stream.h"
#include "data/pipeline/read_ahead.h"
#include "data/text/label_list.h"
#include "model/estimators/estimator.h"
#include "train/input/read_options.h"

namespace cpt {

namespace {

using Labels = std::set<std::string, std::less<>>;

// A day: ranks read as long as their shards are.
constexpr std::chrono::hours kTimeoutExtension{24};

// No label has a line feed: all parsers of text refuse it.
std::string as_lines(const auto& labels) {
  std::string text;
  for (const std::string& label : labels) text += label + '\n';
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void refuse_pipes(const std::vector<Shard>& shards) {
  if (std::ranges::none_of(shards, [](const Shard& shard) { return !shard.regular; })) return;
  throw Error(
      Fault::kUsage,
      "--method pecoc looks for the labels before it learns, and standard input or a pipe cannot be read twice: "
      "name a file of all labels with --labels");
}

// Checks for a request to stop, at most once a second. Safe points do so only once training has begun.
class StopRequest {
 public:
  explicit StopRequest(const TrainingOptions& options) : requested_(options.checkpoints.requested) {}

  void check() {
    const auto now = std::chrono::steady_clock::now();
    if (!requested_ || now - last_ < std::chrono::seconds(1)) return;
    last_ = now;
    if (requested_() != Request::kStop) return;
    throw Error(Fault::kFailed, "stopped on request while it looked for the labels, and nothing is kept");
  }

 private:
  const std::function<Request()>& requested_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void collect(const TrainingOptions& options, const std::vector<Shard>& shards, const Communicator& comm,
             StopRequest& stop, Labels& labels) {
  refuse_pipes(shards);
  const auto mine = assign_shards(shards, comm.size())[static_cast<std::size_t>(comm.rank())];
  // Its warnings are dropped: they are repeated when the lines are learned.
  ReadAhead chunks(ExampleStream(shards, mine, read_options(options)));
  chunks.call_while_waiting([&] { stop.check(); });
  while (const Batch* batch = chunks.next()) {
    stop.check();
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const std::string_view label = (*batch)[i].label;
      if (labels.find(label) == labels.end()) labels.emplace(label);
    }
  }
}

std::vector<std::string> count_labels(const TrainingOptions& options, const std::vector<Shard>& data,
                                      const std::vector<Shard>& test, Communicator& comm) {
  const StallTimeoutExtension extension(comm, kTimeoutExtension);
  Labels labels;
  run_on_all(comm, "start: labels", [&] {
    StopRequest stop(options);
    collect(options, data, comm, stop, labels);
    if (!options.test_frozen) collect(options, test, comm, stop, labels);
  });
  const std::string mine = as_lines(labels);
  for (const auto& bytes : all_gather_bytes(comm, std::as_bytes(std::span(mine)), "start: labels")) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::string& label : lines_of(text)) labels.insert(std::move(label));
  }
  return {labels.begin(), labels.end()};
}

std::vector<std::string> list_labels(const std::filesystem::path& file, Communicator& comm) {
  std::string text;
  run_on_all(comm, "start: labels", [&] {
    if (comm.rank() == 0) text = as_lines(read_label_list(file));
  });
  return lines_of(broadcast_text(comm, text, 0, "start: labels"));
}

}  // namespace

void learn_labels(const TrainingOptions& options, const std::vector<Shard>& data, const std::vector<Shard>& test,
                  Communicator& comm, Learner& learner) {
  const std::vector<std::string> labels =
      options.labels.empty() ? count_labels(options, data, test, comm) : list_labels(options.labels, comm);
  if (labels.empty()) throw AgreedError(Fault::kNoInput, "there is no label in the data: --method pecoc needs some");
  for (const std::string& label : labels) {
    const auto i = static_cast<LabelId>(learner.tree().labels());
    learner.apply({label, {i == 0 ? kNoLabel : complete_split(i)}, 0});
  }
}

}  // namespace cpt
