#include "data/binary/block_examples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "cpt/hashing.h"
#include "data/binary/decimals.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"

namespace cpt {

namespace {

[[noreturn]] void refuse(const char* found) { throw CorruptInput("a sound block of examples", found); }

// Puts numbers together from their planes.
template <unsigned kWidth>
void gather_planes(const std::uint8_t* planes, std::vector<std::uint32_t>& numbers) {
  const std::size_t count = numbers.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t number = planes[i];
    for (unsigned plane = 1; plane < kWidth; ++plane) number |= std::uint32_t{planes[plane * count + i]} << (8 * plane);
    numbers[i] = number;
  }
}

// The parts of a payload, one after another.
class Parts {
 public:
  Parts(std::span<const std::byte> payload, std::vector<std::uint32_t>& scratch) : left_(payload), numbers_(scratch) {}

  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size()) refuse("one whose parts do not fit into it");
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

  unsigned take_byte() { return static_cast<unsigned>(take(1)[0]); }

  void take_planes(std::size_t count, unsigned width, std::vector<std::uint32_t>& numbers) {
    if (width < 1 || width > 4) refuse("a column of no known width");
    const auto* planes = reinterpret_cast<const std::uint8_t*>(take(width * count).data());
    numbers.resize(count);  // only now: a damaged count must not take memory
    switch (width) {
      case 1:
        return gather_planes<1>(planes, numbers);
      case 2:
        return gather_planes<2>(planes, numbers);
      case 3:
        return gather_planes<3>(planes, numbers);
      default:
        return gather_planes<4>(planes, numbers);
    }
  }

  void take_column(std::size_t count, std::vector<std::uint32_t>& numbers) { take_planes(count, take_byte(), numbers); }

  // Numbers below `limit`.
  void take_column(std::size_t count, std::uint64_t limit, std::vector<std::uint32_t>& numbers) {
    take_column(count, numbers);
    std::uint32_t largest = 0;
    for (const std::uint32_t number : numbers) largest = std::max(largest, number);
    if (count > 0 && largest >= limit) refuse("a number beyond what it counts");
  }

  void take_floats(std::size_t count, std::vector<float>& values) {
    take_planes(count, sizeof(float), numbers_);
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::bit_cast<float>(numbers_[i]);
    require_sound(values);
  }

  void take_values(std::size_t count, std::vector<float>& values) {
    const unsigned digits = take_byte();
    if (digits == kNoDecimals) return take_floats(count, values);
    if (digits > Decimals::kMostDigits) refuse("values of no known form");
    take_column(count, numbers_);
    values.resize(count);
    from_decimals(numbers_, digits, values);
    require_sound(values);
  }

  bool at_end() const { return left_.empty(); }

 private:
  static void require_sound(const std::vector<float>& values) {
    float largest = 0;
    bool ordered = true;
    for (const float value : values) {
      ordered &= value == value;
      largest = std::max(largest, std::abs(value));
    }
    if (!ordered || largest > static_cast<float>(kMaxValue)) refuse("a value that is no number to learn from");
  }

  std::span<const std::byte> left_;
  std::vector<std::uint32_t>& numbers_;
};

// Counts the examples that begin a line; the first one always does.
std::uint32_t lines_of(const std::vector<std::uint32_t>& begins) {
  return 1 + static_cast<std::uint32_t>(std::count(begins.begin() + 1, begins.end(), 1U));
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

// Computes the features of the entries.
void find_entries(const std::vector<std::uint32_t>& gaps, std::span<const FeatureHash> list,
                  std::vector<FeatureHash>& entries) {
  entries.clear();  // a vector that grows with content may take twice the memory
  entries.resize(gaps.size());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    number += gaps[i];
    if (number >= list.size()) refuse("features that are not in the list of its shard");
    entries[i] = list[number];
  }
}

template <class Number, class T>
void look_up(std::span<const Number> numbers, const std::vector<T>& of_entries, std::span<T> out) {
  for (std::size_t i = 0; i < numbers.size(); ++i) out[i] = of_entries[numbers[i]];
}

template <class T>
void prefetch_all(std::span<const T> numbers) {
  for (std::size_t i = 0; i < numbers.size(); i += 64 / sizeof(T)) __builtin_prefetch(&numbers[i]);
  if (!numbers.empty()) __builtin_prefetch(&numbers.back());
}

}  // namespace

void CompactColumn::assign(const std::vector<std::uint32_t>& numbers) {
  clear();
  std::uint32_t bits = 0;
  for (const std::uint32_t number : numbers) bits |= number;
  if (bits > 0xffff) {
    four_bytes_ = numbers;
  } else {
    two_bytes_.resize(numbers.size());
    std::ranges::transform(numbers, two_bytes_.begin(), [](std::uint32_t n) { return static_cast<std::uint16_t>(n); });
  }
}

void CompactColumn::clear() {
  two_bytes_.clear();
  four_bytes_.clear();
}

void BlockExamples::clear() {
  feature_counts_.clear();
  next_ = next_feature_ = 0;
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

void BlockExamples::read(std::span<const std::byte> payload, std::span<const FeatureHash> list,
                         std::uint64_t list_digest) {
  clear();
  Column numbers;
  Parts parts(payload, numbers);
  std::uint64_t wanted = 0;
  std::memcpy(&wanted, parts.take(sizeof wanted).data(), sizeof wanted);
  if (wanted != list_digest) refuse("one that belongs to another list of features");
  BlockCounts counts{};
  std::memcpy(&counts, parts.take(sizeof counts).data(), sizeof counts);
  Column label_lengths;
  Column feature_counts;
  parts.take_column(counts.entries, numbers);
  find_entries(numbers, list, entries_);
  entry_values_.clear();
  if ((counts.flags & kEntryValues) != 0) parts.take_values(counts.entries, entry_values_);
  parts.take_column(counts.labels, std::uint64_t{counts.label_bytes} + 1, label_lengths);
  parts.take_column(counts.examples, counts.labels, numbers);
  label_of_.assign(numbers);
  parts.take_column(counts.examples, std::uint64_t{counts.features} + 1, feature_counts);
  parts.take_column(counts.features, counts.entries, numbers);
  entry_of_.assign(numbers);
  values_.clear();
  begins_.clear();
  importances_.clear();
  if ((counts.flags & kSharedLines) != 0) parts.take_column(counts.examples, 2, begins_);
  if ((counts.flags & kFeatureValues) != 0) parts.take_values(counts.features, values_);
  if ((counts.flags & kImportances) != 0) parts.take_floats(counts.examples, importances_);
  const auto names = parts.take(counts.label_bytes);
  if (!parts.at_end() || sum_of(feature_counts) != counts.features || sum_of(label_lengths) != names.size()) {
    refuse("one whose parts do not fit into it");
  }
  if (std::ranges::any_of(importances_, [](float importance) { return !(importance > 0); })) {
    refuse("an importance that is not above 0");
  }
  read_labels(label_lengths, names);
  feature_counts_.assign(feature_counts);
}

void BlockExamples::read_labels(const Column& lengths, std::span<const std::byte> names) {
  labels_.clear();
  names_.assign(reinterpret_cast<const char*>(names.data()),
                reinterpret_cast<const char*>(names.data()) + names.size());
  labels_.reserve(lengths.size());
  const char* at = names_.data();
  for (const std::uint32_t length : lengths) {
    labels_.push_back({{at, length}, hash_label({at, length})});
    at += length;
  }
}

void BlockExamples::append(const Origin& origin, Batch& batch) {
  const std::size_t count = feature_counts_[next_];
  const Batch::Space space = batch.extend(count, label().name, label().hash, importance(), origin);
  entry_of_.visit(next_feature_, count, [&](auto entries) {
    look_up(entries, entries_, space.features);
    if (!values_.empty()) {
      std::copy_n(values_.data() + next_feature_, count, space.values.data());
    } else if (!entry_values_.empty()) {
      look_up(entries, entry_values_, space.values);
    } else {
      std::ranges::fill(space.values, 1.0F);
    }
  });
  skip();
  prefetch();
}

// Blocks of many shards do not fit into the cache, and lines of the other shards are read before the next line of this
// one. So this function prefetches the data of the next example, and the entry numbers of the one after it.
void BlockExamples::prefetch() const {
  if (examples_left() == 0) return;
  const std::size_t count = feature_counts_[next_];
  entry_of_.visit(next_feature_, count, [&](auto entries) {
    for (const auto entry : entries) {
      __builtin_prefetch(&entries_[entry]);
      if (!entry_values_.empty()) __builtin_prefetch(&entry_values_[entry]);
    }
  });
  if (!values_.empty()) prefetch_all(std::span(values_).subspan(next_feature_, count));
  const std::size_t after = next_feature_ + count;
  entry_of_.visit(after, std::min(count, entry_of_.size() - after), [](auto entries) { prefetch_all(entries); });
  __builtin_prefetch(&label());
}

void BlockExamples::skip() { next_feature_ += feature_counts_[next_++]; }

}  // namespace cpt
