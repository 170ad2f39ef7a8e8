// A shard that has no end: whoever reads it waits for more.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace cpt {

// A named pipe. Its readers see the end when it is closed and empty.
class Fifo {
 public:
  explicit Fifo(std::filesystem::path path) : path_(std::move(path)) {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo " + path_.string());
    // Also for reading, so that this does not wait for the reader.
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Fifo() { close(); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  std::string path() const { return path_.string(); }

  // At most what a pipe holds.
  void write(const std::string& text) {
    if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("write to " + path_.string());
    }
  }
  void close() {
    if (descriptor_ != -1) ::close(std::exchange(descriptor_, -1));
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace cpt
