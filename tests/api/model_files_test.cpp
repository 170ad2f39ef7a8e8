// A model that is written and read again is the same model; a damaged one is refused.
#include "api/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <thread>

#include "api/options/model_option_words.h"
#include "cpt/model.h"
#include "store/blob/blob_set.h"
#include "train/small_model.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ByteVector = std::vector<std::byte>;

class ModelFiles : public ::testing::Test {
 protected:
  Model written_and_read(const Model& model) const {
    model.save(directory_);
    return Model::load(directory_);
  }

  // The error of loading the model.
  Thrown refusal() const {
    return thrown_by([&] { Model::load(directory_); });
  }

  ByteVector blob(const std::string& name) const {
    return BlobSetReader(directory_, "cpt model").read_all(name, 1 << 30);
  }

  // Writes the model again, with valid checksums, and with another content of one blob.
  void replace_blob(const std::string& name, const ByteVector& content) const {
    std::vector<std::pair<std::string, ByteVector>> blobs;
    for (const std::string& each : BlobSetReader(directory_, "cpt model").names()) {
      blobs.emplace_back(each, each == name ? content : blob(each));
    }
    BlobSetWriter writer(directory_, "cpt model");
    for (const auto& [each, bytes] : blobs) writer.add(each).append(bytes);
    writer.commit();
  }

  Folder folder_;
  fs::path directory_ = folder_ / "model";
};

void expect_same_model(const Model& a, const Model& b) {
  EXPECT_EQ(digests_of(a), digests_of(b));
  EXPECT_EQ(a.labels(), b.labels());
  EXPECT_EQ(a.learner().disagreements(), b.learner().disagreements());
  const Batch examples = parse(random_lines({.seed = 7, .examples = 30, .labels = 20}));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::vector<Prediction> of_a = a.top_k(examples[i], 20);
    const std::vector<Prediction> of_b = b.top_k(examples[i], 20);
    ASSERT_EQ(of_a.size(), of_b.size());
    for (std::size_t k = 0; k < of_a.size(); ++k) {
      EXPECT_EQ(of_a[k].label, of_b[k].label);
      EXPECT_EQ(of_a[k].probability, of_b[k].probability);
    }
  }
}

TEST_F(ModelFiles, AreTheSameModel) {
  for (const int bits : {10, 14, 16}) {
    const Model model = trained_model(random_lines({}), small_model(bits));
    expect_same_model(written_and_read(model), model);
  }
}

TEST_F(ModelFiles, KeepOptionsOfAnyLength) {
  ModelOptions options = small_model();
  for (int i = 0; i < 300'000; ++i) options.fields.ignored.push_back("column" + std::to_string(i));
  const Model model = trained_model(random_lines({}), options);
  EXPECT_EQ(written_and_read(model).options().fields, options.fields);
}

TEST_F(ModelFiles, KeepWhatTheModelWasTrainedOn) {
  Model model = trained_model(random_lines({}));
  model.learner().set_input({"vw", {"page", "user"}, {"page^w1"}});
  const Model read = written_and_read(model);
  EXPECT_EQ(read.learner().input().format, "vw");
  EXPECT_EQ(read.learner().input().name_spaces, (std::vector<std::string>{"page", "user"}));
  EXPECT_EQ(read.learner().input().features, std::vector<std::string>{"page^w1"});
  model.learner().set_input({});
  EXPECT_TRUE(written_and_read(model).learner().input().empty());
}

TEST_F(ModelFiles, AreNotWrittenOfWeightsThatAreNoNumbers) {
  Model model = trained_model(random_lines({}));
  model.learner().weights().row(3)[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(thrown_by([&] { model.save(directory_); }).fault, Fault::kFailed);
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(ModelFiles, KeepEveryOption) {
  ModelOptions options = small_model(12);
  options.tree = TreeKind::kRandom;
  options.alpha = 0.25;
  options.loss = Loss::kSquared;
  options.update = Update::kSgd;
  options.learning_rate = 0.125;
  options.clip = 0.03;
  options.seed = 0xfedcba9876543210;
  options.normalize = Normalize::kL2;
  options.interactions = {"ab", "aa"};
  EXPECT_EQ(list_model_options(written_and_read(Model(options)).options()), list_model_options(options));
}

// Each kind of options is written in a form of its own.
TEST_F(ModelFiles, KeepKeysAndNgrams) {
  ModelOptions with_keys = small_model(12);
  with_keys.fields.text = {"title"};
  ModelOptions with_ngrams = small_model(12);
  with_ngrams.trees = 2;
  with_ngrams.ngrams = {"3", "title:2"};
  ModelOptions with_both = with_keys;
  with_both.ngrams = {"2"};
  for (const ModelOptions& options : {with_keys, with_ngrams, with_both}) {
    EXPECT_EQ(list_model_options(written_and_read(Model(options)).options()), list_model_options(options));
  }
}

TEST_F(ModelFiles, LearnOnAsIfNeverWritten) {
  Model model = trained_model(random_lines({}));
  Model read = written_and_read(model);
  const Batch more = parse(random_lines({.seed = 3, .labels = 90}));
  for (std::size_t i = 0; i < more.size(); ++i) EXPECT_EQ(read.learn(more[i]), model.learn(more[i]));
  expect_same_model(read, model);
}

TEST_F(ModelFiles, MayHoldNoLabelOrOne) {
  const Model empty(small_model());
  expect_same_model(written_and_read(empty), empty);
  const Model single = trained_model("only | x y\n");
  const Model read = written_and_read(single);
  expect_same_model(read, single);
  EXPECT_EQ(labels_in(read), std::set<std::string>{"only"});
}

TEST_F(ModelFiles, KeepLabelsOfAnyBytes) {
  Model model(small_model());
  const std::set<std::string> labels = {"\xC3\xA9t\xC3\xA9",    "\"quoted\"", "back\\slash", "\xFF\xFE",
                                        std::string("a\0b", 3), "tab\there",  "new\nline"};
  for (const std::string& label : labels) {
    Batch batch;
    batch.finish_example(label, 1, {});
    model.learn(batch[0]);
  }
  EXPECT_EQ(labels_in(written_and_read(model)), labels);
}

TEST_F(ModelFiles, ReplaceAnOlderModel) {
  trained_model("old | x\n").save(directory_);
  const Model model = trained_model(random_lines({}), small_model(12));
  expect_same_model(written_and_read(model), model);
}

TEST_F(ModelFiles, AreMissed) {
  EXPECT_EQ(refusal().fault, Fault::kNoInput);
  EXPECT_THAT(refusal().text, HasSubstr(directory_.string()));
  fs::create_directory(directory_);
  EXPECT_EQ(refusal().fault, Fault::kNoInput);
}

TEST_F(ModelFiles, OfAnotherKindAreRefused) {
  BlobSetWriter writer(directory_, "cpt something");
  writer.add("options").append({});
  writer.commit();
  EXPECT_EQ(refusal().fault, Fault::kBadData);
}

TEST_F(ModelFiles, WithAFlippedByteInAnyFileAreRefused) {
  const Model model = trained_model(random_lines({}));
  model.save(directory_);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory_)) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 5U);  // options, tree, features, weights, MANIFEST
  for (const fs::path& file : files) {
    const auto size = static_cast<std::streamoff>(fs::file_size(file));
    for (const std::streamoff place : {std::streamoff{0}, size / 2, size - 1}) {
      model.save(directory_);
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(place);
      const int byte = stream.get();
      stream.seekp(place);
      stream.put(static_cast<char>(byte ^ 0x10));
      stream.close();
      EXPECT_EQ(refusal().fault, Fault::kBadData) << file << " byte " << place;
    }
    model.save(directory_);
    fs::resize_file(file, static_cast<std::uintmax_t>(size - 1));
    EXPECT_EQ(refusal().fault, Fault::kBadData) << file << " cut";
    fs::remove(file);
    EXPECT_EQ(refusal().fault, file.filename() == "MANIFEST" ? Fault::kNoInput : Fault::kBadData) << file << " gone";
  }
}

// The checksums are valid, but the content is not that of a model.
TEST_F(ModelFiles, AreReadWholeWhileTheyAreReplaced) {
  const Model models[] = {trained_model(random_lines({.seed = 1}), small_model(10)),
                          trained_model(random_lines({.seed = 2}), small_model(10))};
  const auto known = ::testing::AnyOf(digests_of(models[0]), digests_of(models[1]));
  models[0].save(directory_);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::size_t i = 1; !done; ++i) models[i % 2].save(directory_);
  });
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    EXPECT_NO_THROW(EXPECT_THAT(digests_of(Model::load(directory_)), known)) << "load " << i;
  }
  done = true;
  writer.join();
}

TEST_F(ModelFiles, OfKilledWritersGoWithTheNextSave) {
  const fs::path above = directory_.parent_path();
  const std::string name = directory_.filename();
  for (const char* end : {".tmp-0000000017", ".old.tmp-0000000018"})
    fs::create_directories(above / (name + end) / "blobs");
  fs::create_directories(above / (name + "-other.tmp-0000000017"));
  trained_model(random_lines({}), small_model(10)).save(directory_ / "");
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(above)) left.insert(entry.path().filename());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre(name, name + "-other.tmp-0000000017"));
}

TEST_F(ModelFiles, ThatMakeNoSenseAreRefused) {
  const Model model = trained_model(random_lines({}));
  for (const std::string name : {"options", "tree", "features", "weights"}) {
    model.save(directory_);
    const ByteVector good = blob(name);
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 1}) {
      replace_blob(name, ByteVector(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
      EXPECT_EQ(refusal().fault, Fault::kBadData) << name << " of " << length << " bytes";
    }
    replace_blob(name, ByteVector(good.size(), std::byte{0xff}));
    EXPECT_EQ(refusal().fault, Fault::kBadData) << name << " of ones";
  }
}

TEST_F(ModelFiles, WithForgedContentAreRefused) {
  struct Forgery {
    const char* blob;
    std::function<void(ByteVector&)> change;
    const char* reason;
  };
  const auto zero_alpha = [](ByteVector& options) {
    // Byte order, which options follow, method, arity, tree, calibrate, rarity; then alpha.
    std::fill_n(options.begin() + 10, sizeof(double), std::byte{0});
  };
  const auto rename_a_label = [](ByteVector& tree) {
    const std::string label = "label-7";
    const auto name = std::as_bytes(std::span(label));
    const auto found = std::search(tree.begin(), tree.end(), name.begin(), name.end());
    ASSERT_NE(found, tree.end());
    *found = std::byte{'L'};
  };
  const Forgery forgeries[] = {
      {"options", zero_alpha, "options make no sense: --alpha is 0"},
      {"tree", rename_a_label, "does not match its digest"},
      // The number of the first run of rows, after the partition and the number of its runs.
      {"weights", [](ByteVector& weights) { weights[8] = std::byte{77}; }, "beyond its region"},
      {"weights", [](ByteVector& weights) { weights.resize(weights.size() + 8); }, "more weights than its table"},
  };
  for (const Forgery& forgery : forgeries) {
    SCOPED_TRACE(forgery.reason);
    trained_model(random_lines({})).save(directory_);
    ByteVector content = blob(forgery.blob);
    forgery.change(content);
    replace_blob(forgery.blob, content);
    EXPECT_EQ(refusal().fault, Fault::kBadData);
    EXPECT_THAT(refusal().text, HasSubstr(forgery.reason));
  }
}

TEST_F(ModelFiles, OfTwoModelsAreRefused) {
  trained_model(random_lines({}), small_model(16)).save(directory_);
  const ByteVector weights = blob("weights");
  trained_model(random_lines({}), small_model(10)).save(directory_);
  replace_blob("weights", weights);
  EXPECT_EQ(refusal().fault, Fault::kBadData);
  EXPECT_THAT(refusal().text, HasSubstr("weights of partition"));
}

}  // namespace
}  // namespace cpt
