// Memory that is kept and never zeroed.
#include "comm/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>

#include "comm/message.h"

namespace cpt::testing {
namespace {

Buffer filled(std::size_t size) {
  Buffer buffer;
  const Contents contents = message(1, 2, size);
  buffer.append(contents.data(), contents.size());
  return buffer;
}

Contents copy_of(const Buffer& buffer) { return {buffer.bytes().begin(), buffer.bytes().end()}; }

TEST(Buffer, StartsEmptyAndWithoutMemoryAndAppendsNothing) {
  Buffer buffer;
  buffer.append(nullptr, 0);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(buffer.bytes().empty());
  buffer = filled(3);
  buffer.append(nullptr, 0);
  EXPECT_EQ(copy_of(buffer), message(1, 2, 3));
}

TEST(Buffer, KeepsItsMemoryUntouchedWhenItShrinks) {
  Buffer buffer = filled(1000);
  const std::byte* memory = buffer.data();
  const std::size_t capacity = buffer.capacity();
  buffer.resize(10);
  EXPECT_EQ(buffer.size(), 10U);
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  buffer.resize(1000);
  EXPECT_EQ(buffer.data(), memory);
  EXPECT_EQ(buffer.capacity(), capacity);
  EXPECT_EQ(copy_of(buffer), message(1, 2, 1000));
}

TEST(Buffer, ResizesToAnyLengthAndIsAligned) {
  Buffer buffer;
  for (std::size_t size : {0U, 1U, 63U, 64U, 65U, 5000U, 7U, 1U << 20, 0U}) {
    buffer.resize(size);
    ASSERT_EQ(buffer.size(), size);
    EXPECT_GE(buffer.capacity(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::kAlignment, 0U) << size;
    const Buffer appended = filled(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(appended.data()) % Buffer::kAlignment, 0U) << size;
    std::ranges::fill(buffer.bytes(), std::byte{7});
    EXPECT_EQ(copy_of(buffer), Contents(size, std::byte{7}));
  }
}

TEST(Buffer, AppendsAndGrowsSeldom) {
  Buffer buffer;
  std::set<std::size_t> capacities;
  const Contents contents = message(3, 4, 100'000);
  for (const std::byte& byte : contents) {
    buffer.append(&byte, 1);
    capacities.insert(buffer.capacity());
  }
  EXPECT_EQ(copy_of(buffer), contents);
  EXPECT_LE(capacities.size(), 20U);  // 64 * 1.5^19 > 100'000
}

TEST(Buffer, ExtendsBehindWhatIsThere) {
  Buffer buffer = filled(100);
  const Bytes added = buffer.extend(1000);
  ASSERT_EQ(added.size(), 1000U);
  EXPECT_EQ(added.data(), buffer.data() + 100);
  std::ranges::fill(added, std::byte{9});
  Contents expected = message(1, 2, 100);
  expected.resize(1100, std::byte{9});
  EXPECT_EQ(copy_of(buffer), expected);
}

TEST(Buffer, MovesItsMemory) {
  static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
  Buffer first = filled(500);
  const std::byte* memory = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  Buffer third = filled(20);
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(copy_of(third), message(1, 2, 500));
  for (Buffer* left : {&first, &second}) {
    EXPECT_TRUE(left->empty());
    EXPECT_EQ(left->capacity(), 0U);
    left->append("abc", 3);
    EXPECT_EQ(left->size(), 3U);
  }
}

TEST(Buffer, SwapsItsMemory) {
  Buffer a = filled(500), b = filled(20);
  const std::byte *memory_of_a = a.data(), *memory_of_b = b.data();
  swap(a, b);
  EXPECT_EQ(a.data(), memory_of_b);
  EXPECT_EQ(b.data(), memory_of_a);
  EXPECT_EQ(copy_of(a), message(1, 2, 20));
  EXPECT_EQ(copy_of(b), message(1, 2, 500));
}

}  // namespace
}  // namespace cpt::testing
