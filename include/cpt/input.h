// What input may look like: the choices that a user has.
#pragma once

#include <cstdint>

namespace cpt {

// kAuto: told by the content of each shard. kBinary: what `cpt convert` writes.
enum class Format : std::uint8_t { kAuto, kVw, kLibsvm, kFasttext, kBinary };

// What becomes of a line with several labels (libsvm "3,7", fasttext "__label__a __label__b").
enum class MultiLabel : std::uint8_t {
  kFirst,   // the first one is the label
  kSample,  // one drawn by a hash of (seed, shard, line): the same one in every pass and on any number of ranks
  kSplit,   // one example per label, the importance shared equally
  kError,   // the line is rejected
};

}  // namespace cpt
