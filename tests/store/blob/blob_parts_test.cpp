// Sets that several processes write, blobs cut so that parts of them can be found, and verifying without decoding.
#include <gmock/gmock.h>

#include "store/blob/blob_set.h"
#include "store/file_calls.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BlobPartsTest : ::testing::Test {
  // A part as another process writes it; the description makes the way it would make.
  static Blob write_part(const std::filesystem::path& where, const std::string& name, const ByteVector& bytes) {
    BlobWriter part(where, name);
    part.append(bytes);
    return decode_blob(encode_blob(part.finish()));
  }

  // One blob of these pieces, with a cut after each.
  BlobReader reader_of(const std::vector<ByteVector>& pieces) {
    BlobSetWriter writer(directory, kKind);
    BlobWriter& blob = writer.add("blob");
    for (const ByteVector& piece : pieces) {
      blob.append(piece);
      blob.cut();
    }
    writer.commit();
    return BlobSetReader(directory, kKind).open("blob");
  }

  // Changes one byte of a file.
  void damage(const std::string& name, std::size_t at) const {
    ByteVector bytes = read_file(directory / name);
    bytes.at(at) ^= std::byte{1};
    write_plain(directory / name, bytes);
  }

  TemporaryDirectory root;
  std::filesystem::path directory = root / "set";
};

ByteVector joined(const std::vector<ByteVector>& pieces) {
  ByteVector all;
  for (const ByteVector& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

TEST_F(BlobPartsTest, PartsOfSeveralWritersAreOneSet) {
  Blobs blobs{{"tree", half_zero(1000)}};
  BlobSetWriter writer(directory, kKind);
  writer.add("tree").append(blobs[0].second);
  for (unsigned rank = 0; rank < 5; ++rank) {
    blobs.emplace_back("weights-" + std::to_string(rank), half_zero(rank * kSegment / 2 + rank, rank));
    writer.adopt(write_part(writer.directory_for_parts(), blobs.back().first, blobs.back().second));
  }
  blobs.emplace_back("more", noise(10));
  writer.add("more").append(blobs.back().second);
  writer.commit();
  EXPECT_TRUE(read_set(directory) == blobs);
  EXPECT_THAT(names_in(root.path()), ElementsAre("set"));
}

TEST_F(BlobPartsTest, APartOfAnotherProcessIsAdopted) {
  BlobSetWriter writer(directory, kKind);
  const auto description = root / "description";
  const int status = in_killed_process([&] {
    BlobWriter part(writer.directory_for_parts(), "part");
    part.append(noise(100));
    write_plain(description, encode_blob(part.finish()));
  });
  ASSERT_EQ(status, 0);
  writer.adopt(decode_blob(read_file(description)));
  writer.commit();
  EXPECT_EQ(read_set(directory), (Blobs{{"part", noise(100)}}));
}

TEST_F(BlobPartsTest, APartThatIsMissingOrOfAnotherLengthIsNotAdopted) {
  BlobSetWriter writer(directory, kKind);
  const auto file = writer.directory_for_parts() / "part";
  const Blob part = write_part(writer.directory_for_parts(), "part", noise(100));
  for (const std::size_t length : {std::size_t{0}, std::size_t{99}, std::size_t{101}}) {
    write_plain(file, noise(length));
    EXPECT_EQ(error_of([&] { writer.adopt(part); }),
              "73: " + file.string() + ": has " + std::to_string(length) + " bytes, but 100 were written");
  }
  std::filesystem::remove(file);
  EXPECT_EQ(error_of([&] { writer.adopt(part); }), "73: " + file.string() + ": open failed: No such file or directory");
  // What was refused is not in the set.
  writer.commit();
  EXPECT_EQ(read_set(directory), Blobs{});
}

TEST_F(BlobPartsTest, NamesOfPartsAreCheckedAsThoseOfBlobs) {
  BlobSetWriter writer(directory, kKind);
  Blob part = write_part(writer.directory_for_parts(), "part", noise(100));
  writer.add("added");
  writer.adopt(part);
  EXPECT_THAT(error_of([&] { writer.adopt(part); }), AllOf(StartsWith("1: "), HasSubstr("'part' added twice")));
  EXPECT_THAT(error_of([&] { writer.add("part"); }), AllOf(StartsWith("1: "), HasSubstr("'part' added twice")));
  for (const char* name : {"added", "../part", "MANIFEST", ""}) {
    part.name = name;
    EXPECT_THAT(error_of([&] { writer.adopt(part); }), StartsWith("1: ")) << name;
  }
  for (const char* name : {"../part", "MANIFEST", ""}) {
    EXPECT_THAT(error_of([&] { BlobWriter(root.path(), name); }), StartsWith("1: ")) << name;
  }
}

TEST_F(BlobPartsTest, AWriterThatDoesNotCommitLeavesNothingNotEvenPartsOfOthers) {
  {
    BlobSetWriter writer(directory, kKind);
    writer.add("blob").append(noise(100));
    write_part(writer.directory_for_parts(), "part", noise(100));
  }
  EXPECT_THAT(names_in(root.path()), ElementsAre());
}

TEST_F(BlobPartsTest, AFailedBlobBeforeAPartFailsTheSet) {
  BlobSetWriter writer(directory, kKind);
  const Blob part = write_part(writer.directory_for_parts(), "part", noise(100));
  std::filesystem::create_directory(writer.directory_for_parts() / "blob");
  EXPECT_THAT(error_of([&] { writer.add("blob"); }), StartsWith("73: "));
  EXPECT_THAT(error_of([&] { writer.adopt(part); }), AllOf(StartsWith("73: "), HasSubstr("incomplete")));
  EXPECT_THAT(error_of([&] { writer.commit(); }), AllOf(StartsWith("73: "), HasSubstr("incomplete")));
}

TEST_F(BlobPartsTest, ABlobCountsItsBytesAndDescribesItself) {
  BlobWriter part(root.path(), "part");
  EXPECT_EQ(part.raw_bytes(), 0U);
  for (const std::size_t bytes : {std::size_t{10}, kSegment, std::size_t{0}, std::size_t{20}}) {
    part.append(ByteVector(bytes));
    part.cut();
    part.cut();  // between cuts without bytes there is nothing to end
  }
  EXPECT_EQ(part.raw_bytes(), kSegment + 30);
  const Blob& blob = part.finish();
  EXPECT_EQ(blob.name, "part");
  EXPECT_EQ(blob.raw_bytes(), part.raw_bytes());
  EXPECT_EQ(blob.stored_bytes(), std::filesystem::file_size(root / "part"));
  EXPECT_EQ(blob.segments.size(), 3U);
  EXPECT_EQ(&part.finish(), &blob);
  EXPECT_THAT(error_of([&] { part.cut(); }), AllOf(StartsWith("1: "), HasSubstr("'part'")));
  EXPECT_THAT(error_of([&] { part.append(noise(1)); }), AllOf(StartsWith("1: "), HasSubstr("'part'")));
}

TEST_F(BlobPartsTest, ASkipEndsWhereAReadOfTheSameLengthEnds) {
  const std::vector<ByteVector> pieces{noise(10), {}, half_zero(20), half_zero(1000), noise(1), ByteVector(300)};
  const ByteVector all = joined(pieces);
  const BlobReader fresh = reader_of(pieces);
  for (std::size_t before = 0; before <= 40; before += 5) {
    for (std::size_t skipped = 0; before + skipped <= all.size(); ++skipped) {
      SCOPED_TRACE(std::to_string(skipped) + " skipped after " + std::to_string(before));
      BlobReader reader = BlobSetReader(directory, kKind).open("blob");
      ByteVector read(before);
      reader.read_exactly(read);
      reader.skip(skipped);
      ByteVector rest(all.size() + 1);
      rest.resize(reader.read(rest));
      ASSERT_TRUE(
          std::equal(rest.begin(), rest.end(), all.begin() + static_cast<std::ptrdiff_t>(before + skipped), all.end()));
    }
  }
  EXPECT_EQ(fresh.raw_bytes(), all.size());
}

TEST_F(BlobPartsTest, SegmentsThatAreSkippedWholeAreNotRead) {
  const std::vector<ByteVector> pieces{noise(100, 1), noise(200, 2), noise(300, 3)};
  reader_of(pieces);
  damage("blob", 150);
  const auto open = [&] { return BlobSetReader(directory, kKind).open("blob"); };

  BlobReader over = open();
  over.skip(300);
  ByteVector last(300);
  over.read_exactly(last);
  EXPECT_EQ(last, pieces[2]);

  BlobReader into = open();
  EXPECT_THAT(error_of([&] { into.skip(101); }), HasSubstr("200 bytes from byte 100 on do not match their checksum"));
}

TEST_F(BlobPartsTest, ASkipBeyondTheEndIsBadData) {
  BlobReader reader = reader_of({noise(100), noise(50)});
  reader.skip(120);
  EXPECT_EQ(error_of([&] { reader.skip(31); }),
            "65: " + (directory / "blob").string() + ": ends 1 bytes before what should be in it");
  BlobReader end = BlobSetReader(directory, kKind).open("blob");
  end.skip(150);
  end.skip(0);
  ByteVector out(1);
  EXPECT_EQ(end.read(out), 0U);
}

TEST_F(BlobPartsTest, VerifyingFindsEveryFlippedBitAndItsPlace) {
  reader_of({noise(30), ByteVector(500), noise(20)});
  const BlobSetReader set(directory, kKind);
  EXPECT_EQ(error_of([&] { set.verify("blob"); }), "no error");
  const std::size_t size = std::filesystem::file_size(directory / "blob");
  for (std::size_t i = 0; i < size; ++i) {
    damage("blob", i);
    const std::size_t segment = i < 30 ? 0 : i < size - 20 ? 30 : size - 20;
    EXPECT_THAT(error_of([&] { set.verify("blob"); }),
                AllOf(StartsWith("65: " + (directory / "blob").string() + ": damaged: "),
                      HasSubstr("from byte " + std::to_string(segment) + " on do not match their checksum")));
    damage("blob", i);
  }
  std::filesystem::resize_file(directory / "blob", size - 1);
  EXPECT_THAT(error_of([&] { set.verify("blob"); }), HasSubstr("20 bytes from byte " + std::to_string(size - 20)));
  EXPECT_THAT(error_of([&] { set.verify("other"); }), AllOf(StartsWith("65: "), HasSubstr("has no 'other'")));
}

TEST_F(BlobPartsTest, TheStoredBytesAreThoseOfAllFiles) {
  write_set(directory, {{"zero", ByteVector(5000)}, {"empty", {}}, {"noise", noise(77)}});
  std::uintmax_t bytes = 0;
  for (const std::string& name : names_in(directory)) bytes += std::filesystem::file_size(directory / name);
  EXPECT_EQ(BlobSetReader(directory, kKind).stored_bytes(), bytes);
}

// Two blobs, one of several segments, in a set beside the one that shares them.
class SharedBlobs : public BlobPartsTest {
 protected:
  SharedBlobs() {
    BlobSetWriter writer(source_, kKind);
    writer.add("small").append(small_);
    BlobWriter& large = writer.add("large");
    for (const ByteVector& piece : pieces_) {
      large.append(piece);
      large.cut();
    }
    writer.commit();
  }

  void share() const {
    const BlobSetReader set(source_, kKind);
    BlobSetWriter writer(directory, kKind);
    writer.share(set, "large", "renamed");
    writer.add("between").append(noise(30));
    writer.share(set, "small", "small");
    writer.commit();
  }

  void expect_shared() const {
    EXPECT_EQ(read_set(directory), (Blobs{{"renamed", joined(pieces_)}, {"between", noise(30)}, {"small", small_}}));
  }
  void expect_source() const { EXPECT_EQ(read_set(source_), (Blobs{{"small", small_}, {"large", joined(pieces_)}})); }

  std::filesystem::path source_ = root / "source";
  ByteVector small_ = half_zero(500);
  std::vector<ByteVector> pieces_{noise(10), half_zero(3000), noise(300)};
};

TEST_F(SharedBlobs, AreTheSameFiles) {
  share();
  expect_shared();
  EXPECT_TRUE(std::filesystem::equivalent(directory / "renamed", source_ / "large"));
  EXPECT_EQ(std::filesystem::hard_link_count(source_ / "small"), 2U);
}

TEST_F(SharedBlobs, AreCopiedWhereAFileGetsNoSecondName) {
  share();
  const ByteVector manifest = read_file(directory / kManifestName);
  {
    const NoLinks denied;
    share();
  }
  expect_shared();
  EXPECT_EQ(std::filesystem::hard_link_count(source_ / "large"), 1U);
  EXPECT_EQ(read_file(directory / kManifestName), manifest);
}

TEST_F(SharedBlobs, AreVerifiedWhereTheyAreCopied) {
  const NoLinks denied;
  ByteVector bytes = read_file(source_ / "large");
  bytes.back() ^= std::byte{1};
  write_plain(source_ / "large", bytes);
  EXPECT_THAT(error_of([&] { share(); }),
              AllOf(StartsWith("65: " + (source_ / "large").string()), HasSubstr("do not match their checksum")));
  EXPECT_THAT(names_in(root.path()), ElementsAre("source"));
}

TEST_F(SharedBlobs, StayWhenEitherSetGoesOrIsWrittenAgain) {
  share();
  remove_durably(source_);
  expect_shared();
  write_set(source_, {{"small", small_}, {"large", joined(pieces_)}});
  share();
  write_set(directory, {{"renamed", noise(5)}, {"small", noise(6)}});
  expect_source();
  share();
  remove_durably(directory);
  expect_source();
}

// What a network file system may do: it gives the name and says that it did not. So no file is ever written again.
TEST_F(SharedBlobs, AreNotWrittenToByWhoeverWritesTheirName) {
  std::filesystem::create_hard_link(source_ / "large", root / "large");
  BlobWriter writer(root.path(), "large");
  writer.append(noise(5));
  writer.finish();
  expect_source();
}

TEST_F(SharedBlobs, HaveNamesAsOthersDo) {
  const BlobSetReader set(source_, kKind);
  BlobSetWriter writer(directory, kKind);
  writer.share(set, "large", "a");
  EXPECT_THAT(error_of([&] { writer.share(set, "small", "a"); }), AllOf(StartsWith("1: "), HasSubstr("added twice")));
  EXPECT_THAT(error_of([&] { writer.share(set, "small", "../b"); }), StartsWith("1: "));
  EXPECT_THAT(error_of([&] { writer.share(set, "medium", "b"); }), AllOf(StartsWith("65: "), HasSubstr("'medium'")));
  EXPECT_THAT(error_of([&] { writer.add("a"); }), AllOf(StartsWith("1: "), HasSubstr("added twice")));
}

TEST_F(SharedBlobs, GiveSegmentsToOthersAsTheyAreStored) {
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(threads);
    const BlobSetReader set(source_, kKind);
    BlobReader from = set.open("large");
    BlobSetWriter writer(directory, kKind, threads);
    BlobWriter& blob = writer.add("blob");
    blob.append(half_zero(2 * kSegment + 10));
    EXPECT_THAT(error_of([&] { blob.append_stored(from, 10); }), AllOf(StartsWith("1: "), HasSubstr("'blob'")));
    blob.cut();
    from.skip(10);
    blob.append_stored(from, 3000);
    blob.append(small_);
    writer.commit();
    EXPECT_TRUE(read_set(directory) == (Blobs{{"blob", joined({half_zero(2 * kSegment + 10), pieces_[1], small_})}}));
  }
}

TEST_F(SharedBlobs, GiveSegmentsOnlyAsAWhole) {
  const BlobSetReader set(source_, kKind);
  BlobReader from = set.open("large");
  BlobWriter blob(root.path(), "blob");
  EXPECT_THAT(error_of([&] { blob.append_stored(from, 9); }), AllOf(StartsWith("1: "), HasSubstr("'blob'")));
  BlobReader within = set.open("large");
  within.skip(9);
  EXPECT_THAT(error_of([&] { blob.append_stored(within, 1); }), AllOf(StartsWith("1: "), HasSubstr("as a whole")));
  BlobReader end = set.open("large");
  EXPECT_THAT(error_of([&] { blob.append_stored(end, end.raw_bytes() + 1); }), StartsWith("1: "));
}

TEST(BlobDescriptionTest, ComesBackAndAnyDamageIsRefused) {
  const Blob blob{"weights-7", {{100, 90, 7}, {50, 50, 8}}};
  const ByteVector bytes = encode_blob(blob);
  EXPECT_EQ(decode_blob(bytes), blob);
  EXPECT_EQ(decode_blob(encode_blob({"empty", {}})), (Blob{"empty", {}}));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ByteVector damaged = bytes;
    damaged[i] ^= std::byte{1} << i % 8;
    EXPECT_THAT(error_of([&] { decode_blob(damaged); }), StartsWith("65: the description of a blob: damaged"));
    const ByteVector cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(error_of([&] { decode_blob(cut); }), StartsWith("65: the description of a blob: damaged"));
  }
}

TEST(BlobDescriptionTest, AManifestOfSomethingElseIsRefused) {
  const Manifest set{"cpt model", {{"blob", {}}}};
  EXPECT_EQ(error_of([&] { decode_blob(encode_manifest(set)); }),
            "65: the description of a blob: is that of something else");
  EXPECT_THAT(error_of([&] { encode_blob({"../blob", {}}); }), "no error");
  EXPECT_THAT(error_of([&] { decode_blob(encode_blob({"../blob", {}})); }), HasSubstr("invalid blob name"));
}

}  // namespace
}  // namespace cpt
