#include "api/options/option_values.h"

#include <cmath>

#include "core/number_text.h"

namespace cpt {

const Names<Format>& format_names() {
  static const Names<Format> names{
      {"auto", Format::kAuto}, {"vw", Format::kVw},   {"libsvm", Format::kLibsvm}, {"fasttext", Format::kFasttext},
      {"json", Format::kJson}, {"csv", Format::kCsv}, {"binary", Format::kBinary}};
  return names;
}

const Names<MultiLabel>& multilabel_names() {
  static const Names<MultiLabel> names{{"first", MultiLabel::kFirst},
                                       {"sample", MultiLabel::kSample},
                                       {"split", MultiLabel::kSplit},
                                       {"error", MultiLabel::kError}};
  return names;
}

const Names<Method>& method_names() {
  static const Names<Method> names{{"tree", Method::kTree},
                                   {"cpecoc", Method::kConditionalPecoc},
                                   {"oaa", Method::kOneAgainstAll},
                                   {"table", Method::kTable},
                                   {"pecoc", Method::kPecoc}};
  return names;
}

const Names<TreeKind>& tree_names() {
  static const Names<TreeKind> names{
      {"online", TreeKind::kOnline}, {"balanced", TreeKind::kBalanced}, {"random", TreeKind::kRandom}};
  return names;
}

std::string name_of_tree(TreeKind tree) { return tree == TreeKind::kGiven ? "given" : name_of(tree_names(), tree); }

const Names<Loss>& loss_names() {
  static const Names<Loss> names{{"logistic", Loss::kLogistic}, {"squared", Loss::kSquared}};
  return names;
}

const Names<Update>& update_names() {
  static const Names<Update> names{{"adaptive", Update::kAdaptive}, {"sgd", Update::kSgd}, {"safe", Update::kSafe}};
  return names;
}

const Names<Normalize>& normalize_names() {
  static const Names<Normalize> names{{"none", Normalize::kNone}, {"l2", Normalize::kL2}};
  return names;
}

const Names<bool>& switch_names() {
  static const Names<bool> names{{"on", true}, {"off", false}};
  return names;
}

const Names<Placement>& placement_names() {
  static const Names<Placement> names{
      {"partitioned", Placement::kPartitioned}, {"replicated", Placement::kReplicated}, {"hybrid", Placement::kHybrid}};
  return names;
}

const Names<MergeRule>& merge_names() {
  static const Names<MergeRule> names{{"confidence", MergeRule::kConfidence},
                                      {"contraction", MergeRule::kContraction},
                                      {"average", MergeRule::kAverage}};
  return names;
}

const Names<Metric>& metric_names() {
  static const Names<Metric> names{{"log", Metric::kLog},
                                   {"log_seen", Metric::kLogSeen},
                                   {"squared", Metric::kSquared},
                                   {"squared_seen", Metric::kSquaredSeen},
                                   {"brier_seen", Metric::kBrierSeen},
                                   {"top1_error_seen", Metric::kTop1ErrorSeen}};
  return names;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  if (const auto count = parse_all<std::uint64_t>(text)) return count;
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  const double value = parse_all<double>(text).value_or(-1);
  if (!(value >= 0 && value < kBeyond) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::uint64_t parse_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  const std::optional<std::uint64_t> count = parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  const bool is_above = count ? *count > most : parse_all<double>(text).value_or(0) >= static_cast<double>(most);
  const std::string range = is_above ? "from " + std::to_string(least) + " to " + std::to_string(most)
                                     : "of at least " + std::to_string(least);
  throw Error(Fault::kUsage, "'" + text + "' is not a whole number " + range);
}

double parse_number(const std::string& text) {
  if (const auto value = parse_all<double>(text)) return *value;
  throw Error(Fault::kUsage, "'" + text + "' is not a number");
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts) {
    if (part.empty()) throw Error(Fault::kUsage, "'" + text + "' is not a list with one comma between its parts");
  }
  return parts;
}

std::string join_with_commas(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

BadLinePolicy parse_bad_line_policy(const std::string& text) {
  constexpr std::string_view kLimit = "skip:";
  if (text == "stop") return {};
  if (text == "skip") return {true, {}};
  if (text.starts_with(kLimit)) {
    if (const auto most = parse_count(std::string_view(text).substr(kLimit.size()))) return {true, most};
  }
  throw Error(Fault::kUsage, "'" + text + "' is none of: " + kBadLineWords);
}

std::string bad_line_policy_text(bool skip, std::optional<std::uint64_t> most) {
  if (!skip) return "stop";
  return most ? "skip:" + std::to_string(*most) : "skip";
}

std::optional<Error> excess_of_bad_lines(std::uint64_t skipped, std::optional<std::uint64_t> most) {
  if (!most || skipped <= *most) return std::nullopt;
  return Error(Fault::kBadData, std::to_string(skipped) + (skipped == 1 ? " bad line was" : " bad lines were") +
                                    " skipped, more than the " + std::to_string(*most) + " that --on-error allows");
}

}  // namespace cpt
