#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/answers.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"

namespace cpt {

namespace {

constexpr const char* kPredictFooter =
    R"(Prints a line per input line, in input order: label:probability pairs, best first, separated by
spaces. The search is exact. The line is empty if the model has no labels or if none reaches the
threshold, and for an input line that holds no example: a blank one, a bad one that is skipped, a
libsvm header. Input lines need no label. With --json a line is {"predictions": [{"label": "a",
"probability": 0.5}, ...]}, an empty list in place of the empty line, after "line" and "tag" if
asked for; or {"error": "..."} in place of 'error: ...'.

Examples:
  cpt predict --model runs/ads/model --data test.vw --top 5
  zcat log.gz | cpt predict --model runs/ads/model --data - --learn > predictions.txt)";

struct PredictOptions {
  CommandInput input;
  std::uint64_t top = 1;
  double threshold = 0;
  bool learn = false;
  std::size_t threads = 1;
  std::filesystem::path output;
};

struct NoNote {};

void append_text(const std::vector<Prediction>& predictions, Text& text) {
  const char* before = "";
  for (const Prediction& best : predictions) {
    fmt::format_to(std::back_inserter(text), "{}{}:{:.6g}", before, best.label, best.probability);
    before = " ";
  }
}

void append_objects(const std::vector<Prediction>& predictions, Text& text) {
  std::string_view before;
  for (const Prediction& best : predictions) {
    text.append(before);
    append_json(json_text(best.label, -1), best.probability, "", text);
    before = ", ";
  }
}

void append_predictions(const Model& model, const PredictOptions& options, const ExampleView& x, Text& text) {
  const std::vector<Prediction> best = model.top_k(x, options.top, options.threshold);
  options.input.json ? append_objects(best, text) : append_text(best, text);
}

// Whether an example begins another input line than the example before it. The examples of a line differ in their
// labels alone, so one of them is predicted.
class LineBegins {
 public:
  bool operator()(const ExampleView& x) {
    const bool same = x.origin.shard == last_.shard && x.origin.position == last_.position;
    last_ = x.origin;
    return !same;
  }

 private:
  Origin last_{.position = ~std::uint64_t{0}};
};

void predict(const PredictOptions& options) {
  OpenInput input(options.input, {.labels_required = false, .every_line = true});
  input.require_apart(options.output);
  Model& model = input.model();
  ResultWriter out(options.output);
  const auto predict = [&, begins_line = LineBegins()](const ExampleView& x, Text& text) mutable {
    if (begins_line(x)) append_predictions(model, options, x, text);
    return NoNote{};
  };
  const auto predict_and_learn = [&, predict = predict](const ExampleView& x, Text& text) mutable {
    const NoNote note = predict(x, text);
    if (x.importance > 0 && model.takes_label(x)) model.learn(x);
    return note;
  };
  const auto no_tally = [](const ExampleView&, NoNote) {};
  if (options.learn) {
    answer_on_one_thread(input, predict_and_learn, no_tally, &out);
  } else {
    answer_all(
        input, options.threads, chunk_limits(options.top), [&] { return predict; }, no_tally, &out);
  }
  out.finish();
}

std::string check_probability(const std::string& text) {
  double value = -1;
  const bool is_valid = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1;
  return is_valid ? "" : "'" + text + "' is not in [0, 1]";
}

void declare(CLI::App& command, PredictOptions& options) {
  add_answered_input_options(command, options.input);
  add_count(command, "--top", options.top, 1, "Number of labels per line");
  command.add_option("--threshold", options.threshold, "Print only labels of at least this probability")
      ->type_name("P")
      ->check(CLI::Validator(check_probability, ""))
      ->capture_default_str();
  auto* learn =
      command.add_flag("--learn", options.learn,
                       "After predicting a line, learn from its label, if it has one. The model on disk stays "
                       "unchanged. Uses one thread");
  command.add_flag("--frozen")->description("Learn nothing (the default)")->excludes(learn);
  add_json_answers(command, options.input);
  add_threads(command, options.threads);
  add_output_option(command, options.output);
}

}  // namespace

void add_predict_command(CLI::App& program, Action& action) {
  add_command<PredictOptions>(program, action, "predict", "Prints the most probable labels of each line.",
                              kPredictFooter, declare, predict);
}

}  // namespace cpt
