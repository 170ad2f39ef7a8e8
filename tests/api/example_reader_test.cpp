// Examples from lines and from named features, as a program that embeds the library makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
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

void feed(ExampleReader& reader, std::string_view line, Batch& batch) {
  static_cast<void>(reader.read_line(line, batch));
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
  EXPECT_THROW(feed(reader, "7,gut", batch), BadExample);
  expect_same(batch[0],
              add(options, {{"title", "gut"}, {"title", "Tag"}, {"price", "price", 0.5}, {"page", "page=a"}}, "")[0]);

  ExampleReader labelled(options, Format::kCsv);
  feed(labelled, "title\tad", batch);
  feed(labelled, "gut\tad1", batch);
  expect_same(batch[1], add(options, {{"title", "gut"}}, "ad1")[0]);
  ExampleReader bad(options, Format::kCsv);
  EXPECT_THROW(feed(bad, "title,title", batch), BadExample);
  EXPECT_THROW(feed(bad, "page,ad", batch), Error) << "no title";
}

TEST(ExampleReader, ReadsOneLineWithOrWithoutItsEnd) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  for (const char* line : {"l |a x", "l |a x\n", "l |a x\r\n"}) EXPECT_EQ(reader.read_line(line, batch), 1U);
  expect_same(batch[1], batch[0]);
  expect_same(batch[2], batch[0]);
  EXPECT_THROW(feed(reader, "l |a x\nl |a y", batch), BadExample);
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

TEST(ExampleReader, ALineThatIsRefusedDecidesNothing) {
  ExampleReader reader({});
  Batch batch = reader.make_batch();
  EXPECT_THROW(feed(reader, "too many words | x", batch), BadExample);
  EXPECT_THROW(feed(reader, "__label__", batch), BadExample);
  EXPECT_EQ(reader.format(), Format::kAuto);
  EXPECT_EQ(reader.read_line("7 3:1", batch), 1U);
  EXPECT_EQ(reader.format(), Format::kLibsvm);

  ModelOptions crossed;
  crossed.interactions = {"ab"};
  ExampleReader crosses(crossed);
  EXPECT_THAT(thrown_by([&] { feed(crosses, "7 3:1", batch); }).text, HasSubstr("--interactions needs namespaces"));
  EXPECT_EQ(crosses.read_line("7 |a x |b y", batch), 1U);
}

TEST(ExampleReader, ReadsTheFormatThatTheModelWasTrainedOn) {
  Model model(small_model());
  Batch batch = ExampleReader(model).make_batch();
  ExampleReader unknown(model);
  EXPECT_THROW(feed(unknown, "bread milk", batch), BadExample);
  for (const char* format : {"csv", "binary"}) {
    model.learner().set_input({.format = format, .name_spaces = {}, .features = {}});
    ExampleReader no_lines(model);
    EXPECT_THROW(feed(no_lines, "bread milk", batch), BadExample) << format;
  }
  model.learner().set_input({.format = "fasttext", .name_spaces = {}, .features = {}});
  ExampleReader reader(model);
  EXPECT_EQ(reader.read_line("bread milk", batch), 1U);
  EXPECT_EQ(reader.format(), Format::kFasttext);
  expect_same(batch[0], add(model.options(), {{"", "bread"}, {"", "milk"}}, "")[0]);
  // As in a file, where what is recognised is not what the model knows.
  ExampleReader recognised(model);
  EXPECT_EQ(recognised.read_line("soup | bread milk", batch), 1U);
  EXPECT_EQ(recognised.format(), Format::kVw);
  ExampleReader told(model, Format::kFasttext);
  EXPECT_EQ(told.read_line("soup | bread milk", batch), 1U);
  EXPECT_EQ(batch[2].features.size(), 5U) << "four words and the constant";
}

TEST(ExampleReader, SkipsAByteOrderMark) {
  ExampleReader reader({}, Format::kFasttext);
  Batch batch = reader.make_batch();
  EXPECT_EQ(reader.read_line("\xef\xbb\xbf__label__a x", batch), 1U);
  EXPECT_EQ(batch[0].label, "a");
  EXPECT_EQ(reader.read_line("\xef\xbb\xbf__label__a x", batch), 1U);
  EXPECT_EQ(batch[1].label, "") << "a word, as in the middle of a file";
}

TEST(ExampleReader, RefusesABatchThatScalesOtherwise) {
  ModelOptions options;
  options.normalize = Normalize::kL2;
  ExampleReader reader(options);
  Batch batch;
  for (const auto& call : std::vector<std::function<void()>>{[&] { feed(reader, "a | x", batch); },
                                                             [&] { reader.add({}, "a", 1, batch); }}) {
    EXPECT_EQ(thrown_by(call).fault, Fault::kUsage);
    EXPECT_THAT(thrown_by(call).text, HasSubstr("expected a batch that scales values as the model does"));
  }
  EXPECT_TRUE(batch.empty());
}

TEST(ExampleReader, LeavesNothingOpenWhateverIsThrown) {
  ModelOptions options;
  options.ngrams = {":2"};
  ExampleReader reader(options);
  Batch batch = reader.make_batch();
  reader.on_feature([](FeatureHash, std::string_view, std::string_view name) {
    if (name == "stop") throw std::runtime_error("stopped");
  });
  const NamedFeature features[] = {{"", "x"}, {"", "y"}, {"", "stop"}};
  EXPECT_THROW(reader.add(features, "a", 1, batch), std::runtime_error);
  EXPECT_EQ(batch.open_features(), 0U);
  EXPECT_THROW(feed(reader, "a | x stop", batch), std::runtime_error);
  EXPECT_EQ(batch.open_features(), 0U);
  EXPECT_EQ(reader.read_line("a | x", batch), 1U);
  expect_same(batch[0], read({}, "a | x")[0]);
  EXPECT_THROW(reader.add(features, "a", 1, batch), std::runtime_error);
  const NamedFeature size[] = {{"", "size", 2, false}};
  reader.add(size, "a", 1, batch);
  expect_same(batch[1], add({}, {{"", "size", 2}}, "a")[0]);
}

TEST(ExampleReader, MakesTheNgramsOfTheLine) {
  ModelOptions text;
  text.ngrams = {"3"};
  const Batch words = add(text, {{"", "new"}, {"", "york"}, {"", "city"}, {"", "hall"}}, "a");
  expect_same(words[0], read(text, "__label__a new york city hall")[0]);
  EXPECT_EQ(words[0].features.size(), 1U + 4 + 3 + 2);

  ModelOptions options;
  options.ngrams = {"title:2"};
  options.interactions = {"tu", "tt"};
  options.normalize = Normalize::kL2;
  expect_same(
      add(options, {{"title", "a"}, {"title", "b", 2}, {"user", "x"}, {"user", "y"}, {"title", "c"}, {"title", "d"}},
          "l")[0],
      read(options, "l |title a b:2 |user x y |title c d")[0]);

  ModelOptions without_ngrams = options;
  without_ngrams.ngrams.clear();

  ModelOptions json;
  json.fields.text = {"title"};
  json.ngrams = {"2", "tags:2"};
  expect_same(
      add(json,
          {{"", "size", 2, false}, {"title", "a"}, {"title", "b"}, {"tags", "c"}, {"tags", "d"}, {"", "color=red"}},
          "l")[0],
      read(json, R"({"label": "l", "size": 2, "title": "a b", "tags": ["c", "d"], "color": "red"})")[0]);

  // What is no word ends a row of words.
  const std::vector<NamedFeature> apart{{"title", "a"}, {"title", "b"}, {"title", "size", 2, false}, {"title", "c"}};
  const std::vector<NamedFeature> written{
      {"title", "a"}, {"title", "b"}, {"title", "a^b"}, {"title", "size", 2}, {"title", "c"}};
  expect_same(add(options, apart, "l")[0], add(without_ngrams, written, "l")[0]);
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
  feed(reader, "a | x", batch);
  for (const auto& [line, column] : std::vector<std::pair<std::string, std::size_t>>{
           {"a | x y:z", 9}, {"a b | x", 3}, {"no bar", 4}, {"a | x:1e31", 7}}) {
    try {
      feed(reader, line, batch);
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
  EXPECT_THAT(thrown_by([&] { feed(fresh, "no format", batch); }).text,
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
  EXPECT_THAT(thrown_by([&] { reader.add({}, "a", 1e-50, batch); }).text,
              HasSubstr("expected an importance of at least 1e-45, unless it is 0, found 1e-50"));
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
  EXPECT_EQ(thrown_by([&] { feed(reader, "7 3:1", batch); }).fault, Fault::kUsage);
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
