#include "store/fs/pending_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "store/file_size_limit.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct PendingFileTest : ::testing::Test {
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path.parent_path())) names.push_back(entry.path().filename());
    return names;
  }
  ByteVector content() const { return read_file(path); }
  static PendingFile begun(const fs::path& path, const ByteVector& bytes) {
    auto file = PendingFile::begin(path);
    EXPECT_TRUE(file.has_value());
    file->write(bytes);
    return std::move(*file);
  }

  TemporaryDirectory root;
  fs::path path = root / "copy";
};

TEST_F(PendingFileTest, AppearsWhole) {
  PendingFile file = begun(path, noise(1000));
  EXPECT_FALSE(fs::exists(path));
  file.publish();
  EXPECT_EQ(content(), noise(1000));
  EXPECT_THAT(names(), ElementsAre("copy"));
}

TEST_F(PendingFileTest, TakesThePlaceOfWhatWasThere) {
  begun(path, noise(1000)).publish();
  begun(path, noise(10)).publish();
  EXPECT_EQ(content(), noise(10));
}

TEST_F(PendingFileTest, LeavesNothingWhereItIsNotPublished) {
  { const PendingFile file = begun(path, noise(1000)); }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(PendingFileTest, IsWrittenByOneAtATime) {
  PendingFile file = begun(path, noise(1000));
  EXPECT_FALSE(PendingFile::begin(path));
  sweep_pending_files(path.parent_path(), [](const fs::path&) { return true; });
  file.publish();
  EXPECT_EQ(content(), noise(1000));
  EXPECT_TRUE(PendingFile::begin(path));
}

TEST_F(PendingFileTest, TakesOverWhatADeadProcessHasLeft) {
  std::ofstream(root / "copy.part") << std::string(5000, 'x');
  begun(path, noise(10)).publish();
  EXPECT_EQ(content(), noise(10));
}

TEST_F(PendingFileTest, WhatDeadProcessesHaveLeftIsSweptAway) {
  for (const char* name : {"copy.part", "other.part", "copy.of.others.part"}) std::ofstream(root / name) << "x";
  std::ofstream(root / "finished") << "x";
  fs::create_directory(root / "folder.part");
  const auto is_ours = [](const fs::path& name) { return name != "copy.of.others"; };
  sweep_pending_files(path.parent_path(), is_ours);
  EXPECT_THAT(names(), UnorderedElementsAre("finished", "folder.part", "copy.of.others.part"));
  sweep_pending_files(root / "missing", is_ours);
}

TEST_F(PendingFileTest, SaysWhyItCannotBeWritten) {
  const auto fault = [&](const fs::path& where) {
    try {
      begun(where, noise(1000)).publish();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(where.string()));
      return error.fault();
    }
    return Fault::kFailed;
  };
  EXPECT_EQ(fault(root / "missing/copy"), Fault::kCannotWrite);
  fs::create_directory(path);
  EXPECT_EQ(fault(path), Fault::kCannotWrite);
  const FileSizeLimit full(100);
  EXPECT_EQ(fault(root / "other"), Fault::kCannotWrite);
  EXPECT_THAT(names(), ElementsAre("copy"));
}

}  // namespace
}  // namespace cpt
