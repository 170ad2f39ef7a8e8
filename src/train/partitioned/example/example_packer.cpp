#include "train/partitioned/example/example_packer.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cpt {

namespace {

constexpr std::size_t bitmap_bytes(std::size_t bits) { return (bits + 7) / 8; }

// Without a branch on what the values are: it would be mispredicted for every other feature.
std::byte* put_values(std::byte* out, std::span<const float> values) {
  std::byte* bitmap = out;
  out += bitmap_bytes(values.size());
  for (std::size_t first = 0; first < values.size(); first += 8) {
    unsigned bits = 0;
    for (std::size_t f = first; f < std::min(first + 8, values.size()); ++f) {
      const unsigned differs = values[f] != 1 ? 1 : 0;
      bits |= differs << (f - first);
      std::memcpy(out, &values[f], sizeof(float));
      out += differs * sizeof(float);
    }
    *bitmap++ = static_cast<std::byte>(bits);
  }
  return out;
}

void take_values(ByteReader& in, std::span<float> values) {
  const std::byte* bitmap = in.take(bitmap_bytes(values.size()));
  for (std::size_t f = 0; f < values.size(); ++f) {
    const bool differs = (static_cast<unsigned>(bitmap[f / 8]) >> (f % 8) & 1) != 0;
    values[f] = differs ? in.value<float>() : 1.0F;
  }
}

void skip_values(ByteReader& in, std::size_t count) {
  const std::byte* bitmap = in.take(bitmap_bytes(count));
  std::size_t follow = 0;
  for (std::size_t byte = 0; byte < bitmap_bytes(count); ++byte) {
    follow += static_cast<std::size_t>(std::popcount(static_cast<unsigned char>(bitmap[byte])));
  }
  in.take(follow * sizeof(float));
}

}  // namespace

void UnpackedExamples::clear() {
  records.clear();
  offsets.clear();
}

void pack_example(const ExampleView& x, std::span<const std::uint8_t> places, Buffer& message) {
  const auto features = x.features.subspan(1);  // without the constant one
  const auto values = x.values.subspan(1);
  const Bytes room = message.extend(3 * kMostVarintBytes + features.size_bytes() + values.size_bytes() +
                                    bitmap_bytes(values.size()) + 2 * sizeof(float) + places.size());
  const bool plain = std::all_of(values.begin(), values.end(), [](float value) { return value == 1; });
  const bool weighted = x.importance != 1;
  std::byte* out = room.data();
  out = put_varint(out, 2 * features.size() + (plain ? 0 : 1));
  out = put_bytes(out, features.data(), features.size_bytes());
  if (!plain) out = put_values(out, values);
  *out++ = std::byte{weighted};
  if (weighted) out = put_value(out, x.importance);
  out = put_varint(out, places.size());
  out = put_bytes(out, places.data(), places.size());
  message.shrink(static_cast<std::size_t>(room.data() + room.size() - out));
}

// Straight into the record: examples are most of what ranks send, and every copy of them counts.
void unpack_example(ByteReader& in, std::string_view name, UnpackedExamples& examples) {
  const std::uint64_t head = in.varint();
  const std::size_t count = head / 2;
  const bool plain = head % 2 == 0;
  const std::byte* hashes = in.take(count * sizeof(FeatureHash));
  const ByteReader at_values = in;
  if (!plain) skip_values(in, count);
  const float importance = in.value<std::uint8_t>() != 0 ? in.value<float>() : 1.0F;
  const std::size_t places = in.varint();
  const std::byte* places_at = in.take(places);

  examples.offsets.push_back(examples.records.size());
  const RecordSpace space = ExampleRecord::extend({.features = count + 1,
                                                   .with_values = !plain,
                                                   .places = places,
                                                   .label_bytes = name.size(),
                                                   .importance = importance},
                                                  examples.records);
  space.features[0] = kConstantFeature;
  if (count > 0) std::memcpy(space.features + 1, hashes, count * sizeof(FeatureHash));
  if (space.values != nullptr) std::fill_n(space.values, count + 1, 1.0F);
  if (!plain) {
    ByteReader values = at_values;
    take_values(values, {space.values + 1, count});
  }
  put_bytes(space.places, places_at, places);
  put_bytes(space.label, name.data(), name.size());
}

}  // namespace cpt
