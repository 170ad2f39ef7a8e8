#include "data/pipeline/feature_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "core/number_text.h"
#include "data/format/parse_error.h"

namespace cpt {

namespace {

constexpr std::size_t kColumnsShown = 5;

// Of at least one value.
float median(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

void FeatureCheck::add_name(FeatureHash feature, std::string_view name_space, std::string_view name,
                            const ReadOptions& options) {
  const auto [seen, is_new] = seen_.try_emplace(feature);
  if (!is_new) return;
  seen->second.name_space = name_space;
  seen->second.name = name;
  seen->second.is_cross = is_in(options.interactions, name_space) && name.find('*') != std::string_view::npos;
  if (is_in(options.fields.text, name_space) || is_in(options.fields.categorical, name_space)) return;
  const bool is_number = name == name_space;
  if (!is_number && !name.starts_with(std::string(name_space) + "=")) return;
  Column& column = columns_[std::string(name_space)];
  column.has_numbers = column.has_numbers || is_number;
  if (!is_number && column.text.empty()) column.text = name.substr(name_space.size() + 1);
}

void FeatureCheck::add(const ExampleView& x) {
  ++examples_;
  for (std::size_t i = 1; i < x.features.size(); ++i) {  // the first is the constant
    seen_[x.features[i]].sizes.push_back(std::abs(x.values[i]));
  }
}

// Of crosses, the features that they are made of are looked at.
std::string FeatureCheck::warning_of_huge(Format format) const {
  std::vector<float> typical;
  for (const auto& [feature, seen] : seen_) {
    if (!seen.is_cross && !seen.sizes.empty()) typical.push_back(median(seen.sizes));
  }
  if (typical.empty()) return "";
  const double usual = std::max(1.0, static_cast<double>(median(typical)));
  const auto is_huge = [&](const Seen& seen) {
    const auto many = std::ranges::count_if(seen.sizes, [&](float size) { return size > kHuge * usual; });
    return !seen.is_cross && 10 * static_cast<std::uint64_t>(many) >= examples_;
  };
  FeatureHash worst = 0;
  const Seen* of_worst = nullptr;
  double value = 0;
  for (const auto& [feature, seen] : seen_) {
    if (!is_huge(seen) || static_cast<double>(median(seen.sizes)) <= value) continue;
    worst = feature;
    of_worst = &seen;
    value = static_cast<double>(median(seen.sizes));
  }
  if (of_worst == nullptr) return "";
  const bool is_csv = format == Format::kCsv;
  const bool is_json = format == Format::kJson;
  const std::string name_space =
      is_csv || of_worst->name_space.empty() ? "" : of_worst->name_space + (is_json ? "." : "^");
  const std::string key = name_space + of_worst->name;
  std::string advice = " or take their logarithm";
  if (is_csv || is_json) {
    const std::string option = (is_csv ? "-columns " : "-keys ") + key;
    advice = ", take their logarithm, read them as names (--categorical" + option + ") or not at all (--ignore" +
             option + ")";
  }
  const std::string name = of_worst->name.empty() ? "#" + digest_text(worst) : quote(key);
  return "values of " + std::string(is_csv ? "the column " : "the feature ") + name + " are like " + figure(value) +
         ", " + figure(value / usual) + " times those of most features, which they drown: scale them" + advice;
}

std::string FeatureCheck::warning_of_mixed() const {
  std::string names;
  std::size_t count = 0;
  const std::string* example = nullptr;
  for (const auto& [name, column] : columns_) {
    if (!column.has_numbers || column.text.empty()) continue;
    if (example == nullptr) example = &column.text;
    if (++count <= kColumnsShown) names += (count == 1 ? "" : ",") + name;
  }
  if (example == nullptr) return "";
  const std::string more = count > kColumnsShown ? ",..." : "";
  return (count == 1 ? "the column " : "the columns ") + names + more + (count == 1 ? " holds" : " hold") +
         " both numbers and text, such as " + quote(*example) + ": if all are names, --categorical-columns " + names +
         more + "; if the text stands for a missing number, leave that value empty";
}

std::vector<std::string> FeatureCheck::warnings(const std::string& input, Format format) const {
  std::vector<std::string> all;
  for (const std::string& text : {warning_of_huge(format), format == Format::kCsv ? warning_of_mixed() : ""}) {
    if (!text.empty()) all.push_back(input + ": " + text);
  }
  return all;
}

}  // namespace cpt
