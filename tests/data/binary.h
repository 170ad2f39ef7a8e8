// Binary shards for tests.
#pragma once

#include <string>
#include <vector>

#include "data/binary/binary_writer.h"
#include "data/reading.h"

namespace cpt {

inline BinaryWriter::Sink appender_to(std::string& content) {
  return [&content](std::span<const std::byte> bytes) {
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
}

// What the shards hold, in one binary shard, in the order in which a stream of these options reads them. `text_bytes`:
// as of BinaryWriter::finish().
inline std::string binary_of(const std::vector<std::string>& paths, const ReadOptions& options = {},
                             BlockLimits limits = {}, std::uint64_t text_bytes = 0) {
  ExampleStream stream = stream_of(paths, options);
  std::string content;
  BinaryWriter writer(options, appender_to(content), limits);
  Batch batch = stream.make_batch();
  for (; stream.read(batch); batch.clear()) {
    for (std::size_t i = 0; i < batch.size(); ++i) writer.add(batch[i], i == 0);
  }
  writer.finish(text_bytes);
  return content;
}

}  // namespace cpt
