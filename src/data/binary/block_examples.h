// Decodes the payload of a block of a binary shard to examples.
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

  // Decodes the payload with the list of the shard up to this block and its digest. Throws CorruptInput if it is
  // malformed or needs another list; there are no examples then. Its parts are checked only as far as memory safety
  // requires; beyond that, the checksum is trusted.
  void read(std::span<const std::byte> payload, std::span<const FeatureHash> list, std::uint64_t list_digest);

  // Drops all examples.
  void clear();

  std::uint32_t lines() const;  // of the payload
  std::size_t examples_left() const { return feature_counts_.size() - next_; }
  // Number of examples of the line that begins with the next example, which must exist.
  std::size_t examples_of_line() const;
  // Of the next example, or of the one `behind` places after it.
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
  // Calls visit(span of numbers) with the entries of `count` features from `first` on.
  template <class Visit>
  void visit_entries(std::size_t first, std::size_t count, Visit visit) const {
    if (short_entry_of_.empty()) return visit(std::span(entry_of_).subspan(first, count));
    visit(std::span(short_entry_of_).subspan(first, count));
  }

  // By entry of the dictionary. Looked up only when an example is appended: the entries stay in the caches, while all
  // features of all examples would not.
  std::vector<FeatureHash> entries_;
  std::vector<float> entry_values_;  // empty if entries have none
  std::vector<char> names_;          // of the labels, which refer to it
  std::vector<Label> labels_;
  Column label_of_;
  Column feature_counts_;
  // Of each feature of all examples. The short ones where two bytes are enough, else the others: this is the most of
  // what is kept of a block, and hundreds of shards may be open.
  std::vector<std::uint16_t> short_entry_of_;
  Column entry_of_;
  std::vector<float> values_;  // likewise; empty if entries have them, or if all are 1
  Column begins_;
  std::vector<float> importances_;
  std::size_t next_ = 0;          // example
  std::size_t next_feature_ = 0;  // its first
};

}  // namespace cpt
