#include "train/example_packer.h"

#include <cstring>

#include "cpt/error.h"

namespace cpt {

namespace {

enum Token : unsigned { kSame = 0, kOtherValue = 1, kNewOne = 2, kNew = 3 };
constexpr int kTokenShift = 14;
static_assert(FeatureTable::kBits <= kTokenShift);

constexpr std::size_t kMostVarintBytes = 10;
constexpr std::size_t kMostFeatureBytes = sizeof(std::uint16_t) + sizeof(FeatureHash) + sizeof(float);

std::byte* put_varint(std::byte* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::byte>(value | 0x80);
  *out++ = static_cast<std::byte>(value);
  return out;
}

template <class T>
std::byte* put(std::byte* out, const T& value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

std::byte* put_bytes(std::byte* out, const void* bytes, std::size_t count) {
  if (count > 0) std::memcpy(out, bytes, count);
  return out + count;
}

}  // namespace

// Reads what put_* wrote, and never past the end.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(*take(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  template <class T>
  T value() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

  const std::byte* take(std::size_t count) {
    if (count > static_cast<std::size_t>(end_ - at_)) refuse();
    const std::byte* taken = at_;
    at_ += count;
    return taken;
  }

  [[noreturn]] static void refuse() { throw Error(Fault::kFailed, "a message of examples makes no sense"); }

 private:
  const std::byte* at_;
  const std::byte* end_;
};

void ExamplePacker::pack(const Arrival& head, const ExampleView& x, std::span<const std::uint8_t> places,
                         std::string_view name, Buffer& message) {
  const std::size_t most =
      9 * kMostVarintBytes + sizeof(float) + x.features.size() * kMostFeatureBytes + places.size() + name.size();
  if (scratch_.size() < most) scratch_.resize(2 * most);
  std::byte* out = scratch_.data();
  out = put_varint(out, position_in_round(head.order) - position_in_round(last_.order));
  out = put_varint(out, shard_of(head.order));
  out = put_varint(out, index_in_line(head.order));
  out = put_varint(out, head.slot - last_.slot);
  out = put_varint(out, head.label == kNoLabel ? 0 : std::uint64_t{head.label} + 1);
  const bool weighted = x.importance != 1;
  *out++ = std::byte{weighted};
  if (weighted) out = put(out, x.importance);
  out = put_varint(out, x.features.size() - 1);
  out = pack_features(x, out);
  out = put_varint(out, places.size());
  out = put_bytes(out, places.data(), places.size());
  if (head.label == kNoLabel) {
    out = put_varint(out, name.size());
    out = put_bytes(out, name.data(), name.size());
  }
  message.append(scratch_.data(), static_cast<std::size_t>(out - scratch_.data()));
  last_ = head;
}

std::byte* ExamplePacker::pack_features(const ExampleView& x, std::byte* out) {
  for (std::size_t f = 1; f < x.features.size(); ++f) {
    const FeatureHash feature = x.features[f];
    const float value = x.values[f];
    const std::uint16_t place = FeatureTable::place_of(feature);
    FeatureTable::Entry& entry = table_[place];
    const bool known = entry.feature == feature;
    const unsigned token = known ? (entry.value == value ? kSame : kOtherValue) : (value == 1 ? kNewOne : kNew);
    out = put(out, static_cast<std::uint16_t>(token << kTokenShift | place));
    if (!known) out = put(out, feature);
    if (token == kOtherValue || token == kNew) out = put(out, value);
    entry = {feature, value};
  }
  return out;
}

void ExampleUnpacker::unpack(ConstBytes message, std::uint32_t first_slot, Buffer& records,
                             std::vector<std::size_t>& offsets, std::vector<Arrival>& arrivals) {
  ByteReader in(message);
  std::uint64_t position = 0;
  std::uint32_t slot = first_slot;
  while (!in.at_end()) {
    Arrival arrival;
    position += in.varint();
    const std::uint64_t shard = in.varint();
    arrival.order = make_order(position, shard, in.varint());
    arrival.slot = slot += static_cast<std::uint32_t>(in.varint());
    const std::uint64_t label = in.varint();
    if (label > 0) arrival.label = static_cast<LabelId>(label - 1);
    ExampleView x;
    if (in.value<std::uint8_t>() != 0) x.importance = in.value<float>();
    unpack_features(in, in.varint());
    x.features = features_;
    x.values = values_;
    const std::size_t count = in.varint();
    const std::span<const std::uint8_t> places(reinterpret_cast<const std::uint8_t*>(in.take(count)), count);
    std::string_view name;
    if (label == 0) {
      const std::size_t length = in.varint();
      name = {reinterpret_cast<const char*>(in.take(length)), length};
    }
    arrival.lead_by(places);
    offsets.push_back(records.size());
    ExampleRecord::append(x, places, name, records);
    arrivals.push_back(arrival);
  }
}

void ExampleUnpacker::unpack_features(ByteReader& in, std::size_t count) {
  features_.assign(1, kConstantFeature);
  values_.assign(1, 1.0F);
  for (std::size_t f = 0; f < count; ++f) {
    const auto word = in.value<std::uint16_t>();
    const unsigned token = word >> kTokenShift;
    const auto place = static_cast<std::uint16_t>(word & ((1U << kTokenShift) - 1));
    if (place >> FeatureTable::kBits != 0) ByteReader::refuse();
    FeatureTable::Entry& entry = table_[place];
    if (token == kNewOne || token == kNew) entry = {in.value<FeatureHash>(), 1.0F};
    if (token == kOtherValue || token == kNew) entry.value = in.value<float>();
    features_.push_back(entry.feature);
    values_.push_back(entry.value);
  }
}

}  // namespace cpt
