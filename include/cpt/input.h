// Choices of the user about the format of input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cpt {

// The format of a shard. kAuto detects it for each shard, by its content, compressed or not; kCsv by its name. kBinary
// is what `cpt convert` writes. A line of kCsv means nothing without the first line of its file.
enum class Format : std::uint8_t { kAuto, kVw, kLibsvm, kFasttext, kBinary, kJson, kCsv };

// How a line with several labels (libsvm "3,7", fasttext "__label__a __label__b", json "label": ["a", "b"]) becomes
// examples.
enum class MultiLabel : std::uint8_t {
  kFirst,   // the first label is the example's
  kSample,  // one label, drawn by a hash of seed, shard and line: the same in every pass and on any number of ranks
  kSplit,   // one example per label, with equal parts of the importance
  kError,   // the line is malformed
};

// The fields (keys of JSON lines, columns of kCsv) that are not plain features. A key inside an object is named by its
// path: "page.title". A field has at most one of these roles: readers throw Error(kUsage) for two.
struct FieldRoles {
  std::string label = "label";
  std::string importance{};                // empty: every line has importance 1
  std::vector<std::string> text{};         // their strings are split into words
  std::vector<std::string> categorical{};  // their numbers are names, like strings
  std::vector<std::string> ignored{};

  friend bool operator==(const FieldRoles&, const FieldRoles&) = default;
};

}  // namespace cpt
