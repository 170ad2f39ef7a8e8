// Blob sets come back as they were written, and appear whole or not at all (C1).
#include "store/blob/blob_set.h"

#include <gmock/gmock.h>

#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

struct BlobSetTest : ::testing::Test {
  TemporaryDirectory root;
  std::filesystem::path directory = root / "set";
};

TEST_F(BlobSetTest, NoBlobsAndBlobsOfAnySizeComeBack) {
  write_set(directory, {});
  EXPECT_EQ(read_set(directory), Blobs{});
  Blobs blobs;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, kSegment - 1, kSegment, kSegment + 1,
                                 2 * kSegment, 2 * kSegment + 12345}) {
    blobs.emplace_back("noise-" + std::to_string(size), noise(size));
    blobs.emplace_back("half-zero-" + std::to_string(size), half_zero(size));
    blobs.emplace_back("zero-" + std::to_string(size), ByteVector(size));
  }
  write_set(directory, blobs);
  EXPECT_TRUE(read_set(directory) == blobs);
}

TEST_F(BlobSetTest, CopiesHaveOneDigestAndOthersAnother) {
  const auto digest_of = [&](const Blobs& blobs, const std::string& kind = kKind) {
    write_set(directory, blobs, kind);
    return BlobSetReader(directory, kind).digest();
  };
  const ByteVector some = half_zero(3000);
  ByteVector other = some;
  other.at(2999) ^= std::byte{1};
  const std::uint64_t digest = digest_of({{"a", some}, {"b", some}});
  std::filesystem::copy(directory, root / "copy");
  EXPECT_EQ(BlobSetReader(root / "copy", kKind).digest(), digest);
  EXPECT_NE(digest_of({{"a", some}, {"b", other}}), digest);
  EXPECT_NE(digest_of({{"b", some}, {"a", some}}), digest);
  EXPECT_NE(digest_of({{"a", some}}), digest);
  EXPECT_NE(digest_of({{"a", some}, {"b", some}}, "another kind"), digest);
}

TEST_F(BlobSetTest, SizesOfAppendsAndReadsDoNotMatter) {
  const ByteVector bytes = half_zero(2 * kSegment + 777);
  for (const std::size_t step : {std::size_t{4099}, std::size_t{65536}, kSegment - 1, kSegment, kSegment + 1}) {
    SCOPED_TRACE(step);
    BlobSetWriter writer(directory, kKind);
    BlobWriter& blob = writer.add("blob");
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      blob.append(std::span(bytes).subspan(i, std::min(step, bytes.size() - i)));
    }
    writer.commit();

    BlobReader reader = BlobSetReader(directory, kKind).open("blob");
    EXPECT_EQ(reader.raw_bytes(), bytes.size());
    ByteVector read, piece(step);
    while (const std::size_t got = reader.read(piece)) {
      read.insert(read.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    EXPECT_TRUE(read == bytes);
    EXPECT_EQ(reader.read(piece), 0U);
  }
}

TEST_F(BlobSetTest, NamesAreListedInTheOrderOfWriting) {
  write_set(directory, {{"tree", {}}, {"labels", {}}, {"a.weights-0", {}}});
  const BlobSetReader reader(directory, kKind);
  EXPECT_THAT(reader.names(), ElementsAre("tree", "labels", "a.weights-0"));
  EXPECT_TRUE(reader.has("labels"));
  EXPECT_FALSE(reader.has("label"));
  EXPECT_THAT(error_of([&] { reader.open("label"); }), AllOf(StartsWith("65: "), HasSubstr("has no 'label'")));
}

TEST_F(BlobSetTest, ABlobLongerOrShorterThanItsReaderExpectsIsBadData) {
  write_set(directory, {{"blob", noise(100)}});
  const BlobSetReader reader(directory, kKind);
  EXPECT_THAT(error_of([&] { reader.read_all("blob", 99); }),
              AllOf(StartsWith("65: "), HasSubstr("100 bytes, at most 99")));
  EXPECT_EQ(reader.read_all("blob", 100).size(), 100U);
  ByteVector out(101);
  EXPECT_THAT(error_of([&] { reader.open("blob").read_exactly(out); }),
              AllOf(StartsWith("65: "), HasSubstr("ends 1 bytes before")));
}

TEST_F(BlobSetTest, AMissingSetIsNoInput) {
  EXPECT_THAT(error_of([&] { BlobSetReader(directory, "cpt model"); }),
              AllOf(StartsWith("66: "), HasSubstr("not a finished cpt model")));
  std::filesystem::create_directory(directory);
  EXPECT_THAT(error_of([&] { BlobSetReader(directory, "cpt model"); }),
              AllOf(StartsWith("66: "), HasSubstr("not a finished cpt model")));
}

TEST_F(BlobSetTest, AnotherKindIsRefused) {
  write_set(directory, {}, "cpt checkpoint");
  EXPECT_THAT(error_of([&] { BlobSetReader(directory, "cpt model"); }),
              AllOf(StartsWith("65: "), HasSubstr("is a cpt checkpoint, not a cpt model")));
}

TEST_F(BlobSetTest, AKilledWriterLeavesNoSet) {
  const int status = in_killed_process([&] {
    BlobSetWriter writer(directory, kKind);
    writer.add("blob").append(noise(2 * kSegment));
    writer.add("next").finish();
    ::_exit(7);
  });
  EXPECT_EQ(status, 7);
  EXPECT_FALSE(std::filesystem::exists(directory));
  write_set(directory, {{"blob", noise(5)}});
  EXPECT_EQ(read_set(directory), (Blobs{{"blob", noise(5)}}));
}

TEST_F(BlobSetTest, AnExistingSetIsReplacedByCommitAndNotBefore) {
  const Blobs old_blobs{{"old", noise(10)}};
  const Blobs new_blobs{{"new", noise(20)}};
  write_set(directory, old_blobs);
  {
    BlobSetWriter writer(directory, kKind);
    writer.add("new").append(new_blobs[0].second);
    EXPECT_EQ(read_set(directory), old_blobs);
    writer.commit();
  }
  EXPECT_EQ(read_set(directory), new_blobs);
  EXPECT_THAT(names_in(root.path()), ElementsAre("set"));
  EXPECT_THAT(names_in(directory), UnorderedElementsAre("MANIFEST", "new"));
}

TEST_F(BlobSetTest, AReaderOfAReplacedSetKeepsTheBlobItOpened) {
  write_set(directory, {{"blob", noise(100, 1)}});
  BlobReader reader = BlobSetReader(directory, kKind).open("blob");
  write_set(directory, {{"blob", noise(100, 2)}});
  ByteVector read(100);
  reader.read_exactly(read);
  EXPECT_EQ(read, noise(100, 1));
}

TEST_F(BlobSetTest, WhatIsNotABlobSetIsNeverReplaced) {
  std::filesystem::create_directory(directory);
  BlobSetWriter(directory, kKind).commit();  // an empty directory holds nothing to lose
  std::filesystem::remove(directory / "MANIFEST");
  write_plain(directory / "precious", noise(3));
  EXPECT_THAT(error_of([&] { BlobSetWriter(directory, kKind); }),
              AllOf(StartsWith("73: "), HasSubstr("is not a test set")));
  EXPECT_THAT(error_of([&] { BlobSetWriter(directory / "precious", kKind); }), StartsWith("73: "));
  EXPECT_EQ(read_file(directory / "precious"), noise(3));
}

TEST_F(BlobSetTest, ASlashAtTheEndChangesNothing) {
  write_set(root.path() / "set/", {{"blob", noise(3)}});
  write_set(root.path() / "set/", {{"blob", noise(4)}});
  EXPECT_EQ(read_set(root.path() / "set/"), (Blobs{{"blob", noise(4)}}));
  EXPECT_THAT(names_in(root.path()), ElementsAre("set"));
}

TEST_F(BlobSetTest, AMissingDirectoryAboveIsNotMade) {
  EXPECT_THAT(
      error_of([&] {
        write_set(root / "a/set", {{"blob", noise(3)}});
      }),
      AllOf(StartsWith("73: " + (root / "a/set").string()), HasSubstr("mkdir failed: No such file or directory")));
  EXPECT_THAT(names_in(root.path()), ElementsAre());
}

TEST_F(BlobSetTest, NamesThatAreNoFileNamesAreRefused) {
  BlobSetWriter writer(directory, kKind);
  writer.add("twice");
  for (const std::string& name :
       {std::string(), std::string("MANIFEST"), std::string("a/b"), std::string(".."), std::string(".hidden"),
        std::string("a b"), std::string("a\0b", 3), std::string(129, 'a'), std::string("twice")}) {
    EXPECT_THAT(error_of([&] { writer.add(name); }), StartsWith("1: ")) << name;
  }
  EXPECT_EQ(error_of([&] { writer.add(std::string(128, 'a')); }), "no error");
}

}  // namespace
}  // namespace cpt
