// What the tests of the store share: a directory that goes away, bytes to write, and blob sets in one line.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "store/blob/blob_set.h"

namespace cpt {

inline constexpr std::size_t kSegment = kMaxSegmentBytes;
using ByteVector = std::vector<std::byte>;
using Blobs = std::vector<std::pair<std::string, ByteVector>>;

inline constexpr const char* kKind = "test set";

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& above = std::filesystem::temp_directory_path()) {
    std::string name = (above / "cpt-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(Fault::kCannotWrite, "no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline ByteVector bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Nothing that a compressor could make smaller.
inline ByteVector noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  ByteVector bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

// Noise in every second group of four bytes, as a weight table has it.
inline ByteVector half_zero(std::size_t size, unsigned seed = 1) {
  ByteVector bytes = noise(size, seed);
  for (std::size_t i = 0; i < size; ++i) {
    if (i / 4 % 2 == 0) bytes[i] = std::byte{0};
  }
  return bytes;
}

inline void write_set(const std::filesystem::path& directory, const Blobs& blobs, const std::string& kind = kKind) {
  BlobSetWriter writer(directory, kind);
  for (const auto& [name, bytes] : blobs) writer.add(name).append(bytes);
  writer.commit();
}

inline Blobs read_set(const std::filesystem::path& directory, const std::string& kind = kKind) {
  const BlobSetReader reader(directory, kind);
  Blobs blobs;
  for (const std::string& name : reader.names()) blobs.emplace_back(name, reader.read_all(name, 1 << 30));
  return blobs;
}

inline void write_plain(const std::filesystem::path& path, const ByteVector& bytes) { OutputFile(path).write(bytes); }

inline std::set<std::string> names_in(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

// "FAULT: reason" of the cpt::Error that `action` throws, "no error" if it throws none; other exceptions pass through.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.fault())) + ": " + error.what();
  }
  return "no error";
}

// Runs `action` in a child process that ends without destructors, as a killed one does; returns its exit status.
inline int in_killed_process(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      action();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cpt
