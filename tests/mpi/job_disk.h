// A file system of its own for a job's run directory: one that can be full, or read-only.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace cpt::testing {

// In memory, at `path`, as long as it lives. Mounting takes rights that not everybody has.
class Disk {
 public:
  // `size` as mount options have it: "size=256k".
  Disk(const std::filesystem::path& path, const char* size) : path_(path) {
    std::filesystem::create_directory(path);
    mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, size) == 0;
    reason_ = mounted_ ? "" : std::strerror(errno);
  }
  ~Disk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& reason() const { return reason_; }  // why it is not
  // `flags` of mount(2), as MS_RDONLY.
  void change(unsigned long flags, const char* size) const {
    ASSERT_EQ(::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | flags, size), 0) << std::strerror(errno);
  }

 private:
  std::filesystem::path path_;
  bool mounted_ = false;
  std::string reason_;
};

}  // namespace cpt::testing
