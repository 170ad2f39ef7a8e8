// Decodes the payload of a block of a binary shard to examples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "data/binary/binary_shard.h"

namespace cpt {

// Numbers in two bytes each where that is enough, else in four. Saves memory: hundreds of shards may be open.
class CompactColumn {
 public:
  void assign(const std::vector<std::uint32_t>& numbers);
  void clear();
  std::size_t size() const { return std::max(two_bytes_.size(), four_bytes_.size()); }
  std::uint32_t operator[](std::size_t i) const { return four_bytes_.empty() ? two_bytes_[i] : four_bytes_[i]; }
  // Calls visit(span of numbers) with `count` numbers from `first` on.
  template <class Visit>
  void visit(std::size_t first, std::size_t count, Visit visit) const {
    if (four_bytes_.empty()) return visit(std::span(two_bytes_).subspan(first, count));
    visit(std::span(four_bytes_).subspan(first, count));
  }

 private:
  std::vector<std::uint16_t> two_bytes_;
  std::vector<std::uint32_t> four_bytes_;  // either of the two is empty
};

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
  // Of the next example, or of the one `ahead` examples after it.
  const Label& label(std::size_t ahead = 0) const { return labels_[label_of_[next_ + ahead]]; }
  float importance(std::size_t ahead = 0) const { return importances_.empty() ? 1.0F : importances_[next_ + ahead]; }
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
  // By entry of the dictionary. Looked up only when an example is appended: the entries stay in the caches, while all
  // features of all examples would not.
  std::vector<FeatureHash> entries_;
  std::vector<float> entry_values_;  // empty if entries have none
  std::vector<char> names_;          // the text that labels_ refers to
  std::vector<Label> labels_;
  CompactColumn label_of_;
  CompactColumn feature_counts_;
  CompactColumn entry_of_;     // of each feature of all examples
  std::vector<float> values_;  // likewise; empty if entries have them, or if all are 1
  Column begins_;
  std::vector<float> importances_;
  std::size_t next_ = 0;          // example
  std::size_t next_feature_ = 0;  // its first feature
};

}  // namespace cpt
