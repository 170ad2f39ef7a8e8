#include "train/input/shard_cache.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "comm/collectives.h"
#include "core/digest_text.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/pipeline/shard_copy.h"
#include "store/fs/durable_file.h"
#include "store/fs/pending_file.h"
#include "train/progress/progress.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kExtension = ".cpt";

// A folder of shards that holds the cache, too, passes over names that begin so.
constexpr const char* kMark = "_";

std::string name_of_copy(const std::string& key) { return kMark + digest_text(hash_label(key)) + kExtension; }

// The folder may be one that others use, too.
bool is_name_of_copy(const fs::path& name) {
  const std::string stem = name.stem().string();
  return name.extension() == kExtension && stem.starts_with(kMark) && stem.size() == 1 + digest_text(0).size() &&
         stem.find_first_not_of("0123456789abcdef", 1) == std::string::npos;
}

// Of all ranks, each with its rank and host.
std::vector<std::string> gather(Communicator& comm, const std::vector<std::string>& mine) {
  const std::string text = join_warnings(comm, mine);
  std::vector<std::string> all;
  for (const auto& bytes : all_gather_bytes(comm, std::as_bytes(std::span(text)), "cache")) {
    for (std::string& line : split_warnings(bytes)) all.push_back(std::move(line));
  }
  return all;
}

}  // namespace

ShardCache::ShardCache(fs::path folder) : folder_(std::move(folder)) {
  create_directory_durably(folder_);
  sweep_pending_files(folder_, is_name_of_copy);
}

void ShardCache::attach(std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine, const ReadOptions& options,
                        const std::function<bool()>& gives_up) {
  const auto start = Clock::now();
  std::size_t copies = 0;
  for (const std::uint32_t number : mine) {
    attach(shards, number, options, copies < kMostCopies, gives_up);
    if (!shards[number].copy.empty()) ++copies;
  }
  mine_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
}

void ShardCache::attach(std::vector<Shard>& shards, std::uint32_t number, const ReadOptions& options, bool has_room,
                        const std::function<bool()>& gives_up) {
  Shard& shard = shards.at(number);
  if (!is_text_file(shard)) return;
  const auto source = copy_source(shard, number, options);
  if (source && has_room) {
    const fs::path copy = folder_ / name_of_copy(source->key);
    if (is_there(copy, source->key, shard, options)) {
      ++mine_.found;
      shard.copy = copy.string();
      return;
    }
    if (source->settled && make(copy, shards, number, options, source->key, gives_up)) {
      shard.copy = copy.string();
      return;
    }
  }
  ++mine_.left;
}

bool ShardCache::is_there(const fs::path& copy, const std::string& key, const Shard& shard,
                          const ReadOptions& options) {
  std::error_code unknown;
  if (!fs::exists(copy, unknown)) return false;
  try {
    check_copy(copy.string(), key, options);
    return true;
  } catch (const Error& damage) {
    mine_.warnings.push_back(shard.path + ": its copy " + copy.string() + " cannot be read: " + damage.what());
    return false;
  }
}

bool ShardCache::make(const fs::path& copy, const std::vector<Shard>& shards, std::uint32_t number,
                      const ReadOptions& options, const std::string& key, const std::function<bool()>& gives_up) {
  if (!writes_ || gives_up()) return false;
  try {
    auto file = PendingFile::begin(copy);
    if (!file) return false;  // another job makes it
    std::uint64_t bytes = 0;
    const auto sink = [&](std::span<const std::byte> piece) {
      file->write(piece);
      bytes += piece.size();
    };
    const auto written = write_copy(shards, number, options, key, sink, gives_up);
    const auto source = copy_source(shards[number], number, options);
    if (!written || !source || source->key != key) return false;  // given up, or the text has changed meanwhile
    file->publish();
    ++mine_.written;
    mine_.bytes += bytes;
    if (!written->whole) ++mine_.cut;
    return true;
  } catch (const Error& error) {
    if (error.fault() != Fault::kCannotWrite) return false;  // the reader of the text will say what is wrong with it
    failures_.emplace_back(error.what());
    writes_ = false;
    return false;
  }
}

CacheReport ShardCache::report(Communicator& comm) {
  CacheReport all;
  all.directory = folder_;
  std::uint64_t sums[] = {mine_.found, mine_.written, mine_.bytes, mine_.cut, mine_.left};
  sum_in_rank_order(comm, sums, "cache");
  all.found = sums[0];
  all.written = sums[1];
  all.bytes = sums[2];
  all.cut = sums[3];
  all.left = sums[4];
  for (const double seconds : all_gather_value(comm, mine_.seconds, "cache")) {
    all.seconds = std::max(all.seconds, seconds);
  }
  all.warnings = gather(comm, mine_.warnings);
  const std::vector<std::string> failures = gather(comm, failures_);
  if (!failures.empty()) {
    all.warnings.push_back("no more copies are written, and shards without one are read as text: " + failures[0]);
    writes_ = false;
  }
  mine_ = {};
  failures_.clear();
  return all;
}

}  // namespace cpt
