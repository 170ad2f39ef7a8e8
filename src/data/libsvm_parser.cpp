#include "data/libsvm_parser.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "data/format.h"
#include "data/number.h"
#include "data/rejection.h"
#include "data/tokens.h"

namespace cpt {

LibsvmParser::LibsvmParser(const ReadOptions& options)
    : options_(options), hasher_(options.seed), name_space_(hasher_.name_space("")), label_choice_(options) {}

bool LibsvmParser::parse(std::string_view line, Origin origin, Batch& batch) {
  if (origin.line == 1 && is_xmc_header(line)) return false;
  Tokens tokens(line);
  std::string_view token = tokens.next();
  labels_.clear();
  if (token.find(':') == std::string_view::npos) {
    split_labels(line, token);
    token = tokens.next();
  } else if (options_.labels_required) {
    reject(line, token, "a label");
  }
  for (; !token.empty(); token = tokens.next()) add_feature(line, token, batch);
  label_choice_.finish(line, labels_, origin, batch);
  return true;
}

void LibsvmParser::split_labels(std::string_view line, std::string_view token) {
  std::size_t first = 0;
  while (true) {
    const std::size_t comma = std::min(token.find(',', first), token.size());
    if (comma == first) reject(line, token, "labels with one comma between them");
    labels_.push_back(token.substr(first, comma - first));
    if (comma == token.size()) return;
    first = comma + 1;
  }
}

void LibsvmParser::add_feature(std::string_view line, std::string_view token, Batch& batch) const {
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos) reject(line, token, "index:value");
  std::string_view index = token.substr(0, colon);
  std::uint64_t number = 0;
  const auto [stop, failure] = std::from_chars(index.data(), index.data() + index.size(), number);
  if (failure != std::errc{} || stop != index.data() + index.size()) {
    reject(line, token, "an index that is an unsigned integer below 2^64");
  }
  index.remove_prefix(std::min(index.find_first_not_of('0'), index.size() - 1));

  const std::string_view text = token.substr(colon + 1);
  const auto value = parse_number(text);
  if (!value) reject(line, text, "a number of at most 1e30 in size");
  const FeatureHash feature = hasher_.feature(name_space_, index);
  batch.add_feature(feature, static_cast<float>(*value));
  if (options_.on_feature) options_.on_feature(feature, "", index);
}

}  // namespace cpt
