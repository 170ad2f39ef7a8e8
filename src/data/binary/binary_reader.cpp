#include "data/binary/binary_reader.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "cpt/error.h"
#include "data/format/read_options.h"

namespace cpt {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

constexpr const char* kBlock = "a sound block of a binary shard";
constexpr const char* kCutOff = "the end of the file";

// Shards that older versions wrote may hold importances above the limit.
bool too_important(float importance) { return importance > static_cast<float>(kMaxImportance); }

template <class T>
std::span<char> chars_of(T& value) {
  return {reinterpret_cast<char*>(&value), sizeof value};
}

}  // namespace

BlockScratch::BlockScratch() : context(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  if (!context) throw Error(Fault::kFailed, "zstd cannot start");
}

BinaryReader::BinaryReader(std::unique_ptr<ByteSource> source, const ReadOptions& options,
                           std::shared_ptr<BlockScratch> scratch)
    : source_(std::move(source)), options_(options), scratch_(std::move(scratch)) {}

void BinaryReader::read_header() {
  constexpr const char* kHeader = "the header of a binary shard";
  std::array<char, kBinaryMagicBytes> magic{};
  std::uint32_t length = 0;
  std::uint64_t checksum = 0;
  require(magic, kHeader);
  if (magic != kBinaryMagic) {
    const char* advice = magic.back() < kBinaryMagic.back() ? "; convert its text again" : "";
    throw Error(Fault::kBadData, "expected a binary shard of version " + std::to_string(kBinaryMagic.back()) +
                                     ", found one of version " + std::to_string(magic.back()) + advice);
  }
  require(chars_of(length), kHeader);
  require(chars_of(checksum), kHeader);
  if (length > kMostTextBytes) throw CorruptInput(kHeader, "a damaged one");
  std::string text(length, '\0');
  require(text, kHeader);
  if (XXH3_64bits(text.data(), text.size()) != checksum) throw CorruptInput(kHeader, "a damaged one");
  if (const std::string wanted = reader_signature(options_); text != wanted) {
    throw Error(Fault::kUsage, describe_difference(text, wanted, options_.is_of_model));
  }
}

bool BinaryReader::skip(std::uint64_t bytes, std::uint64_t line, std::uint64_t list) {
  if (!pass_to(std::min(list, bytes)) || !pass_blocks_to(bytes) || !pass_to(bytes)) return false;
  number_ = line;
  has_skipped_ = true;
  return true;
}

bool BinaryReader::pass_to(std::uint64_t bytes) {
  while (taken_ < bytes) {
    const std::uint64_t count = source_->skip(bytes - taken_);
    if (count == 0) return false;
    taken_ += count;
  }
  return true;
}

// Skips blocks, and reads the list on the way. Damage is reported when a block needs the list.
bool BinaryReader::pass_blocks_to(std::uint64_t bytes) {
  while (taken_ < bytes) {
    BlockHead head;
    try {
      head = read_head();
    } catch (const CorruptInput& damage) {
      list_damage_ = damage;
      return true;
    }
    if (head.kind == BlockKind::kFeatures) {
      read_list(head);
    } else if (!pass_to(taken_ + head.stored_bytes)) {
      return false;
    }
    if (taken_ > bytes) throw CorruptInput("the end of a block at byte " + std::to_string(bytes), "its middle");
  }
  return true;
}

std::vector<IndexEntry> BinaryReader::read_index(std::uint64_t offset) {
  constexpr const char* kIndex = "the index of a binary shard";
  if (!pass_to(offset)) throw CorruptInput(kIndex, kCutOff);
  block_begin_ = taken_;
  const BlockHead head = read_head();
  if (head.kind != BlockKind::kIndex) throw CorruptInput(kIndex, "something else at byte " + std::to_string(offset));
  read_payload(head);
  read_trailer(offset);
  std::vector<IndexEntry> index(scratch_->payload.size() / sizeof(IndexEntry));
  if (!index.empty()) std::memcpy(index.data(), scratch_->payload.data(), index.size() * sizeof(IndexEntry));
  if (const std::size_t rest = scratch_->payload.size() % sizeof(IndexEntry); rest == sizeof text_bytes_) {
    std::memcpy(&text_bytes_, scratch_->payload.data() + scratch_->payload.size() - rest, rest);
  }
  return index;
}

bool BinaryReader::next(const Origin& base, Batch& batch) {
  while (!block_left()) {
    if (ended_ || !read_block()) return false;
  }
  const std::size_t examples = block_.examples_of_line();
  // Field by field: a copy of the whole of `base`, which was just written, would wait for those stores.
  Origin origin{base.shard, ++number_, base.position, 0, base.bad_lines};
  origin.end = examples == block_.examples_left() ? taken_ : block_begin_;
  if (refuses_some_) check_line(examples);
  for (std::size_t i = 0; i < examples; ++i) block_.append(origin, batch);
  return true;
}

// The expectation that this label fails; nullptr if it is allowed.
const char* BinaryReader::refusal_of(std::string_view label) const {
  if (label.empty()) return options_.labels_required ? kLabelExpected : nullptr;
  return options_.knows_label && !options_.knows_label(label) ? kKnownLabelExpected : nullptr;
}

void BinaryReader::check_line(std::size_t examples) {
  for (std::size_t i = 0; i < examples; ++i) {
    const std::string_view label = block_.label(i).name;
    if (const char* expected = refusal_of(label)) refuse_line(examples, expected, quote(label));
    const float importance = block_.importance(i);
    if (too_important(importance)) {
      std::array<char, 32> found{};
      std::snprintf(found.data(), found.size(), "%g", static_cast<double>(importance));
      refuse_line(examples, kImportanceExpected, found.data());
    }
  }
}

void BinaryReader::refuse_line(std::size_t examples, const std::string& expected, const std::string& found) {
  for (std::size_t left = examples; left > 0; --left) block_.skip();
  throw ParseError(1, expected, found);
}

// False at the end of the shard.
bool BinaryReader::read_block() {
  block_begin_ = taken_;
  ended_ = taken_ >= end_;
  if (ended_) return false;
  const std::uint64_t lines_before = has_skipped_ ? number_ : lines_expected_;
  number_ = lines_before + 1;  // the line to report if the block is damaged
  BlockHead head = read_head();
  if (head.kind == BlockKind::kFeatures) {
    read_list(head);
    head = read_head();
  }
  check_lines(head, lines_before);
  lines_expected_ = head.lines_before + head.lines;
  const std::uint64_t done = lines_before - head.lines_before;
  has_skipped_ = false;
  read_payload(head, done);
  switch (head.kind) {
    case BlockKind::kExamples:
      enter_block(head, done);
      break;
    case BlockKind::kFeatures:
      throw CorruptInput(kBlock, "two parts of its list at byte " + std::to_string(block_begin_));
    case BlockKind::kIndex:
      read_trailer(block_begin_);
  }
  number_ = lines_before;
  return !ended_;
}

BlockHead BinaryReader::read_head() {
  head_begin_ = taken_;
  BlockHead head;
  if (fill(chars_of(head)) < sizeof head) throw CorruptInput(kBlock, kCutOff);
  const bool known =
      head.kind == BlockKind::kExamples || head.kind == BlockKind::kFeatures || head.kind == BlockKind::kIndex;
  if (head.head_checksum != head_checksum(head) || !known || head.raw_bytes > kMostPayloadBytes ||
      head.stored_bytes > head.raw_bytes) {
    throw CorruptInput(kBlock, "something else at byte " + std::to_string(head_begin_));
  }
  return head;
}

// Requires that the block continues after `lines_before` lines. After skip(), this may be in its middle or at its end.
void BinaryReader::check_lines(const BlockHead& head, std::uint64_t lines_before) const {
  const std::uint64_t most = has_skipped_ ? head.lines_before + head.lines : head.lines_before;
  if (lines_before < head.lines_before || lines_before > most) {
    throw CorruptInput("the block of line " + std::to_string(lines_before + 1),
                       "that of line " + std::to_string(head.lines_before + 1));
  }
}

// Takes as much memory as the head claims, at most kMostPayloadBytes. `lines_done` of its lines were read before.
void BinaryReader::read_payload(const BlockHead& head, std::uint64_t lines_done) {
  const bool holds_lines = head.kind == BlockKind::kExamples;
  if (const std::optional<CorruptInput> damage = read_stored(head.stored_bytes)) {
    if (!holds_lines) throw CorruptInput(*damage);
    throw BrokenOffBlock(*damage, head.lines - lines_done);
  }
  const auto stored = std::span(scratch_->stored).first(head.stored_bytes);
  const std::string place = " at byte " + std::to_string(head_begin_);
  const auto damaged = [&] {
    const CorruptInput damage(kBlock, "a damaged one" + place);
    if (!holds_lines) throw CorruptInput(damage);
    throw DamagedBlock(damage, head.lines - lines_done);
  };
  if (payload_checksum(stored) != head.checksum) damaged();
  scratch_->payload.resize(head.raw_bytes);
  if (head.stored_bytes == head.raw_bytes) {
    std::ranges::copy(stored, scratch_->payload.begin());
    return;
  }
  const std::size_t size = ZSTD_decompressDCtx(scratch_->context.get(), scratch_->payload.data(),
                                               scratch_->payload.size(), stored.data(), stored.size());
  if (size != head.raw_bytes) damaged();
}

// Takes memory only as bytes arrive. Returns the reason if they are not all there.
std::optional<CorruptInput> BinaryReader::read_stored(std::size_t bytes) {
  try {
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t piece = std::min(kPiece, bytes - done);
      if (scratch_->stored.size() < done + piece) scratch_->stored.resize(done + piece);
      if (fill({reinterpret_cast<char*>(scratch_->stored.data()) + done, piece}) < piece)
        return CorruptInput(kBlock, kCutOff);
      done += piece;
    }
  } catch (const CorruptInput& damage) {  // of the compressed file around the shard
    return CorruptInput(kBlock, std::string("one that breaks off: ") + damage.what());
  }
  return std::nullopt;
}

// Damage is kept for the blocks that need the list.
void BinaryReader::read_list(const BlockHead& head) {
  constexpr const char* kList = "a sound list of the features of a block";
  std::uint64_t first = 0;
  try {
    read_payload(head);
    if (scratch_->payload.size() % sizeof(FeatureHash) != 0 || scratch_->payload.size() < sizeof first) {
      throw CorruptInput(kBlock, "a list that ends in the middle");
    }
    std::memcpy(&first, scratch_->payload.data(), sizeof first);
    if (first == 0) {
      list_.clear();
      list_digest_ = 0;
      list_damage_.reset();
    }
    if (list_damage_) return;
    if (first != list_.size()) throw CorruptInput(kBlock, "a part of the list that belongs elsewhere");
  } catch (const CorruptInput&) {
    list_damage_.emplace(kList, "a damaged one at byte " + std::to_string(head_begin_));
    return;
  }
  const std::size_t count = scratch_->payload.size() / sizeof(FeatureHash) - 1;
  list_.resize(first + count);
  if (count > 0)
    std::memcpy(list_.data() + first, scratch_->payload.data() + sizeof first, count * sizeof(FeatureHash));
  list_digest_ = list_digest(list_digest_, std::span(list_).subspan(first));
}

void BinaryReader::read_trailer(std::uint64_t index) {
  ended_ = true;
  Trailer trailer;
  char more = 0;
  require(chars_of(trailer), kBlock);
  if (trailer.index != index || !trailer.is_whole() || fill(chars_of(more)) != 0) {
    throw CorruptInput("the end of a binary shard", "something else at byte " + std::to_string(block_begin_));
  }
}

void BinaryReader::enter_block(const BlockHead& head, std::uint64_t done) {
  if (list_damage_) throw DamagedBlock(*list_damage_, head.lines - done);
  try {
    block_.read(scratch_->payload, list_, list_digest_);
  } catch (const CorruptInput& damage) {
    throw DamagedBlock(damage, head.lines - done);
  }
  if (block_.lines() != head.lines) {
    block_.clear();
    throw DamagedBlock(
        {kBlock, "one with a different number of lines than its head says at byte " + std::to_string(head_begin_)},
        head.lines - done);
  }
  refuses_some_ =
      std::ranges::any_of(block_.labels(), [this](const auto& label) { return refusal_of(label.name) != nullptr; }) ||
      std::ranges::any_of(block_.importances(), too_important);
  for (std::uint64_t line = 0; line < done; ++line) {
    for (std::size_t left = block_.examples_of_line(); left > 0; --left) block_.skip();
  }
}

std::uint64_t BinaryReader::drain() {
  try {
    while (const std::uint64_t count = source_->skip(kPiece)) taken_ += count;
  } catch (const CorruptInput&) {  // no more bytes can be read
  }
  return taken_;
}

// Returns fewer bytes only at the end of the content.
std::size_t BinaryReader::fill(std::span<char> space) {
  std::size_t filled = 0;
  while (filled < space.size()) {
    const std::size_t count = source_->read(space.subspan(filled));
    if (count == 0) break;
    filled += count;
    taken_ += count;
  }
  return filled;
}

void BinaryReader::require(std::span<char> space, const char* what) {
  if (fill(space) < space.size()) throw CorruptInput(what, kCutOff);
}

}  // namespace cpt
