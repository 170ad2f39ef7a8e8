#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/answers.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/cpt/view/evaluation_view.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"
#include "model/learning/evaluation.h"

namespace cpt {

namespace {

constexpr const char* kEvaluateFooter =
    R"(Nothing is learned, so the figures are those of `cpt_dist --init M --test D --test-frozen`, but with
nothing sampled except part of the Brier score. Means are weighted by importance, and +- is 1.96
standard errors. The left column counts a label that the model does not know as one with P = 0; the
right column leaves out its examples.

  log      -ln P of the line's label, P at least 1e-6
  Brier    1 - 2 P + the sum over all labels of P^2: exact for the labels that --k searches, an
           estimate without bias for the others
  squared  (1 - P)^2
  P@k      share of the k most probable labels that the line has
  R@k      share of the line's labels that are among the k most probable ones
  nDCG@k   the same, discounted by 1 / log2(1 + rank), relative to the best order

A line has one label, or with --multilabel split all of its labels. The calibration table shows the
mean probability of the best label, and how often it was the line's; the calibration error is the
mean difference of the two over all examples. Labels are classed by the number of their examples in
this data. Recall: how often the label was the best where the line has it. Precision: how often the
line has it where it was the best.

Examples:
  cpt evaluate --model runs/ads/model --data ads/test --k 1,5,10
  cpt evaluate --model runs/ads/model --data ads/test --by-label --json > figures.json)";

struct EvaluateOptions {
  CommandInput input;
  std::vector<std::size_t> ks{1, 3, 5};
  bool by_label = false;
  bool json = false;
  std::size_t threads = 1;
};

void evaluate(const EvaluateOptions& options) {
  OpenInput input(options.input, {.every_line = true});
  const Learner& learner = input.model().learner();
  Evaluation evaluation(learner.labels(), options.ks);
  const auto make_judge = [&] {
    return [judge = Judge(learner, options.ks.back())](const ExampleView& x, Text&) mutable { return judge(x); };
  };
  const auto tally = [&](const ExampleView& x, const Judgement& judgement) { evaluation.add(x, judgement); };
  answer_all(input, options.threads, {}, make_judge, tally, nullptr);
  evaluation.finish();
  ResultWriter out;
  if (options.json) {
    out.print("{}\n", json_text(evaluation_json(evaluation, input.bad_lines(), options.by_label), 2));
  } else {
    out.write(evaluation_text(evaluation, input.bad_lines(), options.by_label));
  }
  out.finish();
}

// The values in ascending order, without duplicates.
std::vector<std::size_t> parse_ks(const std::vector<std::string>& texts) {
  std::vector<std::size_t> ks;
  for (const std::string& text : texts) {
    ks.push_back(parse_value("--k", [&] { return parse_count(text, 1, std::numeric_limits<std::size_t>::max()); }));
  }
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  return ks;
}

void declare(CLI::App& command, EvaluateOptions& options) {
  add_input_options(command, options.input);
  command
      .add_option_function<std::vector<std::string>>(
          "--k", [&options](const std::vector<std::string>& texts) { options.ks = parse_ks(texts); },
          "For how many of the most probable labels to show precision, recall and nDCG")
      ->option_text("N,N,...=1,3,5")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--by-label", options.by_label,
                   "Also show each label that occurs or was predicted: examples, recall, precision and mean log");
  command.add_flag("--json", options.json, "Print the figures as a JSON object");
  add_threads(command, options.threads);
}

}  // namespace

void add_evaluate_command(CLI::App& program, Action& action) {
  add_command<EvaluateOptions>(program, action, "evaluate",
                               "Measures how well a model predicts labelled data, without learning it.",
                               kEvaluateFooter, declare, evaluate);
}

}  // namespace cpt
