#include "train/input/split_files.h"

#include <algorithm>

#include "comm/agreement.h"
#include "cpt/error.h"
#include "data/binary/binary_index.h"
#include "data/shards/shards.h"
#include "data/source/byte_source.h"

namespace cpt {

namespace {

// Every rank and every checkpoint lists all shards.
constexpr std::size_t kMostShards = std::size_t{1} << 20;
constexpr std::uint64_t kMostConverted = 1000;  // that cpt convert writes

bool has_content(const Shard& shard) { return !shard.regular || own_bytes(shard) > 0; }

// The size of a binary shard's content stands in its index. A file that cannot be read fails when it is opened.
bool is_text(const Shard& shard) {
  try {
    return can_be_split(shard) && is_text_file(shard);
  } catch (const Error&) {
    return false;
  }
}

// The least number of parts per text file that gives every rank a shard; 0 if no number does.
std::uint64_t parts_for_all(const std::vector<Shard>& shards, std::uint64_t ranks) {
  std::uint64_t others = 0;
  std::uint64_t files = 0;
  std::uint64_t now = 1;
  std::uint64_t most = kMostFileParts;
  for (const Shard& shard : shards) {
    if (!has_content(shard) || shard.part.index > 0) continue;
    if (!is_text(shard)) {
      ++others;
      continue;
    }
    ++files;
    now = std::max<std::uint64_t>(now, shard.part.count);
    most = std::min(most, shard.bytes);
  }
  if (files == 0 || others >= ranks) return 0;
  const std::uint64_t parts = (ranks - others + files - 1) / files;
  return parts > now && parts <= most ? parts : 0;
}

}  // namespace

std::vector<TrackedShard> split_files(const std::vector<TrackedShard>& files, std::uint32_t parts, Communicator& comm,
                                      std::vector<Shard>& whole) {
  if (parts == 1) return files;
  const std::vector<std::uint64_t> splits = distribute_work(
      comm, files.size(), "start: split", [&](std::size_t i) { return can_be_split(files[i].shard) ? 1U : 0U; });
  std::vector<TrackedShard> shards;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (splits[i] == 0) {
      shards.push_back(files[i]);
      whole.push_back(files[i].shard);
      continue;
    }
    for (const Shard& part : split(files[i].shard, parts)) {
      shards.push_back(files[i]);
      shards.back().shard = part;
    }
  }
  run_on_all(comm, "start: split", [&] {
    if (shards.size() <= kMostShards) return;
    throw Error(Fault::kUsage, "--split " + std::to_string(parts) + " makes " + std::to_string(shards.size()) +
                                   " shards, and there may be " + std::to_string(kMostShards));
  });
  return shards;
}

std::string warning_of_whole_files(const std::vector<Shard>& whole) {
  if (whole.empty()) return "";
  const Shard& first = whole.front();
  const std::size_t more = whole.size() - 1;
  std::string text =
      input_name(first.path) + ": --split leaves it whole, since it is " + (first.regular ? "compressed" : "a pipe");
  if (more > 0) text += "; and " + std::to_string(more) + (more == 1 ? " other" : " others");
  return text;
}

std::string warning_of_idle_ranks(const std::vector<Shard>& shards, const std::vector<bool>& readers,
                                  bool may_be_split) {
  const auto shares = assign_shards(shards, readers);
  std::uint64_t all = 0;
  std::uint64_t idle = 0;
  for (std::size_t rank = 0; rank < readers.size(); ++rank) {
    if (!readers[rank]) continue;
    ++all;
    if (std::ranges::none_of(shares[rank], [&](std::uint32_t i) { return has_content(shards[i]); })) ++idle;
  }
  if (idle == 0) return "";
  if (idle == all) return "there is nothing to read: all shards are empty";
  std::string text = std::to_string(idle) + " of " + std::to_string(all) +
                     (all < readers.size() ? " ranks that read" : " ranks") + (idle == 1 ? " has" : " have") +
                     " nothing to read";
  const std::uint64_t parts = may_be_split ? parts_for_all(shards, all) : 0;
  if (parts > 0) {
    text += "; --split " + std::to_string(parts) + " lets ranks share a file";
  } else if (may_be_split && all <= kMostConverted) {
    text += "; cpt convert FILE OUT --shards " + std::to_string(all) + " makes more";
  }
  return text;
}

}  // namespace cpt
