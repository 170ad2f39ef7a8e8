// A small run that broke down in the middle of its shards, and what damage to its newest checkpoint makes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/job.h"
#include "train/training.h"

namespace cpt {

using ByteVector = std::vector<std::byte>;

ByteVector content_of(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const ByteVector& content);

// What Training's constructor says, on rank 0.
struct Beginning {
  std::optional<Resumption> resumption;
  std::optional<Fault> fault;
  std::string error;
};

// What a run came to, on all ranks together.
struct Outcome {
  std::uint64_t tree = 0;
  std::uint64_t weights = 0;
  std::uint64_t examples = 0;
  double log_loss = 0;
  bool operator==(const Outcome&) const = default;
};
void PrintTo(const Outcome& outcome, std::ostream* out);

class KeptRun {
 public:
  // Trains until there are two checkpoints, and breaks down then, with a shard_pass under way.
  KeptRun(Placement placement, int ranks);

  const std::filesystem::path& older() const { return checkpoints_[0]; }
  const std::filesystem::path& newest() const { return checkpoints_[1]; }
  // Of the newest checkpoint, in the order of their names.
  std::vector<std::filesystem::path> files() const;
  const ByteVector& intact(const std::filesystem::path& file) const { return content_.at(file); }
  // Both checkpoints as they were written.
  void restore() const;

  // Goes on as far as to know where; nothing is trained and nothing is written.
  Beginning begin() const;
  // Goes on to the end, and writes nothing.
  Outcome finish() const;
  // The same run, never stopped.
  Outcome straight() const;

  // The newest checkpoint must be refused, for a reason that names `culprit`, and the older one be taken.
  void expect_fallback(const std::filesystem::path& culprit) const;
  // ... and the run must end as if it had never been stopped.
  void expect_fallback_to_the_end(const std::filesystem::path& culprit) const;
  // No checkpoint may be usable, and all files stay as they are.
  void expect_refusal() const;

 private:
  Folder folder_;
  int ranks_;
  TrainingOptions options_;
  std::vector<std::filesystem::path> checkpoints_;
  std::map<std::filesystem::path, ByteVector> content_;  // of all files of both
};

}  // namespace cpt
