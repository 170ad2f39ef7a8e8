// The examples of one block of a binary shard, in columns: numbers of one kind lie together, which makes them small
// when compressed and fast to read.
//
//   payload := counts (six u32: examples, features, entries, labels, bytes of labels, flags)
//              entries of the dictionary, the most frequent first: hashes (u64 each)
//              planes: for each entry its value                        (flag kEntryValues)
//              column: lengths of the labels | column: for each example its label
//              column: for each example how many features | column: for each of these its entry
//              column: 1 for each example that begins a line, else 0   (flag kSharedLines; else every one does)
//              planes: for each feature its value                      (flag kFeatureValues)
//              planes: for each example its importance                 (flag kImportances; else all are 1)
//              line and byte where the line before ended in the text (two u64) | columns: for each line how many
//              lines, and how many bytes, behind the one before it ends  (flag kPlaces: a copy of a text)
//              bytes of the labels
//   column  := width (one byte: 1, 2 or 4) | planes of so many bytes a number
//   planes  := the lowest byte of every number, then the next one of every number, and so on
//
// Where few values occur, an entry is a feature with its value; else it is a feature, and values lie beside the
// examples. Without either flag all are 1. Constant features are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"

namespace cpt {

// Where a line of a text ends.
struct TextPlace {
  std::uint64_t line = 0;   // its number; 0: before the first one
  std::uint64_t bytes = 0;  // of the content up to there
  friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

// Whether a block keeps where its lines end in the text they come from.
enum class Places : std::uint8_t { kForgotten, kKept };

// A block is full once it has so many examples or features. The more, the more of them share a dictionary and the
// smaller the shard; but a reader holds a block of each shard that it has open.
struct BlockLimits {
  std::size_t examples = std::size_t{1} << 14;
  std::size_t features = std::size_t{1} << 18;
};

// Collects examples for a block. Not thread-safe.
class BlockBuilder {
 public:
  explicit BlockBuilder(BlockLimits limits = {}) : limits_(limits) {}
  // Keeps places. `before`: where the line before the first one ends.
  BlockBuilder(BlockLimits limits, TextPlace before)
      : limits_(limits), places_(Places::kKept), before_(before), last_(before) {}

  // The next example, of a new line or of that of the one before it. Where places are kept, lines come in the order of
  // their text.
  void add(const ExampleView& x, bool begins_line);
  std::uint32_t lines() const { return lines_; }
  // Whether another line should rather begin a block of its own.
  bool is_full() const { return feature_counts_.size() >= limits_.examples || features_.size() >= limits_.features; }

  // The payload of what was added since the last call.
  std::vector<std::byte> encode();

 private:
  void add_place(const Origin& origin);

  BlockLimits limits_;
  Places places_ = Places::kForgotten;
  TextPlace before_;  // the first line
  TextPlace last_;
  std::vector<std::uint32_t> lines_on_;
  std::vector<std::uint32_t> bytes_on_;
  std::vector<std::uint32_t> feature_counts_;
  std::vector<FeatureHash> features_;
  std::vector<float> values_;
  std::vector<float> importances_;
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint32_t> label_of_;
  std::unordered_map<std::string, std::uint32_t> label_numbers_;
  std::vector<std::string> labels_;
  std::uint32_t lines_ = 0;
  bool has_importances_ = false;
};

// The examples of a payload. Keeps its memory from block to block. Not thread-safe.
class BlockExamples {
 public:
  struct Label {
    std::string_view name;
    std::uint64_t hash;  // hash_label()
  };

  // Takes the payload apart; it must stay as it is. Throws DamagedStream where it makes no sense, after which there
  // are no examples. The parts are checked as far as memory safety asks for; else the checksum vouches for them.
  void read(std::span<const std::byte> payload);

  // Forgets all examples.
  void clear();

  std::uint32_t lines() const;  // of the payload
  std::size_t examples_left() const { return feature_counts_.size() - next_; }
  // Of the line that begins with the next example, of which there must be one.
  std::size_t examples_of_line() const;
  // Of the next example or of the one so many behind it.
  const Label& label(std::size_t behind = 0) const { return labels_[label_of_[next_ + behind]]; }
  float importance(std::size_t behind = 0) const { return importances_.empty() ? 1.0F : importances_[next_ + behind]; }
  // Where the line of the example before the next one ends in the text, and where that of the next one does; only of a
  // payload that keeps places.
  bool keeps_places() const { return keeps_places_; }
  const TextPlace& place() const { return place_; }
  TextPlace next_place() const;
  // Of all examples of the payload.
  std::span<const Label> labels() const { return labels_; }
  std::span<const float> importances() const { return importances_; }  // empty where all are 1
  // Appends the next example to the batch.
  void append(Origin origin, Batch& batch);
  void skip();

 private:
  using Column = std::vector<std::uint32_t>;
  struct Entry {
    FeatureHash feature;
    float value;
  };

  void prefetch() const;
  bool begins_line(std::size_t example) const { return begins_.empty() || example == 0 || begins_[example] != 0; }

  std::vector<Entry> entries_;
  std::vector<Label> labels_;
  Column label_of_;
  Column feature_counts_;
  Column entry_of_;
  Column begins_;
  std::vector<float> values_;  // by feature; empty where entries have them
  std::vector<float> importances_;
  bool keeps_places_ = false;
  TextPlace place_;
  Column lines_on_;
  Column bytes_on_;
  std::size_t next_line_ = 0;
  std::size_t next_ = 0;          // example
  std::size_t next_feature_ = 0;  // its first
};

}  // namespace cpt
