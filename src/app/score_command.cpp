#include "app/score_command.h"

#include <cstdio>
#include <optional>

#include "app/command_input.h"
#include "app/result_writer.h"
#include "cpt/hashing.h"
#include "cpt/losses.h"
#include "model/best_possible.h"
#include "model/learner.h"

namespace cpt {

namespace {

constexpr const char* kFooter =
    R"(Prints a line per example, in input order: P(label | x) of its own label, 0 if the model has not met that label.
With --label NAME also P(NAME | x), after a tab; lines may then have no label, and show - for theirs.

Example:
  cpt score --model runs/ads/model --data test.vw --summary > probabilities.txt)";

struct ScoreOptions {
  CommandInput input;
  std::optional<std::string> label;
  bool summary = false;
};

// P(label | x) of any label, with buffers that live on from example to example.
class Scorer {
 public:
  explicit Scorer(const Learner& learner) : learner_(learner) {}

  // 0 for kNoLabel.
  double score(const ExampleView& x, LabelId label) {
    if (label == kNoLabel) return 0;
    learner_.locate(x, label, walk_);
    return learner_.predict(walk_);
  }

 private:
  const Learner& learner_;
  Walk walk_;
};

void print_summary(const Losses& losses, const BestPossible& best) {
  std::fprintf(stderr,
               "examples       %llu\n"
               "new labels     %llu\n"
               "squared        %.6f +- %.6f\n"
               "squared seen   %.6f\n"
               "log            %.6f\n"
               "log seen       %.6f\n"
               "best possible  %.6f\n",
               static_cast<unsigned long long>(losses.examples), static_cast<unsigned long long>(losses.new_labels),
               losses.mean_squared(), losses.squared_interval(), losses.mean_squared_seen(), losses.mean_log(),
               losses.mean_log_seen(), best.mean_squared());
}

void score_own_label(const ExampleView& x, const Learner& learner, Scorer& scorer, Losses& losses, ResultWriter& out) {
  if (x.label.empty()) return out.print("-");
  const LabelId label = learner.find(x);
  const double p = scorer.score(x, label);
  out.print("{:.6g}", p);
  if (label == kNoLabel) {
    losses.add_new(static_cast<double>(x.importance));
  } else {
    losses.add_seen(static_cast<double>(x.importance), p);
  }
}

void score(const ScoreOptions& options) {
  OpenInput input(options.input, {.labels_required = !options.label});
  const Learner& learner = input.model().learner();
  const LabelId named = options.label ? learner.labels().find(*options.label, hash_label(*options.label)) : kNoLabel;
  Scorer scorer(learner);
  Losses losses;
  BestPossible best;
  ResultWriter out;
  while (const Batch* line = input.next()) {
    for (std::size_t i = 0; i < line->size(); ++i) {
      const ExampleView x = (*line)[i];
      score_own_label(x, learner, scorer, losses, out);
      if (options.summary && !x.label.empty()) best.add(x);
      if (options.label) out.print("\t{:.6g}", scorer.score(x, named));
      out.print("\n");
    }
  }
  out.finish();
  if (options.summary) print_summary(losses, best);
}

void declare(CLI::App& command, ScoreOptions& options) {
  add_input_options(command, options.input);
  command.add_option("--label", options.label, "the probability of this label, too")->type_name("NAME");
  command.add_flag(
      "--summary", options.summary,
      "at the end, mean losses on standard error: squared is (1 - P)^2 with Hoeffding's interval at 95 %, log is "
      "-ln P with P floored at 1e-6; the seen ones leave out new labels; best possible is the squared loss of who "
      "knows "
      "how often each label comes with each x on these very lines, and takes memory for all of them");
}

}  // namespace

void add_score_command(CLI::App& program, Action& action) {
  add_command<ScoreOptions>(program, action, "score", "Prints the probability of each line's own label.", kFooter,
                            declare, score);
}

}  // namespace cpt
