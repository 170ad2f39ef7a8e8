// Examples as the learner sees them: sparse features, a label, an importance weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cpt {

using FeatureHash = std::uint64_t;  // of the namespace and the name of a feature; see FeatureHasher
using LabelId = std::uint32_t;      // labels are numbered 0, 1, 2, ... in the order in which they join the tree

// The feature that every example has, with value 1.
inline constexpr FeatureHash kConstantFeature = 0x9ae16a3b2f90404fULL;

// Where an example was read: for messages, and for the order of examples.
struct Origin {
  std::uint32_t shard = 0;  // index into the list of all shards of the run
  std::uint64_t line = 0;   // 1-based line of the shard
  // Lines of the shard before this one that held examples. Examples are ordered by position, then by shard, then as
  // they stand in their line.
  std::uint64_t position = 0;
  // Bytes of the shard's content, decompressed, up to and including the end of this line: where the next one begins. Of
  // a binary shard: where the block begins that holds the next one.
  std::uint64_t end = 0;
  std::uint64_t bad_lines = 0;  // of the shard that were skipped before this line

  friend bool operator==(const Origin&, const Origin&) = default;
};

// One example inside a Batch. Valid until the batch changes.
struct ExampleView {
  std::span<const FeatureHash> features;  // the constant feature first, then ascending and distinct
  std::span<const float> values;          // parallel to features; finite, |value| <= 1e30
  std::string_view label;                 // empty: no label
  std::uint64_t label_hash = 0;           // hash_label(label)
  float importance = 1;                   // > 0, at most 1e12
  Origin origin;

  // Sum of value^2 over all features. Always >= 1, the constant's.
  double squared_length() const;
};

// How x is scaled before the constant feature is added.
enum class Normalize : std::uint8_t { kNone, kL2 };

// A sequence of examples in a few flat arrays. Memory is kept when it is cleared, so a recycled batch allocates
// nothing. Not thread-safe; hand a batch over as a whole.
class Batch {
 public:
  explicit Batch(Normalize normalize = Normalize::kNone) : normalize_(normalize) {}

  // Builds one example: any number of add_feature, then one finish_example or discard_example.
  void add_feature(FeatureHash feature, float value) { open_.push_back({feature, value}); }
  // Features of the example being built, in the order they were added.
  std::size_t open_features() const { return open_.size(); }
  FeatureHash open_feature(std::size_t i) const { return open_[i].feature; }
  float open_value(std::size_t i) const { return open_[i].value; }
  // What the caller gives is as ExampleView says: it is not looked at here, but Model refuses to learn what is not.
  // Sorts the features by hash, adds up repeated ones, drops those whose value is 0, scales, adds the constant.
  void finish_example(std::string_view label, float importance, const Origin& origin);
  void discard_example() { open_.clear(); }

  // Appends an example that was finished before, when it was read from somewhere else: so many features behind the
  // constant one. The caller writes them and their values before the batch is used; they are as ExampleView says, and
  // label_hash is the hash of the label.
  struct Space {
    std::span<FeatureHash> features;
    std::span<float> values;
  };
  Space extend(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
               const Origin& origin);

  std::size_t size() const { return entries_.size(); }
  std::size_t features() const { return features_used_; }  // of all examples together
  bool empty() const { return entries_.empty(); }
  ExampleView operator[](std::size_t i) const;
  // Those of [i], for who wants nothing else.
  const Origin& origin(std::size_t i) const { return entries_[i].origin; }
  std::uint64_t label_hash(std::size_t i) const { return entries_[i].label_hash; }
  std::size_t features_of(std::size_t i) const { return entries_[i].features; }
  // Asks the memory for the beginning of [i], which is to be looked at soon.
  void prefetch(std::size_t i) const {
    const Entry& entry = entries_[i];
    const FeatureHash* features = features_.data() + entry.first_feature;
    __builtin_prefetch(features);
    __builtin_prefetch(features + std::min<std::size_t>(entry.features, 64 / sizeof(FeatureHash)));
    __builtin_prefetch(values_.data() + entry.first_feature);
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

  // Room for so many features behind the constant one.
  Space make_room(std::size_t features);
  // Of so many features in that room.
  void add_entry(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                 const Origin& origin);

  Normalize normalize_;
  std::vector<Feature> open_;
  std::vector<Feature> dealt_;         // its beginning holds open_, nearly in order
  std::vector<FeatureHash> features_;  // longer than what is used of it, like values_
  std::vector<float> values_;
  std::size_t features_used_ = 0;
  std::vector<char> labels_;
  std::vector<Entry> entries_;
};

}  // namespace cpt
