// Values as bytes. Raw ones are read from front to back. Others are written by cereal's portable binary archive, and
// read by an archive that bounds every length.
#pragma once

#include <algorithm>
#include <bit>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "store/blob/blob_set.h"

namespace cpt {

// Fills its argument with the next bytes; throws Error(kBadData) if there are too few.
using StoredBytes = std::function<void(std::span<std::byte>)>;

// Takes the bytes from the front of `left`. Calls `refuse`, which must throw, if there are too few.
inline StoredBytes front_of(std::span<const std::byte>& left, std::function<void()> refuse) {
  return [&left, refuse = std::move(refuse)](std::span<std::byte> out) {
    if (out.size() > left.size()) refuse();
    std::copy_n(left.begin(), out.size(), out.begin());
    left = left.subspan(out.size());
  };
}

// Takes the bytes from the front of `blob`.
inline StoredBytes front_of(BlobReader& blob) {
  return [&blob](std::span<std::byte> out) { blob.read_exactly(out); };
}

template <class T>
T read_value(const StoredBytes& bytes) {
  T value;
  bytes(std::as_writable_bytes(std::span<T, 1>(&value, 1)));
  return value;
}

// Reads what cereal::PortableBinaryOutputArchive wrote on a little-endian machine. Memory is bounded by the bytes: a
// text is at most as long as the bytes that are left, and a vector grows as its elements are read. Throws
// cereal::Exception if the bytes end too early or are not such a value: a bool must be 0 or 1, a floating-point number
// finite.
class ArchiveReader : public cereal::InputArchive<ArchiveReader, cereal::AllowEmptyClassElision> {
 public:
  // The bytes must outlive it.
  explicit ArchiveReader(std::span<const std::byte> bytes) : InputArchive(this), left_(bytes) {
    static_assert(std::endian::native == std::endian::little);
    std::uint8_t is_little_endian = 0;
    take(&is_little_endian, 1);
    if (is_little_endian != 1) throw cereal::Exception("its bytes are in another order");
  }

  void take(void* out, std::uint64_t bytes) {
    if (bytes > left_.size()) throw cereal::Exception("it ends too early");
    if (bytes > 0) std::memcpy(out, left_.data(), bytes);
    left_ = left_.subspan(bytes);
  }

  std::uint64_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> load(ArchiveReader& archive, T& value) {
  archive.take(&value, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) throw cereal::Exception("a number is not finite");
  }
}

inline void load(ArchiveReader& archive, bool& value) {
  std::uint8_t byte = 0;
  archive.take(&byte, 1);
  if (byte > 1) throw cereal::Exception("a bool is neither 0 nor 1");
  value = byte == 1;
}

inline void load(ArchiveReader& archive, std::string& text) {
  std::uint64_t length = 0;
  archive(length);
  if (length > archive.left()) throw cereal::Exception("it ends too early");
  text.resize(length);
  archive.take(text.data(), length);
}

template <class T, class Allocator>
void load(ArchiveReader& archive, std::vector<T, Allocator>& items) {
  std::uint64_t count = 0;
  archive(count);
  if (count > archive.left()) throw cereal::Exception("it ends too early");
  items.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    T item{};
    archive(item);
    items.push_back(std::move(item));
  }
}

template <class T>
void load(ArchiveReader& archive, std::optional<T>& value) {
  bool is_empty = false;
  archive(is_empty);
  value.reset();
  if (!is_empty) archive(value.emplace());
}

// An enum whose last value is `last`; throws cereal::Exception for a larger number.
template <class Choice>
Choice checked_choice(std::uint8_t number, Choice last) {
  if (number > static_cast<std::uint8_t>(last)) throw cereal::Exception("a number stands for no choice");
  return static_cast<Choice>(number);
}

template <class Archive, class Choice>
void archive_choice(Archive& archive, Choice& choice, Choice last) {
  auto number = static_cast<std::uint8_t>(choice);
  archive(number);
  if (Archive::is_loading::value) choice = checked_choice(number, last);
}

template <class T>
std::string archived(const T& value) {
  std::ostringstream stream;
  {
    cereal::PortableBinaryOutputArchive archive(stream);
    archive(value);
  }
  return std::move(stream).str();
}

template <class T>
void append_archive(BlobWriter& blob, const T& value) {
  const std::string bytes = archived(value);
  blob.append(std::as_bytes(std::span(bytes)));
}

// Calls read(archive), which must read all of `bytes`. Throws Error(kBadData) that begins with `name` if they are not
// what it expects.
template <class Read>
void decode_archive(std::span<const std::byte> bytes, const std::string& name, Read read) {
  try {
    ArchiveReader archive(bytes);
    read(archive);
    if (archive.left() > 0) throw cereal::Exception("more follows than belongs to it");
  } catch (const cereal::Exception&) {
    std::throw_with_nested(Error(Fault::kBadData, name + " cannot be read"));
  }
}

// The value of a blob. Throws Error(kBadData) if the blob is damaged, is not a T, or has more than `most_bytes`.
template <class T>
T read_archive(const BlobSetReader& set, const char* name, std::uint64_t most_bytes) {
  T value;
  decode_archive(set.read_all(name, most_bytes), set.directory().string() + ": its " + name,
                 [&](ArchiveReader& archive) { archive(value); });
  return value;
}

}  // namespace cpt

// cereal needs to know which archive writes the enums that ArchiveReader reads.
namespace cereal::traits::detail {
template <>
struct get_output_from_input<cpt::ArchiveReader> {
  using type = PortableBinaryOutputArchive;
};
}  // namespace cereal::traits::detail
