#include "train/partitioned/example/example_record.h"

#include <array>

namespace cpt {

namespace {

template <std::size_t kCount>
constexpr std::array<float, kCount> make_ones() {
  std::array<float, kCount> ones{};
  for (float& one : ones) one = 1;
  return ones;
}

}  // namespace

constinit const std::array<float, ExampleRecord::kMostOnes> ExampleRecord::kOnes = make_ones<kMostOnes>();

RecordSpace ExampleRecord::extend(const Shape& shape, Buffer& out) {
  return begin(shape, out.extend(bytes(shape)).data());
}

std::string_view ExampleRecord::label() const {
  const std::byte* after_values =
      at_ + sizeof(Head) + place_bytes(head()) + feature_bytes(head()) + value_bytes(head());
  return {reinterpret_cast<const char*>(after_values), head().label_bytes};
}

float ExampleRecord::importance() const { return head().importance; }

}  // namespace cpt
