// Values as blobs, by cereal.
#pragma once

#include <cereal/archives/portable_binary.hpp>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>

#include "cpt/error.h"
#include "store/blob_set.h"

namespace cpt {

template <class T>
void append_archive(BlobWriter& blob, const T& value) {
  std::ostringstream stream;
  {
    cereal::PortableBinaryOutputArchive archive(stream);
    archive(value);
  }
  const std::string bytes = stream.str();
  blob.append(std::as_bytes(std::span(bytes)));
}

// Throws Error(kBadData) if the blob is damaged, is no such value, or has more than `most_bytes`.
template <class T>
T read_archive(const BlobSetReader& set, const char* name, std::uint64_t most_bytes) {
  const std::vector<std::byte> bytes = set.read_all(name, most_bytes);
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  T value;
  try {
    cereal::PortableBinaryInputArchive archive(stream);
    archive(value);
  } catch (const std::exception&) {
    std::throw_with_nested(Error(Fault::kBadData, set.directory().string() + ": its " + name + " cannot be read"));
  }
  return value;
}

}  // namespace cpt
