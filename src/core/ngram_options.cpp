#include "core/ngram_options.h"

#include <algorithm>
#include <charconv>

#include "cpt/error.h"

namespace cpt {

std::vector<NgramOption> parse_ngrams(const std::vector<std::string>& ngrams) {
  std::vector<NgramOption> parsed;
  for (const std::string& text : ngrams) {
    const std::size_t colon = text.rfind(':');
    const std::string number = colon == std::string::npos ? text : text.substr(colon + 1);
    NgramOption one;
    if (colon != std::string::npos) one.name_space = text.substr(0, colon);
    const char* end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, one.most);
    if (read.ec != std::errc() || read.ptr != end || one.most < 2 || one.most > kMostNgram) {
      throw Error(Fault::kUsage, "--ngrams " + text + ": give a number of words from 2 to " +
                                     std::to_string(kMostNgram) +
                                     ", like 2, or a namespace and a number, like title:2");
    }
    if (std::ranges::find(parsed, one.name_space, &NgramOption::name_space) != parsed.end()) {
      throw Error(Fault::kUsage, "--ngrams " + text + ": its namespace is given twice");
    }
    parsed.push_back(one);
  }
  return parsed;
}

}  // namespace cpt
