#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "app/cpt/commands.h"
#include "app/cpt/io/answers.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "cpt/hashing.h"
#include "cpt/losses.h"
#include "data/format/parse_error.h"
#include "model/learning/learner.h"
#include "model/learning/losses.h"

namespace cpt {

namespace {

constexpr const char* kScoreFooter =
    R"(Prints a line per input line, in input order: P(label | x) of its own label, or 0 if the model does
not know that label. With --label NAME, a tab and P(NAME | x) follow; lines then need no label, and
those without one show - in its place. With --multilabel split, the answers for all labels of a line
follow one another, with tabs between them. An input line that holds no example gets an empty line:
a blank one, a bad one that is skipped, a libsvm header, a libsvm line without labels.

Example:
  cpt score --model runs/ads/model --data test.vw --summary > probabilities.txt)";

struct ScoreOptions {
  CommandInput input;
  std::optional<std::string> label;
  bool summary = false;
  std::size_t threads = 1;
};

// A line's own label.
struct OwnLabel {
  LabelId id = kNoLabel;  // also if the line has none
  double probability = 0;
};

// Prints the probabilities of an example; reuses its buffers.
class Scorer {
 public:
  Scorer(const Learner& learner, const std::optional<std::string>& named)
      : learner_(&learner), has_named_(named.has_value()) {
    if (named) named_ = learner.labels().find(*named, hash_label(*named));
  }

  OwnLabel operator()(const ExampleView& x, Text& text) {
    const OwnLabel own = score_own(x);
    const double named = score(x, named_);
    const auto out = std::back_inserter(text);
    if (x.label.empty()) {
      text.push_back('-');
    } else {
      fmt::format_to(out, "{:.6g}", own.probability);
    }
    if (has_named_) fmt::format_to(out, "\t{:.6g}", named);
    return own;
  }

 private:
  OwnLabel score_own(const ExampleView& x) {
    if (x.label.empty()) return {};
    const LabelId label = learner_->find(x);
    return {label, score(x, label)};
  }

  // 0 for kNoLabel.
  double score(const ExampleView& x, LabelId label) {
    if (label == kNoLabel) return 0;
    learner_->locate(x, label, path_state_);
    return learner_->predict(path_state_);
  }

  const Learner* learner_;
  bool has_named_;
  LabelId named_ = kNoLabel;
  PathState path_state_;
};

void print_summary(const Losses& losses, const BestPossible& best) {
  const bool any_seen = losses.examples > losses.new_labels;
  const auto mean = [](bool any, double figure) { return any ? fmt::format("{:.6f}", figure) : "-"; };
  const auto of_all = [&](double figure) { return mean(losses.examples > 0, figure); };
  std::string text = fmt::format("examples       {}\nnew labels     {}\n", losses.examples, losses.new_labels);
  text += "squared        " + of_all(losses.mean_squared());
  if (losses.examples > 0) text += fmt::format(" +- {:.6f}", losses.squared_interval());
  text += "\nsquared seen   " + mean(any_seen, losses.mean_squared_seen());
  text += "\nlog            " + of_all(losses.mean_log());
  text += "\nlog seen       " + mean(any_seen, losses.mean_log_seen());
  text += "\nbest possible  " + of_all(best.mean_squared()) + "\n";
  std::fputs(text.c_str(), stderr);
}

void warn_of_unknown(const std::string& label, const Learner& learner) {
  if (learner.labels().find(label, hash_label(label)) != kNoLabel) return;
  std::fprintf(stderr, "cpt: warning: --label: the model does not know %s, so its probability is 0\n",
               quote(label).c_str());
}

void score(const ScoreOptions& options) {
  OpenInput input(options.input, {.labels_required = !options.label, .every_line = true});
  const Learner& learner = input.model().learner();
  if (options.label) warn_of_unknown(*options.label, learner);
  Losses losses;
  BestPossible best;
  const auto tally = [&](const ExampleView& x, const OwnLabel& own) {
    if (!options.summary || x.label.empty() || x.importance == 0) return;
    if (own.id == kNoLabel) {
      losses.add_new(static_cast<double>(x.importance));
    } else {
      losses.add_seen(static_cast<double>(x.importance), own.probability);
    }
    best.add(x);
  };
  ResultWriter out;
  answer_all(
      input, options.threads, {}, [&] { return Scorer(learner, options.label); }, tally, &out);
  out.finish();
  if (options.summary) print_summary(losses, best);
}

void declare(CLI::App& command, ScoreOptions& options) {
  add_answered_input_options(command, options.input);
  add_threads(command, options.threads);
  command.add_option("--label", options.label, "Also print the probability of this label")->type_name("NAME");
  command.add_flag(
      "--summary", options.summary,
      "At the end, print mean losses on standard error: squared is (1 - P)^2, with half of Hoeffding's 95 % interval; "
      "log is -ln P with P at least 1e-6; 'seen' leaves out new labels; 'best possible' is the squared loss of the "
      "label frequencies per distinct x on these lines, which needs memory for all of them");
}

}  // namespace

void add_score_command(CLI::App& program, Action& action) {
  add_command<ScoreOptions>(program, action, "score", "Prints the probability of each line's own label.", kScoreFooter,
                            declare, score);
}

}  // namespace cpt
