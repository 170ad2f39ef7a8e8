// Examples as the learner sees them: sparse features, a label, and an importance weight; and batches that hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cpt {

using FeatureHash = std::uint64_t;  // hash of a feature's namespace and name; see FeatureHasher
using LabelId = std::uint32_t;      // labels are numbered 0, 1, 2, ... in the order in which they join the tree

// The feature that every example has, with value 1 (the intercept).
inline constexpr FeatureHash kConstantFeature = 0x9ae16a3b2f90404fULL;

// Where an example was read. Messages name it, and it defines the order of examples. A program that makes its own
// examples may pass {}.
struct Origin {
  std::uint32_t shard = 0;  // index in the list of all shards of the run
  std::uint64_t line = 0;   // line in the shard, from 1
  // Number of earlier lines in the shard that held examples. Examples are ordered by position, then by shard, then by
  // their place in the line.
  std::uint64_t position = 0;
  // Offset of the next line, in bytes of the decompressed shard. In a binary shard: offset of the block that holds the
  // next line.
  std::uint64_t end = 0;
  std::uint64_t bad_lines = 0;  // malformed lines of the shard that were skipped before this line

  friend bool operator==(const Origin&, const Origin&) = default;
};

// A view of one example in a Batch. It owns nothing, and is valid until the batch changes or dies.
struct ExampleView {
  std::span<const FeatureHash> features;  // the constant feature first, then ascending and distinct
  std::span<const float> values;          // parallel to features; finite, at most 1e30 in size
  std::string_view label;                 // empty if the example has none
  std::uint64_t label_hash = 0;           // hash_label(label)
  float importance = 1;                   // at most 1e12; with 0, an example can be predicted but not learned
  Origin origin;

  // Sum of value^2 over all features. At least 1, because of the constant feature.
  double squared_length() const;
};

// How the feature values of an example are scaled, before the constant feature is added. kL2: to length 1.
enum class Normalize : std::uint8_t { kNone, kL2 };

// A sequence of examples in a few flat arrays. clear() keeps the memory, so a recycled batch allocates nothing. Not
// thread-safe for changes; a batch that nobody changes may be read by several threads.
class Batch {
 public:
  // `normalize`: that of the options of the model that the examples are for.
  explicit Batch(Normalize normalize = Normalize::kNone) : normalize_(normalize) {}
  Normalize normalize() const { return normalize_; }

  // To build an example, call add_feature() any number of times, then finish_example() or discard_example() once.
  void add_feature(FeatureHash feature, float value) { open_.push_back({feature, value}); }
  // The features of the example under construction, in the order in which they were added.
  std::size_t open_features() const { return open_.size(); }
  FeatureHash open_feature(std::size_t i) const { return open_[i].feature; }
  float open_value(std::size_t i) const { return open_[i].value; }
  // Sorts the features by hash, adds up the values of repeated ones (sums are clamped to 1e30 in size), drops those
  // with value 0, scales the rest, and adds the constant feature. Copies the label. Values and importance are not
  // checked here; Model refuses to learn from an example that breaks the ranges of ExampleView.
  void finish_example(std::string_view label, float importance, const Origin& origin);
  void discard_example() { open_.clear(); }

  // Appends an example that is known to be sorted and scaled, for readers of binary data. Returns room for `features`
  // features after the constant one. The caller fills it, as ExampleView requires, before it uses the batch or appends
  // again. `label_hash` must be hash_label(label).
  struct Space {
    std::span<FeatureHash> features;
    std::span<float> values;
  };
  Space extend(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
               const Origin& origin);
  // Appends a copy of an example, which must not lie in this batch.
  void append(const ExampleView& x);

  std::size_t size() const { return entries_.size(); }
  std::size_t features() const { return features_used_; }  // number of features of all examples together
  bool empty() const { return entries_.empty(); }
  // i < size(), here and below.
  ExampleView operator[](std::size_t i) const;
  // Single members of example i, cheaper than the whole view.
  const Origin& origin(std::size_t i) const { return entries_[i].origin; }
  std::uint64_t label_hash(std::size_t i) const { return entries_[i].label_hash; }
  std::size_t features_of(std::size_t i) const { return entries_[i].features; }
  // Prefetches the entry of example i, which operator[], label_hash() and prefetch() read.
  void prefetch_entry(std::size_t i) const { __builtin_prefetch(&entries_[i]); }
  // Prefetches the start of example i.
  void prefetch(std::size_t i) const {
    const Entry& entry = entries_[i];
    const FeatureHash* features = features_.data() + entry.first_feature;
    __builtin_prefetch(features);
    __builtin_prefetch(features + std::min<std::size_t>(entry.features, 64 / sizeof(FeatureHash)));
    const float* values = values_.data() + entry.first_feature;
    __builtin_prefetch(values);
    __builtin_prefetch(values + std::min<std::size_t>(entry.features, 64 / sizeof(float)));
    __builtin_prefetch(labels_.data() + entry.first_label_byte);
  }
  void clear();

 private:
  struct Feature {
    FeatureHash feature;
    float value;
  };
  struct Entry {
    std::uint64_t first_feature;
    std::uint64_t first_label_byte;
    std::uint64_t label_hash;
    std::uint32_t features;
    std::uint32_t label_bytes;
    float importance;
    Origin origin;
  };

  // Returns room for `features` features after the constant one.
  Space make_room(std::size_t features);
  // Records the example whose `features` features lie in that room.
  void add_entry(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                 const Origin& origin);

  Normalize normalize_;
  std::vector<Feature> open_;
  std::vector<Feature> dealt_;         // scratch: open_, nearly sorted
  std::vector<FeatureHash> features_;  // like values_ longer than features_used_
  std::vector<float> values_;
  std::size_t features_used_ = 0;
  std::vector<char> labels_;
  std::vector<Entry> entries_;
};

}  // namespace cpt
