#include "data/binary/block_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "core/checked.h"
#include "data/binary/binary_shard.h"
#include "data/binary/decimals.h"

namespace cpt {

namespace {

// Mean number of values of a feature beyond which values lie beside the examples.
constexpr std::size_t kMostValuesOfAFeature = 2;

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
  const unsigned width = std::max(1U, (static_cast<unsigned>(std::bit_width(largest)) + 7) / 8);
  out.push_back(static_cast<std::byte>(width));
  put_planes(numbers, width, out);
}

void put_floats(std::span<const float> values, std::vector<std::byte>& out) {
  std::vector<std::uint32_t> bits(values.size());
  std::ranges::transform(values, bits.begin(), [](float value) { return std::bit_cast<std::uint32_t>(value); });
  put_planes(bits, sizeof(float), out);
}

void put_values(std::span<const float> values, std::vector<std::byte>& out) {
  if (const auto decimals = as_decimals(values)) {
    out.push_back(static_cast<std::byte>(decimals->digits));
    put_column(decimals->numbers, out);
  } else {
    out.push_back(std::byte{kNoDecimals});
    put_floats(values, out);
  }
}

// A feature with its value.
struct Pair {
  FeatureHash feature;
  std::uint32_t value_bits;
  friend bool operator==(const Pair&, const Pair&) = default;
};
std::uint64_t hash_of(const Pair& pair) { return pair.feature + pair.value_bits; }

// Distinct keys, and the count of each, by number.
template <class Key>
struct Counted {
  IdMap<Key> numbers;
  std::vector<std::uint32_t> counts;

  std::uint32_t add(const Key& key, std::uint32_t count) {
    const std::uint32_t number = numbers.add(key);
    if (number == counts.size()) counts.push_back(0);
    counts[number] += count;
    return number;
  }
};

// Gives numbers to the features that have none in the list, the most frequent first. Fills in the new part of the list.
void bring_up(FeatureList& list, const Counted<FeatureHash>& features, const BlockLimits& limits, EncodedBlock& block) {
  std::vector<std::uint32_t> missing;
  const auto find_missing = [&] {
    missing.clear();
    for (std::uint32_t i = 0; i < features.counts.size(); ++i) {
      if (list.numbers.find(features.numbers.keys()[i]) == list.numbers.kNone) missing.push_back(i);
    }
  };
  find_missing();
  if (list.numbers.size() + missing.size() > limits.listed || list.blocks == limits.list_blocks) {
    list = {};
    find_missing();
  }
  const std::vector<FeatureHash>& keys = features.numbers.keys();
  std::ranges::sort(missing, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t more = features.counts[a];
    const std::uint32_t less = features.counts[b];
    return more != less ? more > less : keys[a] < keys[b];
  });
  block.first_listed = list.numbers.size();
  for (const std::uint32_t i : missing) {
    block.listed.push_back(keys[i]);
    list.numbers.add(keys[i]);
  }
  ++list.blocks;
  if (!missing.empty()) list.digest = list_digest(list.digest, block.listed);
}

// The entries of a block, in the order of the numbers of their features, and the entry of each feature.
struct Dictionary {
  std::vector<std::uint32_t> gaps;
  std::vector<float> values;
  std::vector<std::uint32_t> entry_of;
  bool with_values = false;
};

class DictionaryMaker {
 public:
  DictionaryMaker(const std::vector<FeatureHash>& features, const std::vector<float>& values) {
    entry_of_.reserve(features.size());
    for (std::size_t f = 0; f < features.size(); ++f) {
      entry_of_.push_back(pairs_.add({features[f], std::bit_cast<std::uint32_t>(values[f])}, 1));
    }
    const std::vector<Pair>& pairs = pairs_.numbers.keys();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      feature_of_.push_back(features_.add(pairs[i].feature, pairs_.counts[i]));
    }
  }

  const Counted<FeatureHash>& features() const { return features_; }

  // The list must have all features.
  Dictionary make(const IdMap<FeatureHash>& list) {
    Dictionary dictionary;
    dictionary.with_values = feature_of_.size() <= kMostValuesOfAFeature * features_.counts.size();
    if (!dictionary.with_values) renumber(feature_of_);
    std::vector<Entry> entries = this->entries(list, dictionary.with_values);
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
      return a.listed != b.listed ? a.listed < b.listed : a.value_bits < b.value_bits;
    });
    std::vector<std::uint32_t> numbers(entries.size());
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      numbers[entries[i].before] = i;
      dictionary.gaps.push_back(entries[i].listed - std::exchange(last, entries[i].listed));
      dictionary.values.push_back(std::bit_cast<float>(entries[i].value_bits));
    }
    renumber(numbers);
    dictionary.entry_of = std::move(entry_of_);
    return dictionary;
  }

 private:
  struct Entry {
    std::uint32_t listed;      // the number of its feature in the list
    std::uint32_t value_bits;  // 0 if values lie beside the examples
    std::uint32_t before;      // its own number so far
  };

  // All entries, in the order of their numbers so far.
  std::vector<Entry> entries(const IdMap<FeatureHash>& list, bool with_values) const {
    std::vector<Entry> all;
    std::uint32_t number = 0;
    if (with_values) {
      for (const Pair& pair : pairs_.numbers.keys())
        all.push_back({list.find(pair.feature), pair.value_bits, number++});
    } else {
      for (const FeatureHash feature : features_.numbers.keys()) all.push_back({list.find(feature), 0, number++});
    }
    return all;
  }
  void renumber(const std::vector<std::uint32_t>& numbers) {
    for (std::uint32_t& entry : entry_of_) entry = numbers[entry];
  }

  Counted<Pair> pairs_;
  Counted<FeatureHash> features_;
  std::vector<std::uint32_t> feature_of_;  // by pair
  std::vector<std::uint32_t> entry_of_;
};

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
  const auto next = narrow<std::uint32_t>(labels_.size(), "the labels of a block");
  const auto [label, is_new] = label_numbers_.try_emplace(std::string(x.label), next);
  if (is_new) {
    labels_.emplace_back(x.label);
    label_bytes_ += x.label.size();
  }
  label_of_.push_back(label->second);
}

EncodedBlock BlockBuilder::encode(FeatureList& list) {
  EncodedBlock block;
  DictionaryMaker maker(features_, values_);
  bring_up(list, maker.features(), limits_, block);
  const Dictionary dictionary = maker.make(list.numbers);
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
  BlockCounts counts{};
  counts.examples = narrow<std::uint32_t>(feature_counts_.size(), "the examples of a block");
  counts.features = narrow<std::uint32_t>(features_.size(), "the features of a block");
  counts.entries = static_cast<std::uint32_t>(dictionary.gaps.size());
  counts.labels = static_cast<std::uint32_t>(labels_.size());
  counts.label_bytes = narrow<std::uint32_t>(label_text.size(), "the labels of a block");
  counts.flags = (shares_lines ? kSharedLines : 0) | (entry_values ? kEntryValues : 0) |
                 (feature_values ? kFeatureValues : 0) | (has_importances_ ? kImportances : 0);

  std::vector<std::byte>& out = block.payload;
  put(&list.digest, 1, out);
  put(&counts, 1, out);
  put_column(dictionary.gaps, out);
  if (entry_values) put_values(dictionary.values, out);
  put_column(label_lengths, out);
  put_column(label_of_, out);
  put_column(feature_counts_, out);
  put_column(dictionary.entry_of, out);
  if (shares_lines) put_column(begins_, out);
  if (feature_values) put_values(values_, out);
  if (has_importances_) put_floats(importances_, out);
  put(label_text.data(), label_text.size(), out);
  *this = BlockBuilder(limits_);
  return block;
}

}  // namespace cpt
