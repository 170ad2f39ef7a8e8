#include "model/tree/labels.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cpt/hashing.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

LabelId add(LabelDictionary& labels, const std::string& name) { return labels.add(name, hash_label(name)); }
LabelId find(const LabelDictionary& labels, const std::string& name) { return labels.find(name, hash_label(name)); }

TEST(Labels, AnEmptyDictionaryFindsNothing) {
  const LabelDictionary labels;
  EXPECT_EQ(labels.size(), 0U);
  EXPECT_EQ(find(labels, "a"), kNoLabel);
  EXPECT_EQ(find(labels, ""), kNoLabel);
}

TEST(Labels, IdsAreGivenInOrderAndNamesComeBack) {
  LabelDictionary labels;
  constexpr LabelId kMany = 100'000;
  for (LabelId id = 0; id < kMany; ++id) ASSERT_EQ(add(labels, label_number(id)), id);
  EXPECT_EQ(labels.size(), kMany);
  for (LabelId id = 0; id < kMany; ++id) {
    ASSERT_EQ(find(labels, label_number(id)), id);
    ASSERT_EQ(labels.name(id), label_number(id));
  }
  EXPECT_EQ(find(labels, label_number(kMany)), kNoLabel);
}

TEST(Labels, TheLikelyOneIsFoundAndAnUnknownNameHasNone) {
  LabelDictionary labels;
  EXPECT_EQ(labels.likely(hash_label("a")), kNoLabel);
  for (LabelId id = 0; id < 10'000; ++id) add(labels, label_number(id));
  for (LabelId id = 0; id < 10'000; ++id) ASSERT_EQ(labels.likely(hash_label(label_number(id))), id);
  for (LabelId id = 10'000; id < 20'000; ++id) ASSERT_EQ(labels.likely(hash_label(label_number(id))), kNoLabel);
}

TEST(Labels, AnyBytesAreAName) {
  LabelDictionary labels;
  const std::string names[] = {"",  std::string("\0", 1), std::string("a\0b", 3),
                               "a", "\xff\xfe",           std::string(100'000, 'x')};
  for (const std::string& name : names) add(labels, name);
  for (LabelId id = 0; id < std::size(names); ++id) {
    EXPECT_EQ(find(labels, names[id]), id);
    EXPECT_EQ(labels.name(id), names[id]);
  }
}

TEST(Labels, NamesOfOneHashAreTold) {
  LabelDictionary labels;
  constexpr std::uint64_t kSameHash = 1023;  // at the end of the first slots, so that probing wraps around
  constexpr LabelId kMany = 2000;
  for (LabelId id = 0; id < kMany; ++id) {
    ASSERT_EQ(labels.find(label_number(id), kSameHash), kNoLabel);
    ASSERT_EQ(labels.add(label_number(id), kSameHash), id);
  }
  for (LabelId id = 0; id < kMany; ++id) ASSERT_EQ(labels.find(label_number(id), kSameHash), id);
}

TEST(Labels, TheDigestTellsNamesAndTheirOrder) {
  LabelDictionary ab;
  LabelDictionary ba;
  std::set<std::uint64_t> digests{ab.digest()};
  for (const char* name : {"a", "b"}) {
    add(ab, name);
    EXPECT_TRUE(digests.insert(ab.digest()).second);
  }
  for (const char* name : {"b", "a"}) {
    add(ba, name);
    EXPECT_TRUE(digests.insert(ba.digest()).second);
  }
  LabelDictionary again;
  for (const char* name : {"a", "b"}) add(again, name);
  EXPECT_EQ(again.digest(), ab.digest());
}

}  // namespace
}  // namespace cpt
