// Examples from lines and from named features, as a program that embeds the library makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cpt/hashing.h"
#include "cpt/model.h"
#include "cpt/reader.h"
#include "train/job.h"
#include "train/small_model.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;

std::vector<FeatureHash> features_of(const ExampleView& x) { return {x.features.begin(), x.features.end()}; }
std::vector<float> values_of(const ExampleView& x) { return {x.values.begin(), x.values.end()}; }

void expect_same(const ExampleView& a, const ExampleView& b) {
  EXPECT_EQ(features_of(a), features_of(b));
  EXPECT_EQ(values_of(a), values_of(b));
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.label_hash, b.label_hash);
  EXPECT_EQ(a.importance, b.importance);
}

Batch read(const ModelOptions& options, std::string_view line) {
  ExampleReader reader(options);
  Batch batch = reader.make_batch();
  EXPECT_EQ(reader.read_line(line, batch), 1U);
  return batch;
}

Batch add(const ModelOptions& options, const std::vector<NamedFeature>& features, std::string_view label,
          double importance = 1) {
  ExampleReader reader(options);
  Batch batch = reader.make_batch();
  reader.add(features, label, importance, batch);
  return batch;
}

TEST(ExampleReader, NamedFeaturesAreThoseOfALine) {
  ModelOptions options;
  options.seed = 7;
  options.interactions = {"pu", "pp"};
  options.normalize = Normalize::kL2;
  const Batch line = read(options, "ad 2.5 |page w1 w2:3 w1 |user old |page w4 | free:-1");
  const Batch named = add(
      options, {{"page", "w1"}, {"page", "w2", 3}, {"page", "w1"}, {"user", "old"}, {"page", "w4"}, {"", "free", -1}},
      "ad", 2.5);
  expect_same(line[0], named[0]);
  EXPECT_GT(named[0].features.size(), 10U);
  // Each option takes part.
  EXPECT_NE(features_of(named[0]), features_of(add({}, {{"page", "w1"}, {"page", "w2", 3}}, "ad")[0]));
}

TEST(ExampleReader, FormatsWithoutNamespacesUseTheEmptyOne) {
  expect_same(read({}, "7 3:1 12:0.5")[0], add({}, {{"", "3"}, {"", "12", 0.5}}, "7")[0]);
  expect_same(read({}, "__label__de gut gut Tag")[0], add({}, {{"", "gut", 2}, {"", "Tag"}}, "de")[0]);
  expect_same(read({}, R"({"label": "7", "3": 1, "12": 0.5})")[0], add({}, {{"", "3"}, {"", "12", 0.5}}, "7")[0]);
  expect_same(read({}, "de | gut:2 Tag")[0], add({}, {{"", "gut", 2}, {"", "Tag"}}, "de")[0]);
}

TEST(ExampleReader, ReadsJsonWithTheKeysOfTheModel) {
  ModelOptions options;
  options.fields = {.label = "y", .importance = "n", .text = {"title"}};
  expect_same(read(options, R"({"y": "ad", "n": 2, "title": "gut Tag", "color": "red"})")[0],
              add(options, {{"title", "gut"}, {"title", "Tag"}, {"", "color=red"}}, "ad", 2)[0]);
}

TEST(ExampleReader, ReadsRecordsBelowTheirHeader) {
  ModelOptions options;
  options.fields = {.label = "ad", .text = {"title"}, .ignored = {"id"}};
  ExampleReader reader(options, Format::kCsv);
  Batch batch = reader.make_batch();
  EXPECT_EQ(reader.read_line("", batch), 0U);
  EXPECT_EQ(reader.read_line("id,title,price,page", batch), 0U) << "no label is needed";
  EXPECT_EQ(reader.read_line("7,\"gut\nTag\",0.5,a", batch), 1U);
  EXPECT_THROW(reader.read_line("7,gut", batch), BadExample);
  expect_same(batch[0],
              add(options, {{"title", "gut"}, {"title", "Tag"}, {"price", "price", 0.5}, {"page", "page=a"}}, "")[0]);

  ExampleReader labelled(options, Format::kCsv);
  labelled.read_line("title\tad", batch);
  labelled.read_line("gut\tad1", batch);
  expect_same(batch[1], add(options, {{"title", "gut"}}, "ad1")[0]);
  ExampleReader bad(options, Format::kCsv);
  EXPECT_THROW(bad.read_line("title,title", batch), BadExample);
  EXPECT_THROW(bad.read_line("page,ad", batch), Error) << "no title";
}

TEST(ExampleReader, ReadsOneLineWithOrWithoutItsEnd) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  for (const char* line : {"l |a x", "l |a x\n", "l |a x\r\n"}) EXPECT_EQ(reader.read_line(line, batch), 1U);
  expect_same(batch[1], batch[0]);
  expect_same(batch[2], batch[0]);
  EXPECT_THROW(reader.read_line("l |a x\nl |a y", batch), BadExample);
  EXPECT_EQ(reader.read_line("\n", batch), 0U);
}

TEST(ExampleReader, TheFirstLineDecidesTheFormat) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  EXPECT_EQ(reader.format(), Format::kAuto);
  EXPECT_EQ(reader.read_line("  ", batch), 0U);
  EXPECT_EQ(reader.read_line("__label__a x", batch), 1U);
  EXPECT_EQ(reader.format(), Format::kFasttext);
  EXPECT_EQ(reader.read_line("b | x", batch), 1U);  // two words, and no label
  EXPECT_EQ(batch[1].label, "");
  EXPECT_EQ(reader.lines(), 3U);
  ExampleReader vw({}, Format::kVw);
  EXPECT_EQ(vw.read_line("b | x", batch), 1U);
  EXPECT_EQ(batch[2].label, "b");
}

TEST(ExampleReader, ReadsLabelsAsTold) {
  ExampleReader first({}, Format::kLibsvm);
  ExampleReader split({}, Format::kLibsvm, MultiLabel::kSplit);
  Batch batch = first.make_batch();
  EXPECT_EQ(first.read_line("4,5 1:1", batch), 1U);
  EXPECT_EQ(split.read_line("10 200 3", batch), 0U);  // the header of a file
  EXPECT_EQ(split.read_line("4,5 1:1", batch), 2U);
  EXPECT_EQ(batch[0].label, "4");
  EXPECT_EQ(batch[2].label, "5");
  EXPECT_EQ(batch[2].importance, 0.5F);
}

// What a bad line throws, and that nothing of it stays.
TEST(ExampleReader, NamesTheColumnOfABadLine) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  reader.read_line("a | x", batch);
  for (const auto& [line, column] : std::vector<std::pair<std::string, std::size_t>>{
           {"a | x y:z", 9}, {"a b | x", 3}, {"no bar", 4}, {"a | x:1e31", 7}}) {
    try {
      reader.read_line(line, batch);
      FAIL() << line;
    } catch (const BadExample& error) {
      EXPECT_EQ(error.fault(), Fault::kBadData);
      EXPECT_EQ(error.column(), column) << line;
      EXPECT_THAT(error.what(), HasSubstr("expected "));
    }
    EXPECT_EQ(batch.size(), 1U);
    EXPECT_EQ(batch.open_features(), 0U);
  }
  ExampleReader fresh({});
  EXPECT_THAT(thrown_by([&] { fresh.read_line("no format", batch); }).text,
              HasSubstr("expected a line in vw, libsvm, fasttext or json format, found 'no format'"));
  EXPECT_EQ(fresh.format(), Format::kAuto);
}

TEST(ExampleReader, RefusesValuesOutOfRange) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  for (const double value : {1.01e30, -2e30, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const NamedFeature features[] = {{"", "good"}, {"", "bad", value}};
    EXPECT_THAT(thrown_by([&] { reader.add(features, "a", 1, batch); }).text,
                HasSubstr("expected a number of at most 1e30 in size, found "));
  }
  for (const double importance : {-1.0, 1.01e12, std::nan("")}) {
    EXPECT_THAT(thrown_by([&] { reader.add({}, "a", importance, batch); }).text,
                HasSubstr("expected an importance from 0 to 1e12, found "));
  }
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.open_features(), 0U);
  ModelOptions crossed;
  crossed.interactions = {"ab"};
  ExampleReader crosses(crossed);
  const NamedFeature large[] = {{"a", "x", 1e20}, {"b", "y", 1e20}};
  EXPECT_THAT(thrown_by([&] { crosses.add(large, "a", 1, batch); }).text,
              HasSubstr("expected products of at most 1e30 in size"));
  EXPECT_EQ(batch.open_features(), 0U);
}

TEST(ExampleReader, RefusesWhatCannotBe) {
  EXPECT_EQ(thrown_by([] { ExampleReader({}, Format::kBinary); }).fault, Fault::kUsage);
  ModelOptions crossed;
  crossed.interactions = {"abc"};
  EXPECT_EQ(thrown_by([&] { ExampleReader reader(crossed); }).fault, Fault::kUsage);
  crossed.interactions = {"ab"};
  ExampleReader reader(crossed);
  Batch batch = reader.make_batch();
  EXPECT_EQ(thrown_by([&] { reader.read_line("7 3:1", batch); }).fault, Fault::kUsage);
}

TEST(ExampleReader, TellsTheNamesOfFeatures) {
  ModelOptions options;
  options.interactions = {"ab"};
  ExampleReader reader(options);
  std::vector<std::string> names;
  reader.on_feature([&](FeatureHash, std::string_view name_space, std::string_view name) {
    names.push_back(std::string(name_space) + "^" + std::string(name));
  });
  Batch batch = reader.make_batch();
  const NamedFeature features[] = {{"a", "x"}, {"b", "y"}};
  reader.add(features, "", 1, batch);
  EXPECT_THAT(names, ::testing::ElementsAre("a^x", "b^y", "ab^x*y"));
}

// Past several renewals of the rarities, and from short intervals to long ones, of which a part is counted.
TEST(Model, LearnsABatchAsItsExamplesOneByOne) {
  for (const Method method : {Method::kTree, Method::kOneAgainstAll, Method::kTable}) {
    const bool is_tree = method == Method::kTree;
    const Batch batch = parse(random_lines({.examples = is_tree ? 60000U : 500U, .labels = 40}));
    ModelOptions options = small_model();
    options.method = method;
    Model one(options);
    Model many(options);
    std::vector<double> expected;
    for (std::size_t i = 0; i < batch.size(); ++i) expected.push_back(one.learn(batch[i]));
    EXPECT_EQ(many.learn(batch), expected);
    EXPECT_EQ(many.digests(), one.digests());
    EXPECT_EQ(many.label(3), one.label(3));
    EXPECT_EQ(thrown_by([&] { many.label(many.labels()); }).fault, Fault::kUsage);
  }
}

// A batch in any pieces, and train(), leave the same digests.
TEST(Model, LearnsBatchesAsTrainingDoes) {
  const std::string lines = random_lines({.examples = 50000, .labels = 60});
  const Batch batch = parse(lines);
  Model model(small_model());
  for (std::size_t i = 0, piece = 1; i < batch.size(); piece = piece * 3 % 10007) {
    Batch part;
    for (const std::size_t end = std::min(batch.size(), i + piece); i < end; ++i) part.append(batch[i]);
    model.learn(part);
  }
  const Folder folder;
  TrainingOptions options = small_job();
  options.model = small_model();
  options.data = {folder.write("lines.vw", lines)};
  const Summary trained = std::move(results_on(1, options)[0].summary);
  EXPECT_EQ(model.digests().tree, trained.tree.digest);
  EXPECT_EQ(model.digests().weights, trained.weight_digest);
}

TEST(Model, LearnsNothingOfABatchWithAnExampleThatItRefuses) {
  Model model = trained_model("a | x\nb | y\n");
  const ModelDigests before = model.digests();
  Batch batch = parse("a | y\nc | x\n");
  batch.add_feature(1, 1);
  batch.finish_example("", 1, {});
  EXPECT_EQ(thrown_by([&] { model.learn(batch); }).text, "an example without a label cannot be learned");
  EXPECT_EQ(model.digests(), before);
  EXPECT_EQ(model.labels(), 2U);
}

}  // namespace
}  // namespace cpt
