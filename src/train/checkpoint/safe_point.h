// Places between two rounds at which the state of a run is whole, so that it can be kept or left: what comes after is a
// function of what a checkpoint holds and of the shards (C7).
#pragma once

#include <cstdint>
#include <vector>

#include "data/shards/cursor.h"

namespace cpt {

// What ranks want of the run besides going on: bits, so that the requests of all ranks are their OR.
struct RequestBits {
  static constexpr std::uint64_t kCheckpoint = 1;  // at the next place where it changes nothing
  static constexpr std::uint64_t kNow = 2;         // at the next place that can be had
  static constexpr std::uint64_t kStop = 4;        // to end there
};

// A loop asks every rank for its requests, lets all ranks hear of all of them at the same point of the run, and
// safe_point at a place that suits them.
class SafePoint {
 public:
  virtual ~SafePoint() = default;

  // Of this rank, until pause() has granted them.
  virtual std::uint64_t requests() = 0;
  // Grants the requests of all ranks. All ranks call it at the same place: no example is under way, tree and labels are
  // equal on all, and so are weights that all have. `cursors`: how far this rank has come in its shards. Throws
  // AgreedError (alone, Error) where the run cannot or shall not go on.
  virtual void pause(std::uint64_t requests, const std::vector<Cursor>& cursors) = 0;
};

}  // namespace cpt
