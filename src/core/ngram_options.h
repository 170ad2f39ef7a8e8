// The n-gram options: the text that each applies to, and its longest n-gram.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cpt {

// Stands between the words of an n-gram: "new york" in a namespace gives the feature "new^york" of that namespace.
inline constexpr char kNgramSeparator = '^';
inline constexpr int kMostNgram = 8;  // words

struct NgramOption {
  std::optional<std::string> name_space;  // nothing: all text that has no entry of its own
  std::size_t most = 0;                   // n-grams of 2 to `most` words
};

// Each is "N" for all text or "NAMESPACE:N". Throws Error(kUsage) for a wrong one, and for two of one namespace.
std::vector<NgramOption> parse_ngrams(const std::vector<std::string>& ngrams);

}  // namespace cpt
