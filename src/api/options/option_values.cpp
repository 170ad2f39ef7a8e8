#include "api/options/option_values.h"

#include <charconv>
#include <cmath>

namespace cpt {

const Names<Format>& format_names() {
  static const Names<Format> names{{"auto", Format::kAuto},
                                   {"vw", Format::kVw},
                                   {"libsvm", Format::kLibsvm},
                                   {"fasttext", Format::kFasttext},
                                   {"binary", Format::kBinary}};
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
  static const Names<Update> names{{"adaptive", Update::kAdaptive}, {"sgd", Update::kSgd}};
  return names;
}

const Names<Normalize>& normalize_names() {
  static const Names<Normalize> names{{"none", Normalize::kNone}, {"l2", Normalize::kL2}};
  return names;
}

const Names<Placement>& placement_names() {
  static const Names<Placement> names{{"partitioned", Placement::kPartitioned}, {"replicated", Placement::kReplicated}};
  return names;
}

const Names<MergeRule>& merge_names() {
  static const Names<MergeRule> names{{"confidence", MergeRule::kConfidence},
                                      {"contraction", MergeRule::kContraction},
                                      {"average", MergeRule::kAverage}};
  return names;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const char* end = text.data() + text.size();
  std::uint64_t count = 0;
  if (const auto whole = std::from_chars(text.data(), end, count); whole.ec == std::errc() && whole.ptr == end) {
    return count;
  }
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  double value = 0;
  const auto real = std::from_chars(text.data(), end, value);
  const bool whole = real.ec == std::errc() && real.ptr == end && value >= 0 && value < kBeyond;
  if (!whole || value != std::floor(value)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

namespace {

// Also true for numbers that no integer can hold.
bool is_number_above(const std::string& text, std::uint64_t most) {
  const char* end = text.data() + text.size();
  double value = 0;
  const auto number = std::from_chars(text.data(), end, value);
  return number.ec == std::errc() && number.ptr == end && value > static_cast<double>(most);
}

}  // namespace

std::uint64_t parse_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  const std::optional<std::uint64_t> count = parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  const std::string range = is_number_above(text, most)
                                ? "from " + std::to_string(least) + " to " + std::to_string(most)
                                : "of at least " + std::to_string(least);
  throw Error(Fault::kUsage, "'" + text + "' is not a whole number " + range);
}

double parse_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  if (number.ec == std::errc() && number.ptr == end) return value;
  throw Error(Fault::kUsage, "'" + text + "' is not a number");
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

}  // namespace cpt
