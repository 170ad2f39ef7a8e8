// The gzip and zstd sources: whatever a file holds, they end, and how much of it can be read before damage does not
// depend on how it is asked for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "data/format/parse_error.h"
#include "data/in_memory.h"
#include "data/source/byte_source.h"
#include "data/source/gzip_source.h"
#include "data/source/zstd_source.h"

namespace {

// A few bytes may stand for gigabytes.
constexpr std::size_t kMostContent = std::size_t{1} << 20;

std::string content_of(std::span<const char> file, std::size_t piece) {
  std::string content;
  try {
    const bool zstd = cpt::is_zstd(file);
    cpt::InputBuffer input(std::make_unique<cpt::InMemory>(file));
    const std::unique_ptr<cpt::ByteSource> source =
        zstd ? std::unique_ptr<cpt::ByteSource>(std::make_unique<cpt::ZstdSource>(std::move(input)))
             : std::make_unique<cpt::GzipSource>(std::move(input));
    std::string space(piece, '\0');
    while (content.size() < kMostContent) {
      const std::size_t count = source->read(std::span(space));
      if (count == 0) break;
      if (count > piece) std::abort();
      content.append(space, 0, count);
    }
  } catch (const cpt::CorruptInput&) {
  }
  content.resize(std::min(content.size(), kMostContent));
  return content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> file(reinterpret_cast<const char*>(data), size);
  if (!cpt::is_zstd(file) && !cpt::is_gzip(file)) return 0;
  const std::string content = content_of(file, 4096);
  if (content != content_of(file, 7)) std::abort();
  return 0;
}
