// The manifest reader, behind its checksum: that is put right, or hardly an input would get any further.
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpt/error.h"
#include "store/blob/manifest.h"

namespace {

// The checksum stands at byte 8 and is of all from byte 16 on (store/blob/format.md).
std::vector<std::byte> with_checksum(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> file(size);
  if (size > 0) std::memcpy(file.data(), data, size);
  if (size < 16) return file;
  const std::uint64_t checksum = XXH3_64bits(file.data() + 16, size - 16);
  std::memcpy(file.data() + 8, &checksum, sizeof checksum);
  return file;
}

template <class Decode>
void refused_or(Decode decode) {
  try {
    decode();
  } catch (const cpt::Error& error) {
    if (error.fault() != cpt::Fault::kBadData) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = with_checksum(data, size);
  refused_or([&] {
    const cpt::Manifest manifest = cpt::decode_manifest(file, "MANIFEST");
    // What can be read is written as the same bytes: nothing in a manifest is without meaning.
    if (cpt::encode_manifest(manifest) != file) std::abort();
  });
  refused_or([&] { cpt::decode_blob(file); });
  return 0;
}
