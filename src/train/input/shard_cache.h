// Binary copies of the text shards of many runs in one folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

// Jobs, ranks and hosts may share the folder, or hosts have one each. A copy is called by a digest of what it was made
// of (CopySource), so what the folder holds is never wrong, only of no use any more; anybody may remove any of it at
// any time. Nothing that goes wrong with it ends a run: a shard without a copy is read as text.
class ShardCache {
 public:
  // Makes the folder and clears away what dead processes have left unfinished. Throws Error(kCannotWrite).
  explicit ShardCache(std::filesystem::path folder);

  // A rank has all its shards open at a time, and of each copy a block of a megabyte or more in memory: so many at
  // most.
  static constexpr std::size_t kMostCopies = 64;

  // Finds or makes copies of those of `mine` that are text, and enters them into `shards`. Makes none any more once one
  // could not be written, on whichever rank, nor while `gives_up` says so, which is asked now and then.
  void attach(std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine, const ReadOptions& options,
              const std::function<bool()>& gives_up);

  // What the calls of attach() since the last report came to, on all ranks together. Collective.
  CacheReport report(Communicator& comm);

 private:
  void attach(std::vector<Shard>& shards, std::uint32_t number, const ReadOptions& options, bool has_room,
              const std::function<bool()>& gives_up);
  bool is_there(const std::filesystem::path& copy, const std::string& key, const Shard& shard,
                const ReadOptions& options);
  bool make(const std::filesystem::path& copy, const std::vector<Shard>& shards, std::uint32_t number,
            const ReadOptions& options, const std::string& key, const std::function<bool()>& gives_up);

  std::filesystem::path folder_;
  CacheReport mine_;
  std::vector<std::string> failures_;  // to write, not reported yet
  bool writes_ = true;
};

}  // namespace cpt
