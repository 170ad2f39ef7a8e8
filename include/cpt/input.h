// Choices of the user about the format of input.
#pragma once

#include <cstdint>

namespace cpt {

// The format of a shard. kAuto detects it by the content of each shard, compressed or not. kBinary is what `cpt
// convert` writes.
enum class Format : std::uint8_t { kAuto, kVw, kLibsvm, kFasttext, kBinary };

// How a line with several labels (libsvm "3,7", fasttext "__label__a __label__b") becomes examples.
enum class MultiLabel : std::uint8_t {
  kFirst,   // the first label is the example's
  kSample,  // one label, drawn by a hash of seed, shard and line: the same in every pass and on any number of ranks
  kSplit,   // one example per label, with equal parts of the importance
  kError,   // the line is malformed
};

}  // namespace cpt
