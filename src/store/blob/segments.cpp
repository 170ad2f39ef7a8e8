#include "store/blob/segments.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace cpt {
namespace {

// Weights are mostly noise. Level 1 makes them 7 to 8 percent smaller, but takes two to five times as long to compress,
// and four times as long to decompress: longer than a disk takes for the difference.
constexpr int kCompressionLevel = -1;

std::uint64_t checksum_of(const Segment& segment, std::span<const std::byte> stored) {
  const std::uint64_t lengths = std::uint64_t{segment.raw_bytes} << 32 | segment.stored_bytes;
  return XXH3_64bits_withSeed(stored.data(), stored.size(), lengths);
}

// What a buffer counts for: it may hold large segments later, and may have grown beyond the largest.
std::size_t room_of(const std::vector<std::byte>& raw) {
  return std::min<std::size_t>(raw.capacity(), kMaxSegmentBytes);
}

}  // namespace

bool is_intact(const Segment& segment, std::span<const std::byte> stored) {
  return checksum_of(segment, stored) == segment.checksum;
}

void ZstdDeleter::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void ZstdDeleter::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

SegmentEncoder::SegmentEncoder() : context_(ZSTD_createCCtx()), compressed_(ZSTD_compressBound(kMaxSegmentBytes)) {
  if (!context_) throw std::bad_alloc();
}

SegmentEncoder::Encoded SegmentEncoder::encode(std::span<const std::byte> raw) {
  const std::size_t compressed = ZSTD_compressCCtx(context_.get(), compressed_.data(), compressed_.size(), raw.data(),
                                                   raw.size(), kCompressionLevel);
  const bool smaller = !ZSTD_isError(compressed) && compressed < raw.size();
  Encoded encoded;
  encoded.stored = smaller ? std::span<const std::byte>(compressed_.data(), compressed) : raw;
  encoded.segment.raw_bytes = static_cast<std::uint32_t>(raw.size());
  encoded.segment.stored_bytes = static_cast<std::uint32_t>(encoded.stored.size());
  encoded.segment.checksum = checksum_of(encoded.segment, encoded.stored);
  return encoded;
}

SegmentDecoder::SegmentDecoder() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

bool SegmentDecoder::decode(const Segment& segment, std::span<const std::byte> stored, std::span<std::byte> out) {
  if (!is_intact(segment, stored)) return false;
  if (segment.is_uncompressed()) {
    // The caller may have read it straight into `out`.
    if (stored.data() != out.data()) std::memcpy(out.data(), stored.data(), out.size());
    return true;
  }
  return ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), stored.data(), stored.size()) == out.size();
}

SegmentWriter::~SegmentWriter() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SegmentWriter::put(std::vector<std::byte>& raw) {
  if (taken_ > 0 && threads_.size() < most_threads_) start_thread();
  if (!threads_.empty()) return hand_over(raw);
  put_stored(encoder_.encode(raw));
  raw.clear();
}

void SegmentWriter::put_stored(const SegmentEncoder::Encoded& encoded) {
  try {
    write_in_turn(taken_, encoded);
  } catch (...) {
    fail();
  }
  const std::scoped_lock lock(mutex_);
  failure_.rethrow();
  ++taken_;
}

// Without more threads the others, or the caller's, do the work.
void SegmentWriter::start_thread() {
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    most_threads_ = threads_.size();
  }
}

void SegmentWriter::hand_over(std::vector<std::byte>& raw) {
  {
    std::unique_lock lock(mutex_);
    const std::size_t bytes = room_of(raw);
    const std::size_t most = (threads_.size() + 1) * kMaxSegmentBytes;
    changed_.wait(lock, [&] { return failure_ || raw_bytes_ == 0 || raw_bytes_ + bytes <= most; });
    failure_.rethrow();
    raw_bytes_ += bytes;
    waiting_.push_back({taken_++, std::move(raw)});
    raw.clear();
    if (!spare_.empty()) {
      raw.swap(spare_.back());
      spare_.pop_back();
    }
  }
  changed_.notify_all();
}

std::vector<Segment> SegmentWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || segments_.size() == taken_; });
  failure_.rethrow();
  return segments_;
}

void SegmentWriter::run() noexcept {
  try {
    SegmentEncoder encoder;
    for (Task task; take(task);) {
      write_in_turn(task.number, encoder.encode(task.raw));
      {
        const std::scoped_lock lock(mutex_);
        raw_bytes_ -= room_of(task.raw);
        task.raw.clear();
        if (spare_.size() < most_spare_) spare_.push_back(std::move(task.raw));
      }
      changed_.notify_all();
    }
  } catch (...) {
    fail();
  }
}

// Returns false when there is nothing more to do.
bool SegmentWriter::take(Task& task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || failure_ || !waiting_.empty(); });
  if (stopping_ || failure_) return false;
  task = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

// The segments before it were taken by other threads, so its turn comes.
void SegmentWriter::write_in_turn(std::uint64_t number, const SegmentEncoder::Encoded& encoded) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || failure_ || segments_.size() == number; });
    if (stopping_ || failure_) return;
  }
  file_.write(encoded.stored);
  {
    const std::scoped_lock lock(mutex_);
    segments_.push_back(encoded.segment);
  }
  changed_.notify_all();
}

void SegmentWriter::fail() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    failure_.keep(std::current_exception());
  }
  changed_.notify_all();
}

}  // namespace cpt
