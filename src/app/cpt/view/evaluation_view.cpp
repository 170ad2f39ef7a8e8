#include "app/cpt/view/evaluation_view.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "app/cpt/io/command_input.h"

namespace cpt {

namespace {

using Json = nlohmann::ordered_json;

std::optional<double> quotient(double sum, double weight) {
  return weight > 0 ? std::optional(sum / weight) : std::nullopt;
}

std::string or_dash(std::optional<double> figure) { return figure ? fmt::format("{:.6f}", *figure) : "-"; }

Json or_null(std::optional<double> figure) { return figure ? Json(*figure) : Json(nullptr); }

std::string mean_text(const WeightedMean& mean) {
  return mean.is_empty() ? "-" : fmt::format("{:.6f} +- {:.6f}", mean.mean(), mean.interval());
}

std::string means_line(const std::string& name, const WeightedMean& all, const WeightedMean& seen) {
  return fmt::format("{:<10} {:<24} {}\n", name, mean_text(all), mean_text(seen));
}

std::string means_text(const EvaluatedPart& all, const EvaluatedPart& seen) {
  std::string text = fmt::format("{:<10} {:<24} {}\n", "", "all examples", "without new labels");
  text += means_line("log", all.log, seen.log);
  text += means_line("Brier", all.brier, seen.brier);
  text += means_line("squared", all.squared, seen.squared);
  for (std::size_t i = 0; i < all.ranks.size(); ++i) {
    const RankFigures& a = all.ranks[i];
    const RankFigures& s = seen.ranks[i];
    text += means_line(fmt::format("P@{}", a.k), a.precision, s.precision);
    if (a.k == 1) continue;
    text += means_line(fmt::format("R@{}", a.k), a.recall, s.recall);
    text += means_line(fmt::format("nDCG@{}", a.k), a.ndcg, s.ndcg);
  }
  return text;
}

std::optional<double> calibration_error(const Evaluation& evaluation) {
  return evaluation.all().log.is_empty() ? std::nullopt : std::optional(evaluation.calibration_error());
}

std::string calibration_text(const Evaluation& evaluation) {
  std::string text = fmt::format("P of the best label   examples  predicted  observed   calibration error {}\n",
                                 or_dash(calibration_error(evaluation)));
  for (std::size_t i = 0; i < Evaluation::kBins; ++i) {
    const CalibrationBin& bin = evaluation.calibration()[i];
    text += fmt::format("{:.1f} to {:.1f} {:>20}  {:>9}  {:>8}\n", static_cast<double>(i) / Evaluation::kBins,
                        static_cast<double>(i + 1) / Evaluation::kBins, bin.examples,
                        or_dash(quotient(bin.predicted, bin.weight)), or_dash(quotient(bin.right, bin.weight)));
  }
  return text;
}

std::string class_line(const std::string& name, const FrequencyClass& members) {
  const LabelFigures& sum = members.sum;
  return fmt::format("{:<24} {:>9} {:>11}  {:>8}  {:>9}\n", name, members.labels, sum.examples,
                     or_dash(quotient(sum.right, sum.weight)), or_dash(quotient(sum.log, sum.weight)));
}

std::string classes_text(const Evaluation& evaluation) {
  std::string text =
      fmt::format("{:<24} {:>9} {:>11}  {:>8}  {:>9}\n", "labels with", "labels", "examples", "recall", "log");
  for (const FrequencyClass& members : evaluation.by_frequency()) {
    text += class_line(fmt::format("{} to {} examples", members.least, members.most), members);
  }
  return text + class_line("new labels", evaluation.new_labels());
}

std::string labels_text(const Evaluation& evaluation) {
  std::string text = fmt::format("{:>11}  {:>8}  {:>9}  {:>9}  label\n", "examples", "recall", "precision", "log");
  for (const auto& [name, label] : evaluation.by_label()) {
    text += fmt::format("{:>11}  {:>8}  {:>9}  {:>9}  {}{}\n", label.examples,
                        or_dash(quotient(label.right, label.weight)), or_dash(quotient(label.right, label.predicted)),
                        or_dash(quotient(label.log, label.weight)), name, label.is_new ? " (new)" : "");
  }
  return text;
}

void put_mean(Json& json, const std::string& name, const WeightedMean& mean) {
  json[name] = mean.is_empty() ? Json(nullptr) : Json(mean.mean());
  json[name + "_ci"] = mean.is_empty() ? Json(nullptr) : Json(mean.interval());
}

Json part_json(const EvaluatedPart& part) {
  Json json{{"examples", part.examples}};
  put_mean(json, "log", part.log);
  put_mean(json, "brier", part.brier);
  put_mean(json, "squared", part.squared);
  json["at"] = Json::array();
  for (const RankFigures& figures : part.ranks) {
    Json at{{"k", figures.k}};
    put_mean(at, "precision", figures.precision);
    put_mean(at, "recall", figures.recall);
    put_mean(at, "ndcg", figures.ndcg);
    json["at"].push_back(at);
  }
  return json;
}

Json calibration_json(const Evaluation& evaluation) {
  Json bins = Json::array();
  for (std::size_t i = 0; i < Evaluation::kBins; ++i) {
    const CalibrationBin& bin = evaluation.calibration()[i];
    bins.push_back({{"from", static_cast<double>(i) / Evaluation::kBins},
                    {"to", static_cast<double>(i + 1) / Evaluation::kBins},
                    {"examples", bin.examples},
                    {"predicted", or_null(quotient(bin.predicted, bin.weight))},
                    {"observed", or_null(quotient(bin.right, bin.weight))}});
  }
  return {{"error", or_null(calibration_error(evaluation))}, {"bins", bins}};
}

Json class_json(const FrequencyClass& members) {
  const LabelFigures& sum = members.sum;
  return {{"labels", members.labels},
          {"examples", sum.examples},
          {"recall", or_null(quotient(sum.right, sum.weight))},
          {"log", or_null(quotient(sum.log, sum.weight))}};
}

Json classes_json(const Evaluation& evaluation) {
  Json classes = Json::array();
  for (const FrequencyClass& members : evaluation.by_frequency()) {
    Json json{{"least", members.least}, {"most", members.most}};
    json.update(class_json(members));
    classes.push_back(json);
  }
  return classes;
}

Json labels_json(const Evaluation& evaluation) {
  Json labels = Json::array();
  for (const auto& [name, label] : evaluation.by_label()) {
    labels.push_back({{"label", name},
                      {"new", label.is_new},
                      {"examples", label.examples},
                      {"recall", or_null(quotient(label.right, label.weight))},
                      {"precision", or_null(quotient(label.right, label.predicted))},
                      {"log", or_null(quotient(label.log, label.weight))}});
  }
  return labels;
}

}  // namespace

std::string evaluation_text(const Evaluation& evaluation, std::uint64_t bad_lines, bool by_label) {
  const EvaluatedPart& all = evaluation.all();
  std::string text = fmt::format("{} examples, {} of them with a new label\n", all.examples,
                                 all.examples - evaluation.seen().examples);
  text += (bad_lines > 0 ? skipped_text(bad_lines) + "\n\n" : "\n");
  text += means_text(all, evaluation.seen()) + "\n" + calibration_text(evaluation) + "\n" + classes_text(evaluation);
  if (by_label) text += "\n" + labels_text(evaluation);
  return text;
}

Json evaluation_json(const Evaluation& evaluation, std::uint64_t bad_lines, bool by_label) {
  Json json{{"all", part_json(evaluation.all())},
            {"seen", part_json(evaluation.seen())},
            {"calibration", calibration_json(evaluation)},
            {"by_frequency", classes_json(evaluation)},
            {"new_labels", class_json(evaluation.new_labels())},
            {"error_lines", bad_lines}};
  if (by_label) json["by_label"] = labels_json(evaluation);
  return json;
}

}  // namespace cpt
