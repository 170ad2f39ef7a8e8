#include "api/input_fit.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "api/options/option_values.h"
#include "model/weights/calibrators.h"

namespace cpt {

namespace {

constexpr std::size_t kFewestFeatures = 10;
constexpr double kAlmostNone = 0.05;
constexpr double kMost = 0.99;  // a model that has met this part fits, even if all are met by chance

std::string listed(const std::vector<std::string>& texts, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) list += (i == 0 ? "" : " ") + texts[i];
  return list;
}

}  // namespace

std::string describe(const InputProfile& profile) {
  constexpr std::size_t kShown = 4;
  std::string text = profile.format + " lines";
  if (!profile.features.empty()) text += " with features like " + listed(profile.features, kShown);
  const bool has_names = std::ranges::any_of(profile.name_spaces, [](const auto& name) { return !name.empty(); });
  if (has_names) text += ", of namespaces like " + listed(profile.name_spaces, kShown);
  return text;
}

Format line_format_of(const Learner& learner) {
  const auto found = format_names().find(learner.input().format);
  if (found == format_names().end() || found->second == Format::kBinary || found->second == Format::kCsv) {
    return Format::kAuto;
  }
  return found->second;
}

std::optional<bool> has_met(const Learner& learner, std::span<const FeatureHash> features) {
  const FeatureCounts& counts = learner.feature_counts();
  if (!counts.used() || counts.stored_examples().all == 0 || features.size() < kFewestFeatures) {
    return std::nullopt;
  }
  const auto met = std::ranges::count_if(features, [&](FeatureHash feature) { return counts.has_counted(feature); });
  const double part = static_cast<double>(met) / static_cast<double>(features.size());
  if (part >= kMost) return true;
  const double by_chance = static_cast<double>(counts.stored().size()) / static_cast<double>(counts.size());
  return part - by_chance >= kAlmostNone * (1 - by_chance);
}

std::string warning_of_misfit(const Learner& learner, const std::string& input) {
  const std::string learned = learner.input().empty() ? "" : "; it has learned from " + describe(learner.input());
  return "the model has met almost none of the features in the first examples of " + input + learned;
}

std::string warning_of_format(const Learner& learner, const std::string& format, const std::string& input) {
  const std::string& learned = learner.input().format;
  const std::string binary = name_of(format_names(), Format::kBinary);
  if (format.empty() || learned.empty() || format == binary || learned == binary || format == learned) return "";
  return input + ": is " + format + ", but the model has learned from " + describe(learner.input());
}

// Only ratios matter: if all importances are equal, calibrators count the same part of each.
std::string warning_of_importances(std::span<const float> importances, const std::string& input) {
  constexpr double kMostSeen = Calibrator::kMostImportance;
  double all = 0;
  double seen = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const float importance : importances) {
    const auto one = static_cast<double>(importance);
    if (one == 0) continue;  // it is not learned
    all += one;
    seen += std::min(one, kMostSeen);
    least = std::min(least, one);
    most = std::max(most, one);
  }
  if (most == 0 || seen / all >= std::min(least, kMostSeen) / least / 2) return "";
  char text[320];
  std::snprintf(text, sizeof text,
                " have importances from %.6g to %.6g; calibration counts one above %g as %g, so probabilities will be "
                "misleading: divide all importances by the same number, so that most are at most %g (little but their "
                "ratios matters)",
                least, most, kMostSeen, kMostSeen, kMostSeen);
  return "the first examples of " + input + text;
}

}  // namespace cpt
