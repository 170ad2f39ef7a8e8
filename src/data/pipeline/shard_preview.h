// What the beginning of a shard shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

struct ShardPreview {
  std::uint64_t examples = 0;  // counted in the beginning
  std::uint64_t bytes = 0;     // of content that holds them; all of it if the shard ends there
  // Of the first line with an example. Empty if there is none.
  Format format = Format::kAuto;
  std::uint64_t line = 0;  // its number
  std::string text;        // in quotes, cut to 80 characters; empty for a binary shard
  std::string label;       // of its first example, as all below
  double importance = 1;
  std::uint64_t features = 0;  // without the constant one
  // The first kShownFeatures of them as NAMESPACE^NAME:VALUE; of a binary shard, which has no names, as #HASH:VALUE.
  std::vector<std::string> shown{};
  static constexpr std::size_t kShownFeatures = 10;
};

// Reads about the first megabyte of a file, which must not be a pipe. Throws the errors of ExampleStream.
ShardPreview preview(const Shard& shard, ReadOptions options);

// The bytes of content of a shard, as in ShardPreview::bytes; estimated for compressed files. 0 for a pipe. Throws
// Error(kNoInput) if it cannot be read.
std::uint64_t content_bytes(const Shard& shard);

// The factor by which crosses and n-grams multiply the features of examples, measured on the first 1000 lines of the
// first text that holds features; 1 if there is no such text, or it cannot be read.
double growth_by_crosses(const std::vector<Shard>& shards, ReadOptions options);

}  // namespace cpt
