// How input is read: the choices a user has.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "cpt/input.h"

namespace cpt {

// In which order the lines of several shards come.
enum class ShardOrder : std::uint8_t {
  kInterleaved,  // line i of every shard before line i + 1 of any, counting only lines that hold an example
  kSequential,   // one shard after another
};

struct ReadOptions {
  Format format = Format::kAuto;
  MultiLabel multilabel = MultiLabel::kFirst;
  std::uint64_t seed = 1;  // of feature hashes and of MultiLabel::kSample
  std::vector<std::string> interactions =
      {};  // two bytes each: the first bytes of the names of two namespaces (vw only)
  Normalize normalize = Normalize::kNone;
  bool skip_bad_lines = false;  // else the first bad line is an error
  bool labels_required = true;  // else a line may have no label; its example then has an empty one
  // Where it is given, a line whose label it does not know is a bad line. Called by the thread that reads.
  std::function<bool(std::string_view label)> knows_label = {};
  ShardOrder order = ShardOrder::kInterleaved;
  // Told of each feature (crosses too) of each line, also of a line that is rejected later on, by the thread that
  // reads. The texts are valid during the call only. Normally empty.
  std::function<void(FeatureHash, std::string_view name_space, std::string_view name)> on_feature = {};
};

}  // namespace cpt
