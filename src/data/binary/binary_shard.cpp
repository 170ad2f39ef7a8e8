#include "data/binary/binary_shard.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstddef>

namespace cpt {

static_assert(std::endian::native == std::endian::little);

namespace {

// These words are part of the format: they stay even if options of a program are renamed.
constexpr std::array<const char*, 2> kNormalizeNames{"none", "l2"};
constexpr std::array<const char*, 4> kMultiLabelNames{"first", "sample", "split", "error"};

template <class Choice, std::size_t kChoices>
const char* name_of(Choice choice, const std::array<const char*, kChoices>& names) {
  return names.at(static_cast<std::size_t>(choice));
}

constexpr std::string_view kMagicWithoutVersion(kBinaryMagic.data(), kBinaryMagicBytes - 1);

}  // namespace

std::uint64_t head_checksum(const BlockHead& head) { return XXH3_64bits(&head, offsetof(BlockHead, head_checksum)); }

std::uint64_t payload_checksum(std::span<const std::byte> stored) { return XXH3_64bits(stored.data(), stored.size()); }

std::uint64_t list_digest(std::uint64_t before, std::span<const FeatureHash> part) {
  return XXH3_64bits_withSeed(part.data(), part.size_bytes(), before);
}

bool is_binary_shard(std::string_view beginning) {
  return beginning.size() >= kMagicWithoutVersion.size() && may_be_binary_shard(beginning);
}

bool may_be_binary_shard(std::string_view beginning) {
  return kMagicWithoutVersion.starts_with(beginning.substr(0, kMagicWithoutVersion.size()));
}

std::string reader_signature(const ReadOptions& options) {
  std::string crosses;
  for (const std::string& cross : options.interactions) crosses += ' ' + cross;
  std::string keys;
  if (options.fields != FieldRoles{}) {
    const auto list = [&keys](const char* what, const std::vector<std::string>& names) {
      keys += std::string(", ") + what;
      for (const std::string& name : names) keys += ' ' + name;
    };
    keys = ", label key " + options.fields.label + ", importance key " + options.fields.importance;
    list("text keys", options.fields.text);
    list("categorical keys", options.fields.categorical);
    list("ignored keys", options.fields.ignored);
  }
  std::string ngrams = options.ngrams.empty() ? "" : ", n-grams";
  for (const std::string& one : options.ngrams) ngrams += ' ' + one;
  return "seed " + std::to_string(options.seed) + ", normalize " + name_of(options.normalize, kNormalizeNames) +
         ", multilabel " + name_of(options.multilabel, kMultiLabelNames) + ", interactions" +
         (crosses.empty() ? " none" : crosses) + keys + ngrams;
}

}  // namespace cpt
