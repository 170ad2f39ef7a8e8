#include "cpt/example.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstring>
#include <utility>

#include "core/input_limits.h"
#include "cpt/hashing.h"

namespace cpt {
namespace {

// Turns the number of items in each bucket into the bucket's start. Adds up eight at a time; their sum is at most 255.
template <std::size_t kBuckets>
void make_begins(std::array<std::uint8_t, kBuckets>& counts) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < kBuckets; i += sizeof before) {
    std::uint64_t word = 0;
    std::memcpy(&word, &counts[i], sizeof word);
    const std::uint64_t sums = word * kOnes;  // byte k: the sum of bytes 0 .. k
    const std::uint64_t begins = (sums << 8) + before * kOnes;
    before += sums >> 56;
    std::memcpy(&counts[i], &begins, sizeof begins);
  }
}

template <int kBits, class Item>
void deal_few(std::span<const Item> items, std::span<Item> dealt) {
  alignas(64) std::array<std::uint8_t, std::size_t{1} << kBits> next{};
  for (const Item& item : items) ++next[item.feature >> (64 - kBits)];
  make_begins(next);
  for (const Item& item : items) dealt[next[item.feature >> (64 - kBits)]++] = item;
}

template <class Item>
void deal_many(std::span<const Item> items, std::span<Item> dealt) {
  constexpr int kMostBits = 20;  // the counters of more would not fit into the cache
  const int shift = 64 - std::min(static_cast<int>(std::bit_width(items.size())), kMostBits);
  std::vector<std::uint32_t> next(std::size_t{1} << (64 - shift));
  for (const Item& item : items) ++next[item.feature >> shift];
  std::uint32_t before = 0;
  for (std::uint32_t& bucket : next) before += std::exchange(bucket, before);
  for (const Item& item : items) dealt[next[item.feature >> shift]++] = item;
}

// Puts items into buckets by the upper bits of `feature`, their 64-bit hash, and keeps their order within a bucket. In
// `dealt`, which has the length of `items`, only neighbors whose upper bits agree may be out of order. Fewer than 2^32
// items.
//
// Why not sort: the processor cannot predict comparisons of hashes. Mispredicting half of them took a third of the time
// to read a line of ten features, and half of it with forty. Hashes are spread evenly, so their upper bits give each
// position nearly exactly, without a branch.
template <class Item>
void deal_by_hash(std::span<const Item> items, std::span<Item> dealt) {
  if (items.size() <= 16) return deal_few<6>(items, dealt);
  if (items.size() <= 32) return deal_few<7>(items, dealt);
  if (items.size() <= 64) return deal_few<8>(items, dealt);
  if (items.size() <= 192) return deal_few<9>(items, dealt);
  deal_many(items, dealt);
}

// Values break ties, so that the sum of a repeated feature does not depend on the order of the text. std::sort needs an
// order of NaNs, too.
template <class Feature>
bool comes_before(const Feature& a, const Feature& b) {
  return a.feature != b.feature ? a.feature < b.feature : std::is_lt(std::strong_order(a.value, b.value));
}

// Fast if few are out of order.
template <class Feature>
void sort(std::span<Feature> features) {
  std::size_t moves_left = 8 * features.size();
  for (std::size_t i = 1; i < features.size(); ++i) {
    const Feature moved = features[i];
    std::size_t to = i;
    for (; to > 0 && comes_before(moved, features[to - 1]); --to) features[to] = features[to - 1];
    features[to] = moved;
    if (i - to > moves_left) return std::sort(features.begin(), features.end(), comes_before<Feature>);
    moves_left -= i - to;
  }
}

// Writes features (at least one) that are nearly in order, and swaps each with the next one if that is lower. Returns
// false if they are then not ascending and distinct, which is rare, or if some must be left out.
template <class Feature>
bool put_distinct(std::span<const Feature> dealt, const Batch::Space& to) {
  FeatureHash* features = to.features.data();
  float* values = to.values.data();
  Feature held = dealt[0];
  FeatureHash last = 0;
  bool good = true;
  const auto put = [&](const Feature& f) {
    good &= f.feature > last && f.value != 0 && f.feature != kConstantFeature;
    last = f.feature;
    *features++ = f.feature;
    *values++ = f.value;
  };
  for (const Feature& f : dealt.subspan(1)) {
    const bool lower = f.feature < held.feature;
    put(lower ? f : held);
    held = lower ? held : f;
  }
  put(held);
  return good;
}

// Writes features that are in order, and adds up repeated ones; returns the number that it writes.
template <class Feature>
std::size_t put_sums(std::span<const Feature> sorted, const Batch::Space& to) {
  constexpr auto kMost = static_cast<float>(kMaxValue);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    Feature sum = sorted[i++];
    while (i < sorted.size() && sorted[i].feature == sum.feature) sum.value += sorted[i++].value;
    // Each value is within the bound, but their sum may not be.
    sum.value = std::clamp(sum.value, -kMost, kMost);
    if (sum.value == 0 || sum.feature == kConstantFeature) continue;
    to.features[kept] = sum.feature;
    to.values[kept++] = sum.value;
  }
  return kept;
}

void scale_to_length_one(std::span<float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  if (squares == 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * scale);
}

}  // namespace

double ExampleView::squared_length() const {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

void Batch::finish_example(std::string_view label, float importance, const Origin& origin) {
  const Space space = make_room(open_.size());
  std::size_t kept = open_.size();
  if (kept > 0) {
    if (dealt_.size() < kept) dealt_.resize(kept);
    const auto dealt = std::span(dealt_).first(kept);
    deal_by_hash(std::span<const Feature>(open_), dealt);
    if (!put_distinct(std::span<const Feature>(dealt), space)) {
      sort(dealt);
      kept = put_sums(std::span<const Feature>(dealt), space);
    }
    if (normalize_ == Normalize::kL2) scale_to_length_one(space.values.first(kept));
    open_.clear();
  }
  add_entry(kept, label, hash_label(label), importance, origin);
}

Batch::Space Batch::extend(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                           const Origin& origin) {
  const Space space = make_room(features);
  add_entry(features, label, label_hash, importance, origin);
  return space;
}

void Batch::append(const ExampleView& x) {
  const Space space = extend(x.features.size() - 1, x.label, x.label_hash, x.importance, x.origin);
  std::copy(x.features.begin() + 1, x.features.end(), space.features.begin());
  std::copy(x.values.begin() + 1, x.values.end(), space.values.begin());
}

Batch::Space Batch::make_room(std::size_t features) {
  const std::size_t first = features_used_ + 1;
  if (features_.size() < first + features) {
    features_.resize(std::max(first + features, 2 * features_.size()));
    values_.resize(features_.size());
  }
  features_[first - 1] = kConstantFeature;
  values_[first - 1] = 1;
  return {std::span(features_).subspan(first, features), std::span(values_).subspan(first, features)};
}

void Batch::add_entry(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                      const Origin& origin) {
  Entry& entry = entries_.emplace_back();
  entry.first_feature = features_used_;
  entry.first_label_byte = labels_.size();
  entry.label_hash = label_hash;
  entry.features = static_cast<std::uint32_t>(features + 1);
  entry.label_bytes = static_cast<std::uint32_t>(label.size());
  entry.importance = importance;
  entry.origin = origin;
  features_used_ += features + 1;
  labels_.insert(labels_.end(), label.begin(), label.end());
}

ExampleView Batch::operator[](std::size_t i) const {
  const Entry& entry = entries_[i];
  ExampleView view;
  view.features = {features_.data() + entry.first_feature, entry.features};
  view.values = {values_.data() + entry.first_feature, entry.features};
  view.label = {labels_.data() + entry.first_label_byte, entry.label_bytes};
  view.label_hash = entry.label_hash;
  view.importance = entry.importance;
  view.origin = entry.origin;
  return view;
}

void Batch::clear() {
  open_.clear();
  features_used_ = 0;
  labels_.clear();
  entries_.clear();
}

}  // namespace cpt
