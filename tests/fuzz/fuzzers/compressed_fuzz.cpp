// The gzip and zstd sources: whatever a file holds, they end, and how much of it can be read before damage does not
// depend on how it is asked for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/format/parse_error.h"
#include "data/in_memory.h"
#include "data/source/byte_source.h"
#include "data/source/compression.h"

namespace {

// A few bytes may stand for gigabytes.
constexpr std::size_t kMostContent = std::size_t{1} << 20;

std::string content_of(std::string_view file, std::size_t piece) {
  std::string content;
  try {
    const std::unique_ptr<cpt::ByteSource> source =
        cpt::decompress(cpt::compression_of(file), std::make_unique<cpt::InMemory>(file));
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
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (cpt::compression_of(file) == cpt::Compression::kNone) return 0;
  const std::string content = content_of(file, 4096);
  if (content != content_of(file, 7)) std::abort();
  return 0;
}
