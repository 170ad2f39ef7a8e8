#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/answers.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"
#include "cpt/hashing.h"
#include "cpt/losses.h"
#include "data/format/parse_error.h"
#include "data/text/line_reader.h"
#include "model/learning/learner.h"
#include "model/learning/losses.h"

namespace cpt {

namespace {

constexpr const char* kScoreFooter =
    R"(Prints a line per input line, in input order: P(label | x) of its own label, or 0 if the model does
not know that label. With --label or --labels, P(NAME | x) of the labels that they name follow, each
after a tab: those of --label in the order given, then those of the file. Lines then need no label,
and those without one show - in its place. With --multilabel split, the answers for all labels of a
line follow one another, with tabs between them. An input line that holds no example gets an empty
line: a blank one, a bad one that is skipped, a libsvm header, a libsvm line without labels. With
--json a line is {"predictions": [{"label": "a", "probability": 0.5, "own": true}, {"label": "b",
"probability": 0.25}, ...]}: its own label first, if it has one, then those that are named; an empty
list in place of the empty line; "line", "tag" and "error" are as cpt predict --json prints them.

Examples:
  cpt score --model runs/ads/model --data test.vw --summary > probabilities.txt
  cpt score --model runs/ads/model --data pages.vw --labels candidates.txt | cut -f 2-)";

struct ScoreOptions {
  CommandInput input;
  std::vector<std::string> label;
  std::filesystem::path labels;
  bool summary = false;
  std::size_t threads = 1;
  std::filesystem::path output;
};

// A line's own label.
struct OwnLabel {
  LabelId id = kNoLabel;  // also if the line has none
  double probability = 0;
};

// The labels that the command line names; each has a column.
struct Candidates {
  std::vector<std::string> quoted;   // by column: as JSON
  std::vector<LabelId> known;        // those that the model knows
  std::vector<std::size_t> columns;  // of each known label
};

// Prints the probabilities of an example; reuses its buffers.
class Scorer {
 public:
  Scorer(const Learner& learner, const Candidates& candidates, bool json)
      : learner_(&learner),
        candidates_(&candidates),
        json_(json),
        labels_(candidates.known),
        columns_(candidates.quoted.size()) {}

  OwnLabel operator()(const ExampleView& x, Text& text) {
    OwnLabel own;
    if (!x.label.empty()) own.id = learner_->find(x);
    labels_.resize(candidates_->known.size());
    if (own.id != kNoLabel) labels_.push_back(own.id);
    const std::vector<double> found = probabilities(x);
    for (std::size_t i = 0; i < candidates_->known.size(); ++i) columns_[candidates_->columns[i]] = found[i];
    if (own.id != kNoLabel) own.probability = found.back();
    json_ ? append_objects(x, own.probability, text) : append_columns(x, own.probability, text);
    return own;
  }

 private:
  std::vector<double> probabilities(const ExampleView& x) {
    if (labels_.empty()) return {};
    if (labels_.size() > 1) return learner_->probabilities(x, labels_);
    learner_->locate(x, labels_.front(), path_state_);
    return {learner_->predict(path_state_)};
  }

  void append_columns(const ExampleView& x, double own, Text& text) const {
    const auto out = std::back_inserter(text);
    if (x.label.empty()) {
      text.push_back('-');
    } else {
      fmt::format_to(out, "{:.6g}", own);
    }
    for (const double p : columns_) fmt::format_to(out, "\t{:.6g}", p);
  }

  void append_objects(const ExampleView& x, double own, Text& text) const {
    std::string_view before;
    if (!x.label.empty()) {
      append_json(json_text(x.label, -1), own, ", \"own\": true", text);
      before = ", ";
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text.append(before);
      append_json(candidates_->quoted[i], columns_[i], "", text);
      before = ", ";
    }
  }

  const Learner* learner_;
  const Candidates* candidates_;
  bool json_;
  PathState path_state_;
  std::vector<LabelId> labels_;  // the known candidates, then the line's own label if it is known
  std::vector<double> columns_;  // 0 for labels that the model does not know
};

void print_summary(const Losses& losses, const BestPossible& best, std::uint64_t bad_lines) {
  const bool any_seen = losses.examples > losses.new_labels;
  const auto mean = [](bool any, double figure) { return any ? fmt::format("{:.6f}", figure) : "-"; };
  const auto of_all = [&](double figure) { return mean(losses.examples > 0, figure); };
  std::string text = fmt::format("examples       {}\nnew labels     {}\n", losses.examples, losses.new_labels);
  if (bad_lines > 0) text += fmt::format("bad lines      {} skipped\n", bad_lines);
  text += "squared        " + of_all(losses.mean_squared());
  if (losses.examples > 0) text += fmt::format(" +- {:.6f}", losses.squared_interval());
  text += "\nsquared seen   " + mean(any_seen, losses.mean_squared_seen());
  text += "\nlog            " + of_all(losses.mean_log());
  text += "\nlog seen       " + mean(any_seen, losses.mean_log_seen());
  text += "\nbest possible  " + of_all(best.mean_squared()) + "\n";
  std::fputs(text.c_str(), stderr);
}

// A label may hold blanks, as those of tables do.
std::vector<std::string> read_labels(const std::filesystem::path& path) {
  std::vector<std::string> names;
  ListFile file(path.string());
  for (std::string_view line; file.next(line);) names.emplace_back(line);
  if (names.empty()) file.refuse_at(1, "a label", "none: the list of labels is empty");
  return names;
}

void add_candidates(const char* option, const std::vector<std::string>& names, const Learner& learner,
                    Candidates& candidates) {
  std::vector<std::string_view> unknown;
  for (const std::string& name : names) {
    const LabelId label = learner.labels().find(name, hash_label(name));
    if (label == kNoLabel) {
      unknown.push_back(name);
    } else {
      candidates.known.push_back(label);
      candidates.columns.push_back(candidates.quoted.size());
    }
    candidates.quoted.push_back(json_text(name, -1));
  }
  if (unknown.empty()) return;
  std::string text = fmt::format("cpt: warning: {}: the model does not know {}", option, quote(unknown.front()));
  text += unknown.size() == 1
              ? ", so its probability is 0\n"
              : fmt::format(" and {} more of {}, so their probabilities are 0\n", unknown.size() - 1, names.size());
  std::fputs(text.c_str(), stderr);
}

void score(const ScoreOptions& options) {
  const bool has_file = !options.labels.empty();
  const std::vector<std::string> listed = has_file ? read_labels(options.labels) : std::vector<std::string>();
  OpenInput input(options.input, {.labels_required = options.label.empty() && !has_file, .every_line = true});
  input.require_apart(options.output);
  const Learner& learner = input.model().learner();
  Candidates candidates;
  add_candidates("--label", options.label, learner, candidates);
  add_candidates("--labels", listed, learner, candidates);
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
  ResultWriter out(options.output);
  answer_all(
      input, options.threads, chunk_limits(1 + candidates.quoted.size()),
      [&] { return Scorer(learner, candidates, options.input.json); }, tally, &out);
  out.finish();
  if (options.summary) print_summary(losses, best, input.bad_lines());
}

void declare(CLI::App& command, ScoreOptions& options) {
  add_answered_input_options(command, options.input);
  add_threads(command, options.threads);
  add_output_option(command, options.output);
  add_repeated(command, "--label", options.label, "Also print the probability of this label")->type_name("NAME");
  command
      .add_option("--labels", options.labels,
                  "Also print those of the labels in this file, one a line; empty lines are skipped")
      ->type_name("FILE");
  add_json_answers(command, options.input);
  command.add_flag(
      "--summary", options.summary,
      "At the end, print mean losses on standard error: squared is (1 - P)^2, with half of Hoeffding's 95 % interval; "
      "log is -ln P with P at least 1e-6; 'seen' leaves out new labels; 'best possible' is the squared loss of the "
      "label frequencies per distinct x on these lines, which needs memory for all of them");
}

}  // namespace

void add_score_command(CLI::App& program, Action& action) {
  add_command<ScoreOptions>(program, action, "score",
                            "Prints the probabilities of each line's own label and of named ones.", kScoreFooter,
                            declare, score);
}

}  // namespace cpt
