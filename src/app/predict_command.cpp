#include "app/predict_command.h"

#include <cstdint>
#include <filesystem>

#include "app/command_input.h"
#include "app/option_values.h"
#include "app/result_writer.h"

namespace cpt {

namespace {

constexpr const char* kFooter =
    R"(Prints a line per example, in input order: label:probability, best first, separated by spaces. The search is
exact. The line is empty if the model is, or if no label reaches the threshold. Lines of data need no label.

Example:
  cpt predict --model runs/ads/model --data test.vw --top 5
  zcat log.gz | cpt predict --model runs/ads/model --data - --learn > predictions.txt)";

struct PredictOptions {
  CommandInput input;
  std::uint64_t top = 1;
  double threshold = 0;
  bool learn = false;
  std::filesystem::path output;
};

void print_predictions(const std::vector<Prediction>& predictions, ResultWriter& out) {
  const char* before = "";
  for (const Prediction& best : predictions) {
    out.print("{}{}:{:.6g}", before, best.label, best.probability);
    before = " ";
  }
  out.print("\n");
}

void predict(const PredictOptions& options) {
  OpenInput input(options.input, {.labels_required = false});
  Model& model = input.model();
  ResultWriter out(options.output);
  while (const Batch* line = input.next()) {
    for (std::size_t i = 0; i < line->size(); ++i) {
      const ExampleView x = (*line)[i];
      print_predictions(model.top_k(x, options.top, options.threshold), out);
      if (options.learn && !x.label.empty()) model.learn(x);
    }
  }
  out.finish();
}

std::string check_probability(const std::string& text) {
  double value = -1;
  const bool fine = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1;
  return fine ? "" : "'" + text + "' is not in [0, 1]";
}

void declare(CLI::App& command, PredictOptions& options) {
  add_input_options(command, options.input);
  add_count(command, "--top", options.top, 1, "so many labels to a line");
  command.add_option("--threshold", options.threshold, "only labels of at least this probability")
      ->type_name("P")
      ->check(CLI::Validator(check_probability, ""))
      ->capture_default_str();
  auto* learn =
      command.add_flag("--learn", options.learn,
                       "after each line is predicted, learn its label if it has one; this is forgotten at the end: "
                       "the model on disk is never changed");
  command.add_flag("--frozen")->description("learn nothing; the default")->excludes(learn);
  command.add_option("--output", options.output, "written whole or not at all; without it, standard output")
      ->type_name("FILE");
}

}  // namespace

void add_predict_command(CLI::App& program, Action& action) {
  add_command<PredictOptions>(program, action, "predict", "Prints the most probable labels of each line.", kFooter,
                              declare, predict);
}

}  // namespace cpt
