#include "train/example_packer.h"

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
  std::memset(bitmap, 0, bitmap_bytes(values.size()));
  for (std::size_t f = 0; f < values.size(); ++f) {
    const unsigned differs = values[f] != 1 ? 1 : 0;
    bitmap[f / 8] |= static_cast<std::byte>(differs << (f % 8));
    std::memcpy(out, &values[f], sizeof(float));
    out += differs * sizeof(float);
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

}  // namespace

void UnpackedExamples::clear() {
  records.clear();
  offsets.clear();
}

std::byte* ExamplePacker::room(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(2 * bytes);
  return scratch_.data();
}

void ExamplePacker::pack(const ExampleView& x, std::span<const std::uint8_t> places, Buffer& message) {
  const auto features = x.features.subspan(1);  // without the constant one
  const auto values = x.values.subspan(1);
  std::byte* out = room(3 * kMostVarintBytes + features.size_bytes() + values.size_bytes() +
                        bitmap_bytes(values.size()) + 2 * sizeof(float) + places.size());
  const bool plain = std::all_of(values.begin(), values.end(), [](float value) { return value == 1; });
  const bool weighted = x.importance != 1;
  out = put_varint(out, 2 * features.size() + (plain ? 0 : 1));
  out = put_bytes(out, features.data(), features.size_bytes());
  if (!plain) out = put_values(out, values);
  *out++ = std::byte{weighted};
  if (weighted) out = put_value(out, x.importance);
  out = put_varint(out, places.size());
  out = put_bytes(out, places.data(), places.size());
  message.append(scratch_.data(), static_cast<std::size_t>(out - scratch_.data()));
}

void ExamplePacker::unpack(ByteReader& in, std::string_view name, UnpackedExamples& examples) {
  const std::uint64_t head = in.varint();
  const std::size_t count = head / 2;
  const std::byte* hashes = in.take(count * sizeof(FeatureHash));
  features_.resize(count + 1);
  features_[0] = kConstantFeature;
  if (count > 0) std::memcpy(&features_[1], hashes, count * sizeof(FeatureHash));
  values_.assign(count + 1, 1.0F);
  if (head % 2 == 1) take_values(in, std::span(values_).subspan(1));

  ExampleView x;
  x.features = features_;
  x.values = values_;
  if (in.value<std::uint8_t>() != 0) x.importance = in.value<float>();
  const std::size_t places = in.varint();
  const std::byte* at = in.take(places);
  examples.offsets.push_back(examples.records.size());
  ExampleRecord::append(x, {reinterpret_cast<const std::uint8_t*>(at), places}, name, examples.records);
}

}  // namespace cpt
