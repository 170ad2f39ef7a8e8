// Pages become resident without being written by anybody else, and what other threads write meanwhile stays.
#include "train/host/pages_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "core/zeroed_memory.h"

namespace cpt {
namespace {

constexpr std::size_t kWords = (std::size_t{32} << 20) / sizeof(std::uint64_t);

std::span<std::byte> bytes_of(const ZeroedArray<std::uint64_t>& words) {
  return std::as_writable_bytes(std::span(words.get(), kWords));
}

bool is_resident(std::span<std::byte> memory) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((memory.size() + page - 1) / page);
  EXPECT_EQ(mincore(memory.data(), memory.size(), pages.data()), 0);
  return std::ranges::all_of(pages, [](unsigned char resident) { return (resident & 1) != 0; });
}

TEST(PagesAhead, MakeAllPagesResident) {
  const auto first = make_zeroed<std::uint64_t>(kWords, "a test");
  const auto second = make_zeroed<std::uint64_t>(kWords, "a test");
  ASSERT_FALSE(is_resident(bytes_of(second)));
  const PagesAhead pages_ahead({bytes_of(first), bytes_of(second)});
  while (!is_resident(bytes_of(first)) || !is_resident(bytes_of(second))) std::this_thread::yield();
  EXPECT_TRUE(std::all_of(second.get(), second.get() + kWords, [](std::uint64_t word) { return word == 0; }));
}

TEST(PagesAhead, KeepWhatIsWrittenMeanwhile) {
  const auto words = make_zeroed<std::uint64_t>(kWords, "a test");
  const PagesAhead pages_ahead({bytes_of(words)});
  for (std::size_t i = kWords; i > 0; --i) words[i - 1] = i;
  while (!is_resident(bytes_of(words))) std::this_thread::yield();
  for (std::size_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], i + 1);
}

TEST(PagesAhead, EndBeforeAllIsProvided) {
  constexpr std::size_t kMany = std::size_t{16} << 30;
  const auto bytes = make_zeroed<std::byte>(kMany, "a test");
  { const PagesAhead pages_ahead({std::span(bytes.get(), kMany)}); }
  EXPECT_FALSE(is_resident(std::span(bytes.get(), kMany).last(kHugePage)));
}

}  // namespace
}  // namespace cpt
