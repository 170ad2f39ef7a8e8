#include "data/shards/shards.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/checked.h"
#include "core/file_descriptor.h"
#include "cpt/error.h"
#include "data/source/compression.h"
#include "data/source/file_source.h"

namespace cpt {
namespace {

bool has_status(const std::string& path, struct stat& status) {
  return (path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) == 0;
}

// True for files of /proc and of some mounts. The size is read again, because a file that was empty may have grown.
bool has_content_but_no_size(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char first = 0;
  struct stat status {};
  return ::read(file.get(), &first, 1) == 1 && ::fstat(file.get(), &status) == 0 && status.st_size == 0;
}

class ShardFinder {
 public:
  explicit ShardFinder(const std::function<void(const std::string& path)>& on_dangling) : on_dangling_(on_dangling) {}

  void add_pattern(const std::string& pattern) {
    pattern_ = pattern;
    if (pattern == "-") {
      struct stat status {};
      const bool is_known = has_status("-", status) && !seen_.emplace(status.st_dev, status.st_ino).second;
      if (!is_known) shards_.push_back({"-", 0, false});
      return;
    }
    // The name of a file may contain the characters of patterns.
    struct stat status {};
    if (::stat(pattern.c_str(), &status) == 0) return add_path(pattern);
    if (errno != ENOENT) fail(describe_errno("stat", errno));
    bool any = false;
    for (const std::string& path : expand()) {
      if (path != pattern && is_passed_over(path)) continue;
      add_path(path);
      any = true;
    }
    if (!any) fail("the pattern matches only links to nothing");
  }

  std::vector<Shard> take() { return std::move(shards_); }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Fault::kNoInput, "no input at '" + pattern_ + "': " + reason);
  }

  std::vector<std::string> expand() const {
    glob_t matches{};
    // Unsorted, because glob sorts by the user's locale.
    const int result = ::glob(pattern_.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &matches);
    std::vector<std::string> paths(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    if (result == GLOB_NOMATCH) {
      fail(pattern_.find_first_of("*?[") == std::string::npos ? "there is no such file"
                                                              : "the pattern matches no file");
    }
    if (result != 0) fail("a folder cannot be read");
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  struct stat status_of(const std::string& path) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return status;
    fail(path + ": " + (errno == ENOENT ? "is a link to nothing" : describe_errno("stat", errno)));
  }

  // A link to nothing, if such links are not errors.
  bool is_passed_over(const std::string& path) const {
    struct stat status {};
    if (!on_dangling_ || ::stat(path.c_str(), &status) == 0 || errno != ENOENT) return false;
    on_dangling_(path);
    return true;
  }

  void add_path(const std::string& path) {
    const struct stat status = status_of(path);
    if (S_ISDIR(status.st_mode)) return add_directory(path);
    add_file(path, status);
  }

  void add_directory(const std::string& path) {
    std::vector<std::string> names;
    std::error_code failure;
    for (std::filesystem::directory_iterator i(path, failure), end; !failure && i != end; i.increment(failure)) {
      const std::string name = i->path().filename().string();
      if (!name.starts_with('.') && !name.starts_with('_')) names.push_back(name);
    }
    if (failure) fail(path + " cannot be read: " + failure.message());
    std::sort(names.begin(), names.end());
    bool any = false;
    bool any_folder = false;
    for (const std::string& name : names) {
      const std::string file = (std::filesystem::path(path) / name).string();
      if (is_passed_over(file)) continue;
      const struct stat status = status_of(file);
      any_folder = any_folder || S_ISDIR(status.st_mode);
      if (!S_ISREG(status.st_mode)) continue;
      add_file(file, status);
      any = true;
    }
    if (any) return;
    fail("the folder " + path + " holds no files" +
         (any_folder ? ", and folders in it are not read unless a pattern names them, like '" +
                           (std::filesystem::path(path) / "*").string() + "'"
                     : ""));
  }

  void add_file(const std::string& path, const struct stat& status) {
    if (!seen_.emplace(status.st_dev, status.st_ino).second) return;
    if (::access(path.c_str(), R_OK) != 0) fail(path + ": " + describe_errno("open", errno));
    const bool regular = S_ISREG(status.st_mode) && (status.st_size > 0 || !has_content_but_no_size(path));
    shards_.push_back({path, regular ? static_cast<std::uint64_t>(status.st_size) : 0, regular});
  }

  const std::function<void(const std::string& path)>& on_dangling_;
  std::string pattern_;  // the current one
  std::vector<Shard> shards_;
  std::set<std::pair<dev_t, ino_t>> seen_;  // one file may have several names
};

// In 128 bits, so that no product overflows.
std::uint64_t begin_of_part(std::uint64_t bytes, std::uint64_t index, std::uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{bytes} * index / count);
}

}  // namespace

std::vector<Shard> find_shards(const std::vector<std::string>& patterns,
                               const std::function<void(const std::string& path)>& on_dangling) {
  ShardFinder finder(on_dangling);
  for (const std::string& pattern : patterns) finder.add_pattern(pattern);
  return finder.take();
}

std::string find_in_both(const std::vector<Shard>& a, const std::vector<Shard>& b) {
  std::set<std::pair<dev_t, ino_t>> in_a;
  struct stat status {};
  for (const Shard& shard : a) {
    if (has_status(shard.path, status)) in_a.emplace(status.st_dev, status.st_ino);
  }
  for (const Shard& shard : b) {
    if (has_status(shard.path, status) && in_a.contains({status.st_dev, status.st_ino})) return shard.path;
  }
  return "";
}

bool is_one_file(const Shard& a, const Shard& b) {
  struct stat of_a {};
  struct stat of_b {};
  if (a.path == b.path) return true;
  if (!has_status(a.path, of_a) || !has_status(b.path, of_b)) return false;
  return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

ByteRange range_of(const Shard& shard) {
  ByteRange range{begin_of_part(shard.bytes, shard.part.index, shard.part.count)};
  const std::uint32_t next = shard.part.index + 1;
  if (next < shard.part.count) range.end = begin_of_part(shard.bytes, next, shard.part.count);
  return range;
}

std::uint64_t own_bytes(const Shard& shard) {
  const ByteRange range = range_of(shard);
  return std::min(range.end, shard.bytes) - range.begin;
}

bool can_be_split(const Shard& file) {
  if (!file.regular) return false;
  FileSource source(file.path, nullptr);
  std::array<char, kCompressionMagicBytes> beginning{};
  return compression_of({beginning.data(), source.read(beginning)}) == Compression::kNone;
}

std::vector<Shard> split(const Shard& file, std::uint32_t parts) {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(file.bytes, 1, parts));
  std::vector<Shard> shards;
  for (std::uint32_t index = 0; index < count; ++index) {
    shards.push_back(file);
    shards.back().part = {index, count};
  }
  return shards;
}

std::uint64_t head_checksum(const Shard& shard) {
  if (!shard.regular) return 0;
  std::vector<char> head(std::size_t{1} << 16);
  std::optional<std::uint64_t> size;  // none for an empty file: at size 0, FileSource would not try to read
  if (shard.bytes > 0) size = shard.bytes;
  FileSource file(shard.path, nullptr, {}, size);
  return XXH3_64bits(head.data(), read_fully(file, head));
}

void require_unchanged(const Shard& shard, std::uint64_t head) {
  if (!shard.regular || shard.bytes == 0) return;
  const auto fail = [&](const std::string& change) {
    throw Error(Fault::kBadData, shard.path + ": has changed since the job started, it " + change);
  };
  struct stat status {};
  if (has_status(shard.path, status) && static_cast<std::uint64_t>(status.st_size) < shard.bytes) {
    fail("has " + std::to_string(status.st_size) + " bytes, but had " + std::to_string(shard.bytes));
  }
  if (head_checksum(shard) != head) fail("begins with other bytes");
}

std::vector<std::vector<std::uint32_t>> assign_shards(const std::vector<Shard>& shards,
                                                      const std::vector<bool>& readers) {
  std::vector<std::uint32_t> largest_first(shards.size());
  std::iota(largest_first.begin(), largest_first.end(), 0U);
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return own_bytes(shards[a]) > own_bytes(shards[b]); });

  using Load = std::tuple<std::uint64_t, std::size_t, std::size_t>;  // bytes and shards so far, rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  std::vector<std::vector<std::uint32_t>> assigned(readers.size());
  for (std::size_t rank = 0; rank < readers.size(); ++rank) {
    if (readers[rank]) least.emplace(0, 0, rank);
  }
  for (const std::uint32_t shard : largest_first) {
    const auto [bytes, count, rank] = least.top();
    least.pop();
    assigned[rank].push_back(shard);
    least.emplace(bytes + own_bytes(shards[shard]), count + 1, rank);
  }
  for (auto& mine : assigned) std::sort(mine.begin(), mine.end());
  return assigned;
}

std::vector<std::vector<std::uint32_t>> assign_shards(const std::vector<Shard>& shards, int ranks) {
  return assign_shards(shards, std::vector<bool>(narrow<std::size_t>(ranks, "the number of ranks"), true));
}

}  // namespace cpt
