#include "data/vw_parser.h"

#include <array>
#include <cmath>

#include "data/label_choice.h"
#include "data/limits.h"
#include "data/number.h"
#include "data/rejection.h"
#include "data/tokens.h"

namespace cpt {
namespace {

// Bytes that end a name. One table look-up per byte: this loop sees every byte of the input.
constexpr auto kEndsName = [] {
  std::array<bool, 256> ends{};
  for (const char c : {' ', '\t', '|', ':'}) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

constexpr bool ends_token(char c) { return is_blank(c) || c == '|'; }

}  // namespace

VwParser::VwParser(const ReadOptions& options) : options_(options), hasher_(options.seed), interactions_(options) {}

bool VwParser::parse(std::string_view line, Origin origin, Batch& batch) {
  const std::size_t bar = line.find('|');
  const Header header = parse_header(line, line.substr(0, bar));
  if (bar == std::string_view::npos) reject(line, line.substr(line.size()), "'|' before the features");
  interactions_.begin_line();
  const char* end = line.data() + line.size();
  const char* at = line.data() + bar;
  while (at != end) at = parse_name_space(line, at + 1, batch);
  if (!interactions_.none()) interactions_.add_crosses(batch);
  batch.finish_example(header.label, header.importance, origin);
  return true;
}

VwParser::Header VwParser::parse_header(std::string_view line, std::string_view header) const {
  Header parsed;
  Tokens tokens(header);
  parsed.label = tokens.next();
  if (parsed.label.empty()) {
    if (options_.labels_required) reject(line, Tokens(line).next(), "a label");
    return parsed;
  }
  require_known(line, parsed.label, options_);
  std::string_view token = tokens.next();
  if (!token.empty() && token.front() != '\'') {
    const auto importance = parse_number(token);
    parsed.importance = static_cast<float>(importance.value_or(0));
    if (!(parsed.importance > 0)) reject(line, token, "an importance above 0 and at most 1e30");
    token = tokens.next();
  }
  if (!token.empty() && token.front() == '\'') token = tokens.next();
  if (!token.empty()) reject(line, token, "'|' or a 'tag");
  return parsed;
}

const char* VwParser::parse_name_space(std::string_view line, const char* at, Batch& batch) {
  const char* end = line.data() + line.size();
  Item name_space;
  at = parse_item(line, at, name_space);
  const std::uint64_t hash = hasher_.name_space(name_space.name);
  if (!interactions_.none()) interactions_.begin_name_space(name_space.name, batch);
  while (true) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end || *at == '|') return at;
    Item item;
    at = parse_item(line, at, item);
    const double value = item.number * name_space.number;
    if (std::abs(value) > kMaxValue) reject(line, item.number_text, "a number of at most 1e30 in size once scaled");
    const FeatureHash feature = hasher_.feature(hash, item.name);
    batch.add_feature(feature, static_cast<float>(value));
    if (options_.on_feature) {
      options_.on_feature(feature, name_space.name, item.name);
      interactions_.add_name(item.name);
    }
  }
}

const char* VwParser::parse_item(std::string_view line, const char* at, Item& item) {
  const char* end = line.data() + line.size();
  const char* first = at;
  while (at != end && !kEndsName[static_cast<unsigned char>(*at)]) ++at;
  item.name = {first, static_cast<std::size_t>(at - first)};
  if (at == end || *at != ':') return at;
  first = ++at;
  while (at != end && !ends_token(*at)) ++at;
  item.number_text = {first, static_cast<std::size_t>(at - first)};
  const auto number = parse_number(item.number_text);
  if (!number) reject(line, item.number_text, "a number of at most 1e30 in size");
  item.number = *number;
  return at;
}

}  // namespace cpt
