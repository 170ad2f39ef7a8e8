// A directory of results that appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace cpt {

// Where the results are written until they are whole: beside the directory's own name.
class NewDirectory {
 public:
  // Throws Error(kCannotWrite) where `target` is there already and is not an empty directory, or where nothing can be
  // written beside it.
  explicit NewDirectory(const std::filesystem::path& target);
  // Without publish(), removes what was written.
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives it its name. Once.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

// Shards in it: "part-007.vw". So many at most, so that their names sort as their numbers do.
inline constexpr std::uint64_t kMostParts = 1000;
std::string part_name(std::uint64_t number, const std::string& ending);

// Throws as NewDirectory's constructor does for what is there, for those who want to know before long work.
void require_nothing_there(const std::filesystem::path& target);

}  // namespace cpt
