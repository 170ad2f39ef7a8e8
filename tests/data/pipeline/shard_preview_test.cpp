#include "data/pipeline/shard_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/folder.h"
#include "data/packed.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Shard shard_of(const std::string& path) { return find_shards({path}).front(); }

std::string vw_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "label" + std::to_string(i % 10) + " |words a b c:2 d" + std::to_string(i % 7) + "\n";
  return text;
}

// Of a whole shard of which the beginning was read.
double estimate(const ShardPreview& seen, const Shard& shard) {
  return static_cast<double>(content_bytes(shard)) * static_cast<double>(seen.examples) /
         static_cast<double>(seen.bytes);
}

TEST(ShardPreview, ShowsTheFirstLineThatHoldsAnExample) {
  const Folder folder;
  const Shard shard = shard_of(folder.write("a.vw", "\n \nnews 2.5 'tag|page w1 w2:0.5 |user u\nsport |page w3\n"));
  const ShardPreview seen = preview(shard, {});
  EXPECT_EQ(seen.format, Format::kVw);
  EXPECT_EQ(seen.line, 3U);
  EXPECT_EQ(seen.text, "'news 2.5 'tag|page w1 w2:0.5 |user u'");
  EXPECT_EQ(seen.label, "news");
  EXPECT_EQ(seen.importance, 2.5);
  EXPECT_EQ(seen.features, 3U);
  EXPECT_THAT(seen.shown, ElementsAre("page^w1:1", "page^w2:0.5", "user^u:1"));
  EXPECT_EQ(seen.examples, 2U);
  EXPECT_EQ(seen.bytes, shard.bytes);
}

TEST(ShardPreview, NamesTheFormat) {
  const Folder folder;
  EXPECT_EQ(preview(shard_of(folder.write("a", "3 1:0.5 7:2\n")), {}).format, Format::kLibsvm);
  EXPECT_EQ(preview(shard_of(folder.write("b", "__label__x some words\n")), {}).format, Format::kFasttext);
  const ShardPreview told =
      preview(shard_of(folder.write("c", "some words\n")), {.format = Format::kFasttext, .labels_required = false});
  EXPECT_EQ(told.format, Format::kFasttext);
  EXPECT_THAT(told.shown, ElementsAre("some:1", "words:1"));
  EXPECT_EQ(told.label, "");
}

TEST(ShardPreview, OfAShardWithoutExamplesIsEmpty) {
  const Folder folder;
  const ShardPreview seen = preview(shard_of(folder.write("a.vw", "\n\n")), {});
  EXPECT_EQ(seen.line, 0U);
  EXPECT_EQ(seen.examples, 0U);
  EXPECT_EQ(seen.text, "");
  EXPECT_THAT(seen.shown, IsEmpty());
}

TEST(ShardPreview, OfALongLineShowsTheFirstFeatures) {
  const Folder folder;
  std::string line = "x |";
  for (int i = 0; i < 1000; ++i) line += " f" + std::to_string(i);
  const ShardPreview seen =
      preview(shard_of(folder.write("a.vw", "x |bad y:z\n" + line + "\n")), {.skip_bad_lines = true});
  EXPECT_EQ(seen.line, 2U);
  EXPECT_EQ(seen.features, 1000U);
  EXPECT_EQ(seen.shown.size(), ShardPreview::kShownFeatures);
  EXPECT_EQ(seen.shown.back(), "f9:1");
}

TEST(ShardPreview, CountsExamplesInTheBeginningOnly) {
  const Folder folder;
  const std::string text = vw_lines(100'000);
  const Shard plain = shard_of(folder.write("a.vw", text));
  const ShardPreview seen = preview(plain, {});
  EXPECT_LT(seen.examples, 60'000U);
  EXPECT_NEAR(estimate(seen, plain), 100'000, 100);

  const std::vector<Shard> parts = split(plain, 2);
  double sum = 0;
  for (const Shard& part : parts) sum += estimate(preview(part, {}), part);
  EXPECT_NEAR(sum, 100'000, 100);

  // How much text a compressed file holds is not known.
  const Shard packed = shard_of(folder.write("a.vw.gz", gzip(text)));
  EXPECT_EQ(content_bytes(packed), 3 * packed.bytes);
}

}  // namespace
}  // namespace cpt
