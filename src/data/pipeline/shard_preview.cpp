#include "data/pipeline/shard_preview.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/number_text.h"
#include "data/binary/binary_index.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

namespace {

constexpr std::uint64_t kEnoughBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kEnoughLines = kEnoughBytes;  // blank ones and others without an example included
constexpr std::size_t kNamesKept = 64;                // more than are shown, to have some left after those of bad lines

struct NamedFeature {
  FeatureHash feature;
  std::string name;
};

// Features that add up to 0 are left out, as the learner never sees them.
void show_features(const ExampleView& x, const std::vector<NamedFeature>& named, ShardPreview& seen) {
  for (const NamedFeature& one : named) {
    const auto found = std::lower_bound(x.features.begin() + 1, x.features.end(), one.feature);
    if (seen.shown.size() == ShardPreview::kShownFeatures) return;
    if (found == x.features.end() || *found != one.feature) continue;
    const auto value = static_cast<double>(x.values[static_cast<std::size_t>(found - x.features.begin())]);
    char text[32];
    std::snprintf(text, sizeof text, ":%.6g", value);
    seen.shown.push_back(one.name + text);
  }
}

// Shows features in the order of the line; those of a binary shard, which holds no names, in the order of their hashes.
void describe(const ExampleView& x, std::vector<NamedFeature> named, ShardPreview& seen) {
  seen.label = std::string(x.label);
  seen.importance = static_cast<double>(x.importance);
  seen.features = x.features.size() - 1;
  if (named.empty()) {
    for (const FeatureHash feature : x.features.subspan(1)) named.push_back({feature, "#" + digest_text(feature)});
  }
  show_features(x, named, seen);
}

std::uint64_t features_of_first_lines(const Shard& shard, const ReadOptions& options) {
  constexpr int kLines = 1000;
  ExampleStream stream({shard}, {0}, options);
  Batch batch = stream.make_batch();
  std::uint64_t features = 0;
  for (int line = 0; line < kLines && stream.read(batch); ++line) {
    features += batch.features();
    batch.clear();
  }
  return features;
}

}  // namespace

ShardPreview preview(const Shard& shard, ReadOptions options) {
  std::vector<NamedFeature> named;  // of the first line
  bool is_first = true;
  options.on_feature = [&](FeatureHash feature, std::string_view name_space, std::string_view name) {
    const auto is_this = [feature](const NamedFeature& one) { return one.feature == feature; };
    if (!is_first || named.size() == kNamesKept || std::ranges::any_of(named, is_this)) return;
    named.push_back({feature, std::string(name_space) + (name_space.empty() ? "" : "^") + std::string(name)});
  };
  options.every_line = true;
  ShardPreview seen;
  ExampleStream stream({shard}, {0}, std::move(options));
  Batch batch = stream.make_batch();
  const std::uint64_t begin = range_of(shard).begin;
  bool more = true;
  for (std::uint64_t lines = 0; lines < kEnoughLines && seen.bytes < kEnoughBytes && (more = stream.read(batch));
       ++lines) {
    if (batch.size() == 0) continue;
    if (is_first) {
      describe(batch[0], named, seen);
      seen.line = stream.line().number;
      if (stream.format() != Format::kBinary) seen.text = quote(stream.text());
    }
    is_first = false;
    seen.examples += batch.size();
    seen.bytes = batch.origin(0).end - begin;
    batch.clear();
  }
  if (!more) seen.bytes = content_bytes(shard);
  if (!is_first) seen.format = stream.format();
  return seen;
}

double growth_by_crosses(const std::vector<Shard>& shards, ReadOptions options) {
  if (options.interactions.empty() && options.ngrams.empty()) return 1;
  options.skip_bad_lines = true;
  options.weights_required = true;
  options.every_line = true;
  ReadOptions plain = options;
  plain.interactions.clear();
  plain.ngrams.clear();
  try {
    for (const Shard& shard : shards) {
      if (!is_text_file(shard)) continue;
      const std::uint64_t without = features_of_first_lines(shard, plain);
      if (without == 0) continue;
      return static_cast<double>(features_of_first_lines(shard, options)) / static_cast<double>(without);
    }
  } catch (const Error&) {  // the reader of the shard reports it
  }
  return 1;
}

std::uint64_t content_bytes(const Shard& shard) {
  if (!shard.regular) return 0;
  return shard.part.count == 1 && is_text_file(shard) ? estimated_text_bytes(shard) : own_bytes(shard);
}

}  // namespace cpt
