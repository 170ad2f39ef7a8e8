// The payload of a block of a binary shard to examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "data/binary/binary_shard.h"

namespace cpt {

// The examples of a payload. Keeps its memory from block to block. Not thread-safe.
class BlockExamples {
 public:
  struct Label {
    std::string_view name;
    std::uint64_t hash;  // hash_label()
  };

  // Takes the payload apart, whose labels must stay where they are, by the list of the shard up to this block and its
  // digest. Throws CorruptInput where it makes no sense or needs another list, after which there are no examples. The
  // parts are checked as far as memory safety asks for; else the checksum vouches for them.
  void read(std::span<const std::byte> payload, std::span<const FeatureHash> list, std::uint64_t list_digest);

  // Forgets all examples.
  void clear();

  std::uint32_t lines() const;  // of the payload
  std::size_t examples_left() const { return feature_counts_.size() - next_; }
  // Of the line that begins with the next example, of which there must be one.
  std::size_t examples_of_line() const;
  // Of the next example or of the one so many behind it.
  const Label& label(std::size_t behind = 0) const { return labels_[label_of_[next_ + behind]]; }
  float importance(std::size_t behind = 0) const { return importances_.empty() ? 1.0F : importances_[next_ + behind]; }
  // Of all examples of the payload.
  std::span<const Label> labels() const { return labels_; }
  std::span<const float> importances() const { return importances_; }  // empty where all are 1
  // Appends the next example to the batch.
  void append(const Origin& origin, Batch& batch);
  void skip();

 private:
  using Column = std::vector<std::uint32_t>;

  void read_labels(const Column& lengths, std::span<const std::byte> names);
  void prefetch() const;

  Column numbers_;  // scratch

  // By entry of the dictionary. Looked up only when an example is appended: what an entry has is in the caches, what
  // all examples have would not stay there.
  std::vector<FeatureHash> entries_;
  std::vector<float> entry_values_;  // empty where an entry has none
  std::vector<Label> labels_;
  Column label_of_;
  Column feature_counts_;
  Column entry_of_;            // each feature of all examples
  std::vector<float> values_;  // likewise; empty where entries have them, or all are 1
  Column begins_;
  std::vector<float> importances_;
  std::size_t next_ = 0;          // example
  std::size_t next_feature_ = 0;  // its first
};

}  // namespace cpt
