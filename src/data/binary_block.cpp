#include "data/binary_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/checked.h"
#include "cpt/hashing.h"
#include "data/limits.h"
#include "data/rejection.h"

namespace cpt {

namespace {

// With more on the average, values lie beside the examples.
constexpr std::size_t kMostValuesOfAFeature = 2;

struct Counts {
  std::uint32_t examples;
  std::uint32_t features;
  std::uint32_t entries;
  std::uint32_t labels;
  std::uint32_t label_bytes;
  std::uint32_t flags;
};

constexpr std::uint32_t kSharedLines = 1;
constexpr std::uint32_t kEntryValues = 2;
constexpr std::uint32_t kFeatureValues = 4;
constexpr std::uint32_t kImportances = 8;
constexpr std::uint32_t kPlaces = 16;

template <class T>
void put(const T* values, std::size_t count, std::vector<std::byte>& out) {
  const std::size_t at = out.size();
  out.resize(at + count * sizeof(T));
  if (count > 0) std::memcpy(out.data() + at, values, count * sizeof(T));
}

void put_planes(std::span<const std::uint32_t> numbers, unsigned width, std::vector<std::byte>& out) {
  std::size_t at = out.size();
  out.resize(at + width * numbers.size());
  for (unsigned plane = 0; plane < width; ++plane) {
    for (const std::uint32_t number : numbers) out[at++] = static_cast<std::byte>(number >> (8 * plane));
  }
}

void put_column(std::span<const std::uint32_t> numbers, std::vector<std::byte>& out) {
  const std::uint32_t largest = numbers.empty() ? 0 : *std::ranges::max_element(numbers);
  const unsigned width = largest < 0x100 ? 1 : largest < 0x10000 ? 2 : 4;
  out.push_back(static_cast<std::byte>(width));
  put_planes(numbers, width, out);
}

void put_floats(std::span<const float> values, std::vector<std::byte>& out) {
  std::vector<std::uint32_t> bits(values.size());
  std::ranges::transform(values, bits.begin(), [](float value) { return std::bit_cast<std::uint32_t>(value); });
  put_planes(bits, sizeof(float), out);
}

// A feature, and the bits of its value.
using Pair = std::pair<FeatureHash, std::uint32_t>;

// An entry of the dictionary.
struct Ranked {
  std::uint32_t count = 0;   // how often it comes
  std::uint32_t number = 0;  // in the order in which entries come first
  Pair pair;
};

// The distinct ones, and which of them each feature is.
struct Dictionary {
  std::vector<FeatureHash> hashes;
  std::vector<std::uint32_t> value_bits;
  std::vector<std::uint32_t> entry_of;
  bool with_values = false;
};

// Counts pairs as they come. Each is looked up once, so this is most of what a block costs: a table of numbers that
// fits into the cache, instead of nodes that do not.
class Ranking {
 public:
  explicit Ranking(std::size_t most_pairs) : slots_(std::bit_ceil(2 * most_pairs + 1), kNone) {}

  // Returns its number.
  std::uint32_t add(const Pair& pair, std::uint32_t count) {
    std::size_t slot = mix(pair.first + pair.second) & (slots_.size() - 1);
    while (slots_[slot] != kNone && entries_[slots_[slot]].pair != pair) slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] == kNone) {
      slots_[slot] = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({0, slots_[slot], pair});
    }
    entries_[slots_[slot]].count += count;
    return slots_[slot];
  }

  std::vector<Ranked>& entries() { return entries_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> slots_;  // at most half of them taken
  std::vector<Ranked> entries_;
};

void renumber(std::vector<std::uint32_t>& entry_of, const std::vector<std::uint32_t>& numbers) {
  for (std::uint32_t& entry : entry_of) entry = numbers[entry];
}

// The most frequent ones first.
void sort_by_rank(std::vector<Ranked>& ranked, std::vector<std::uint32_t>& entry_of) {
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.count != b.count ? a.count > b.count : a.pair < b.pair;
  });
  std::vector<std::uint32_t> numbers(ranked.size());
  for (std::uint32_t i = 0; i < ranked.size(); ++i) numbers[ranked[i].number] = i;
  renumber(entry_of, numbers);
}

Dictionary make_dictionary(const std::vector<FeatureHash>& features, const std::vector<float>& values) {
  Dictionary dictionary;
  dictionary.entry_of.reserve(features.size());
  Ranking pairs(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    dictionary.entry_of.push_back(pairs.add({features[f], std::bit_cast<std::uint32_t>(values[f])}, 1));
  }
  Ranking alone(pairs.entries().size());  // features without their values
  std::vector<std::uint32_t> feature_of;
  for (const Ranked& entry : pairs.entries()) feature_of.push_back(alone.add({entry.pair.first, 0}, entry.count));
  dictionary.with_values = pairs.entries().size() <= kMostValuesOfAFeature * alone.entries().size();
  if (!dictionary.with_values) renumber(dictionary.entry_of, feature_of);
  std::vector<Ranked>& ranked = dictionary.with_values ? pairs.entries() : alone.entries();
  sort_by_rank(ranked, dictionary.entry_of);
  for (const Ranked& entry : ranked) {
    dictionary.hashes.push_back(entry.pair.first);
    dictionary.value_bits.push_back(entry.pair.second);
  }
  return dictionary;
}

[[noreturn]] void refuse(const char* found) { throw DamagedStream("a sound block of examples", found); }

// The parts of a payload, one after another.
class Parts {
 public:
  explicit Parts(std::span<const std::byte> payload) : left_(payload) {}

  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size()) refuse("one whose parts do not fit into it");
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

  void take_planes(std::size_t count, unsigned width, std::vector<std::uint32_t>& numbers) {
    const auto* planes = reinterpret_cast<const std::uint8_t*>(take(width * count).data());
    numbers.resize(count);  // only once they are there
    const std::uint8_t* second = planes + count;
    if (width == 1) {
      for (std::size_t i = 0; i < count; ++i) numbers[i] = planes[i];
    } else if (width == 2) {
      for (std::size_t i = 0; i < count; ++i) numbers[i] = planes[i] | std::uint32_t{second[i]} << 8;
    } else {
      const std::uint8_t* third = second + count;
      const std::uint8_t* fourth = third + count;
      for (std::size_t i = 0; i < count; ++i) {
        numbers[i] =
            planes[i] | std::uint32_t{second[i]} << 8 | std::uint32_t{third[i]} << 16 | std::uint32_t{fourth[i]} << 24;
      }
    }
  }

  // Numbers below `limit`.
  void take_column(std::size_t count, std::uint64_t limit, std::vector<std::uint32_t>& numbers) {
    const auto width = static_cast<unsigned>(take(1)[0]);
    if (width != 1 && width != 2 && width != 4) refuse("a column of no known width");
    take_planes(count, width, numbers);
    std::uint32_t largest = 0;
    for (const std::uint32_t number : numbers) largest = std::max(largest, number);
    if (count > 0 && largest >= limit) refuse("a number beyond what it counts");
  }

  void take_floats(std::size_t count, std::vector<float>& values) {
    take_planes(count, sizeof(float), bits_);
    values.resize(count);
    float largest = 0;
    bool ordered = true;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = std::bit_cast<float>(bits_[i]);
      ordered &= values[i] == values[i];
      largest = std::max(largest, std::abs(values[i]));
    }
    if (!ordered || largest > static_cast<float>(kMaxValue)) refuse("a value that is no number to learn from");
  }

  bool at_end() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
  std::vector<std::uint32_t> bits_;
};

// By what begins them; the first one begins whatever is said.
std::uint32_t lines_of(const std::vector<std::uint32_t>& begins) {
  return 1 + static_cast<std::uint32_t>(std::count(begins.begin() + 1, begins.end(), 1U));
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

}  // namespace

void BlockBuilder::add(const ExampleView& x, bool begins_line) {
  const auto features = x.features.subspan(1);
  const auto values = x.values.subspan(1);
  feature_counts_.push_back(narrow<std::uint32_t>(features.size(), "the features of an example"));
  features_.insert(features_.end(), features.begin(), features.end());
  values_.insert(values_.end(), values.begin(), values.end());
  importances_.push_back(x.importance);
  has_importances_ = has_importances_ || x.importance != 1;
  begins_.push_back(begins_line ? 1 : 0);
  lines_ += begins_line ? 1 : 0;
  if (begins_line && places_ == Places::kKept) add_place(x.origin);
  const auto next = narrow<std::uint32_t>(labels_.size(), "the labels of a block");
  const auto [label, is_new] = label_numbers_.try_emplace(std::string(x.label), next);
  if (is_new) labels_.emplace_back(x.label);
  label_of_.push_back(label->second);
}

void BlockBuilder::add_place(const Origin& origin) {
  lines_on_.push_back(narrow<std::uint32_t>(origin.line - last_.line, "lines between two examples:"));
  bytes_on_.push_back(narrow<std::uint32_t>(origin.end - last_.bytes, "bytes between two examples:"));
  last_ = {origin.line, origin.end};
}

std::vector<std::byte> BlockBuilder::encode() {
  const Dictionary dictionary = make_dictionary(features_, values_);
  const bool has_values = std::ranges::any_of(values_, [](float value) { return value != 1; });
  const bool entry_values = has_values && dictionary.with_values;
  const bool feature_values = has_values && !dictionary.with_values;
  std::string label_text;
  std::vector<std::uint32_t> label_lengths;
  for (const std::string& label : labels_) {
    label_text += label;
    label_lengths.push_back(narrow<std::uint32_t>(label.size(), "the length of a label"));
  }
  const bool shares_lines = lines_ != begins_.size();
  Counts counts{};
  counts.examples = narrow<std::uint32_t>(feature_counts_.size(), "the examples of a block");
  counts.features = narrow<std::uint32_t>(features_.size(), "the features of a block");
  counts.entries = static_cast<std::uint32_t>(dictionary.hashes.size());
  counts.labels = static_cast<std::uint32_t>(labels_.size());
  counts.label_bytes = narrow<std::uint32_t>(label_text.size(), "the labels of a block");
  counts.flags = (shares_lines ? kSharedLines : 0) | (entry_values ? kEntryValues : 0) |
                 (feature_values ? kFeatureValues : 0) | (has_importances_ ? kImportances : 0) |
                 (places_ == Places::kKept ? kPlaces : 0);

  std::vector<std::byte> out;
  put(&counts, 1, out);
  put(dictionary.hashes.data(), dictionary.hashes.size(), out);
  if (entry_values) put_planes(dictionary.value_bits, sizeof(float), out);
  put_column(label_lengths, out);
  put_column(label_of_, out);
  put_column(feature_counts_, out);
  put_column(dictionary.entry_of, out);
  if (shares_lines) put_column(begins_, out);
  if (feature_values) put_floats(values_, out);
  if (has_importances_) put_floats(importances_, out);
  if (places_ == Places::kKept) {
    put(&before_, 1, out);
    put_column(lines_on_, out);
    put_column(bytes_on_, out);
  }
  put(label_text.data(), label_text.size(), out);
  BlockBuilder next(limits_);
  next.places_ = places_;
  next.before_ = next.last_ = last_;
  *this = std::move(next);
  return out;
}

void BlockExamples::clear() {
  feature_counts_.clear();
  next_ = next_feature_ = next_line_ = 0;
}

std::uint32_t BlockExamples::lines() const {
  if (begins_.empty()) return static_cast<std::uint32_t>(feature_counts_.size());
  return lines_of(begins_);
}

std::size_t BlockExamples::examples_of_line() const {
  std::size_t count = 1;
  if (!begins_.empty()) {
    while (next_ + count < begins_.size() && begins_[next_ + count] == 0) ++count;
  }
  return count;
}

void BlockExamples::read(std::span<const std::byte> payload) {
  clear();
  Parts parts(payload);
  Counts counts{};
  std::memcpy(&counts, parts.take(sizeof counts).data(), sizeof counts);
  Column label_lengths;
  Column feature_counts;
  const auto hashes = parts.take(counts.entries * sizeof(FeatureHash));
  std::vector<float> entry_values(counts.entries, 1.0F);
  if ((counts.flags & kEntryValues) != 0) parts.take_floats(counts.entries, entry_values);
  parts.take_column(counts.labels, std::uint64_t{counts.label_bytes} + 1, label_lengths);
  parts.take_column(counts.examples, counts.labels, label_of_);
  parts.take_column(counts.examples, std::uint64_t{counts.features} + 1, feature_counts);
  parts.take_column(counts.features, counts.entries, entry_of_);
  begins_.clear();
  values_.clear();
  importances_.clear();
  if ((counts.flags & kSharedLines) != 0) parts.take_column(counts.examples, 2, begins_);
  if ((counts.flags & kFeatureValues) != 0) parts.take_floats(counts.features, values_);
  if ((counts.flags & kImportances) != 0) parts.take_floats(counts.examples, importances_);
  keeps_places_ = (counts.flags & kPlaces) != 0;
  if (keeps_places_) {
    constexpr std::uint64_t kAny = std::uint64_t{1} << 32;
    const std::uint64_t lines = begins_.empty() ? counts.examples : lines_of(begins_);
    std::memcpy(&place_, parts.take(sizeof place_).data(), sizeof place_);
    parts.take_column(lines, kAny, lines_on_);
    parts.take_column(lines, kAny, bytes_on_);
  }
  const auto names = parts.take(counts.label_bytes);
  if (!parts.at_end() || sum_of(feature_counts) != counts.features || sum_of(label_lengths) != names.size()) {
    refuse("one whose parts do not fit into it");
  }
  if (std::ranges::any_of(importances_, [](float importance) { return !(importance > 0); })) {
    refuse("an importance that is not above 0");
  }
  entries_.resize(counts.entries);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::memcpy(&entries_[i].feature, hashes.data() + i * sizeof(FeatureHash), sizeof(FeatureHash));
    entries_[i].value = entry_values[i];
  }
  labels_.clear();
  const char* at = reinterpret_cast<const char*>(names.data());
  for (const std::uint32_t length : label_lengths) {
    labels_.push_back({{at, length}, hash_label({at, length})});
    at += length;
  }
  feature_counts_ = std::move(feature_counts);
}

void BlockExamples::append(Origin origin, Batch& batch) {
  const std::size_t count = feature_counts_[next_];
  const Batch::Space space = batch.extend(count, label().name, label().hash, importance(), origin);
  const std::uint32_t* entry_of = entry_of_.data() + next_feature_;
  for (std::size_t f = 0; f < count; ++f) {
    const Entry& entry = entries_[entry_of[f]];
    space.features[f] = entry.feature;
    space.values[f] = entry.value;
  }
  if (!values_.empty()) std::copy_n(values_.data() + next_feature_, count, space.values.data());
  skip();
  prefetch();
}

// The dictionary of a block fits into the cache, those of many shards do not; lines of other shards come first.
void BlockExamples::prefetch() const {
  if (examples_left() == 0) return;
  const std::uint32_t* entry_of = entry_of_.data() + next_feature_;
  for (std::size_t f = 0; f < feature_counts_[next_]; ++f) __builtin_prefetch(&entries_[entry_of[f]]);
}

TextPlace BlockExamples::next_place() const {
  return {place_.line + lines_on_[next_line_], place_.bytes + bytes_on_[next_line_]};
}

void BlockExamples::skip() {
  if (keeps_places_ && begins_line(next_)) {
    place_ = next_place();
    ++next_line_;
  }
  next_feature_ += feature_counts_[next_++];
}

}  // namespace cpt
