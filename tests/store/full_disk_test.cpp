// A disk that fills up fails the commit, names the file, and leaves the set that was there.
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "file_size_limit.h"
#include "store/blob/blob_set.h"
#include "store/run/checkpoints.h"
#include "store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Blobs kOldBlobs{{"blob", noise(1000)}};

// `reason` is that of the system. The writer must stay unusable after the error, whatever the caller does next.
void expect_old_set_survives(const std::filesystem::path& root, const std::string& reason) {
  const auto directory = root / "set";
  const ByteVector too_much = noise(std::size_t{2} << 20);
  {
    BlobSetWriter writer(directory, kKind);
    const auto write = [&] {
      BlobWriter& blob = writer.add("blob");
      blob.append(too_much);
      blob.finish();
    };
    EXPECT_THAT(error_of(write),
                AllOf(StartsWith("73: " + temporary_name(directory).string() + "/blob: "), HasSubstr(reason)));
    EXPECT_THAT(error_of([&] { writer.add("next"); }), AllOf(StartsWith("73: "), HasSubstr("incomplete")));
    EXPECT_THAT(error_of([&] { writer.commit(); }), AllOf(StartsWith("73: "), HasSubstr("incomplete")));
  }
  EXPECT_EQ(read_set(directory), kOldBlobs);
  EXPECT_THAT(names_in(root), ElementsAre("set"));

  EXPECT_THAT(error_of([&] { write_file_atomically(root / "file", too_much); }),
              AllOf(StartsWith("73: "), HasSubstr(reason)));
  EXPECT_THAT(names_in(root), ElementsAre("set"));
}

// The rank that writes the part fails; the one that has the set then gives it up.
void expect_old_checkpoint_survives(const std::filesystem::path& root, const std::string& reason) {
  const Checkpoints checkpoints(root / "checkpoints");
  {
    BlobSetWriter writer(checkpoints.next(), kKind);
    BlobWriter& tree = writer.add("tree");
    tree.append(noise(10));
    tree.finish();
    BlobWriter part(writer.directory_for_parts(), "part");
    const auto file = (writer.directory_for_parts() / "part").string();
    const auto write = [&] {
      part.append(noise(std::size_t{2} << 20));
      part.finish();
    };
    EXPECT_THAT(error_of(write), AllOf(StartsWith("73: " + file + ": "), HasSubstr(reason)));
    EXPECT_THAT(error_of([&] { part.finish(); }), AllOf(StartsWith("73: "), HasSubstr("'part' is incomplete")));
    EXPECT_THAT(error_of([&] { part.append(noise(1)); }), AllOf(StartsWith("73: "), HasSubstr("'part' is incomplete")));
    // A description of what it was to be does not help it into the set.
    EXPECT_THAT(error_of([&] {
                  writer.adopt({"part", {{kMaxSegmentBytes, kMaxSegmentBytes, 0}}});
                }),
                AllOf(StartsWith("73: " + file + ": has "), HasSubstr("bytes, but 4194304 were written")));
  }
  ASSERT_EQ(checkpoints.list().size(), 1U);
  EXPECT_EQ(read_set(checkpoints.list()[0].directory), kOldBlobs);
  EXPECT_THAT(names_in(root / "checkpoints"), ElementsAre("000000001"));
}

void expect_old_data_survives(const std::filesystem::path& root, const std::string& reason) {
  const auto sets = root / "sets";
  for (const auto& folder : {sets, root / "checkpoints"}) std::filesystem::create_directory(folder);
  write_set(sets / "set", kOldBlobs);
  expect_old_set_survives(sets, reason);
  write_set(root / "checkpoints/000000001", kOldBlobs);
  expect_old_checkpoint_survives(root, reason);
}

TEST(FullDiskTest, AFileThatCannotGrowLeavesTheOldData) {
  const TemporaryDirectory root;
  const FileSizeLimit limit(rlim_t{1} << 20);
  expect_old_data_survives(root.path(), "write failed: File too large");
}

class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", root_.path().c_str(), "tmpfs", 0, "size=1m") == 0), reason_(errno) {}
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(root_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  std::string reason() const { return std::strerror(reason_); }
  const std::filesystem::path& path() const { return root_.path(); }

 private:
  TemporaryDirectory root_;
  bool mounted_;
  int reason_;
};

TEST(FullDiskTest, AFullFileSystemLeavesTheOldData) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "a file system of 1 MiB cannot be mounted here: " << disk.reason();
  expect_old_data_survives(disk.path(), "write failed: No space left on device");
}

}  // namespace
}  // namespace cpt
