// Makes an example of a model from a line of text or from the names of features: hashed, crossed and scaled as cpt_dist
// does it when it trains, so that no program hashes by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cpt/error.h"
#include "cpt/example.h"
#include "cpt/input.h"
#include "cpt/options.h"

namespace cpt {

class Model;

// A line, or a list of features, from which no example can be made. what(): "expected ..., found ...".
class BadExample : public Error {
 public:
  BadExample(std::size_t column, const std::string& reason) : Error(Fault::kBadData, reason), column_(column) {}
  // The byte of the line at which it is wrong, from 1; 0 if there was no line.
  std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

// A feature by its name. The texts may hold any bytes, such as blanks, which lines of text cannot express.
struct NamedFeature {
  std::string_view name_space;  // empty: that of libsvm and fasttext lines, and of vw lines that name none
  std::string_view name;        // a number is written in decimal, without leading zeros: "42" is the libsvm feature 42
  double value = 1;             // at most 1e30 in size; 0 is as good as no feature
  bool is_word = true;          // whether n-grams may hold it; false for a number, or a color
};

// Reads examples of one model. Keeps memory between calls, so it is for one thread at a time. No example influences
// another, except that the first line that can be read decides the format.
class ExampleReader {
 public:
  // Of the options it uses seed, interactions, ngrams, normalize and fields. kAuto: the first line that is not blank
  // and can be read decides, as in a file, but never for kCsv. With kCsv, the first line that is not blank is the
  // header. kSample draws by the number of the line. Throws Error(kUsage) for kBinary, which is no text, and for
  // interactions and n-grams that ModelOptions::validate() refuses.
  explicit ExampleReader(const ModelOptions& options, Format format = Format::kAuto,
                         MultiLabel multilabel = MultiLabel::kFirst);
  // The same with the options of a model. If the model knows that it was trained on vw, libsvm, fasttext or json, by
  // cpt_dist or train(), a first line of no format that is recognised, such as the words of a text without a label, has
  // that format. Does not refer to the model later.
  explicit ExampleReader(const Model& model, Format format = Format::kAuto, MultiLabel multilabel = MultiLabel::kFirst);
  ExampleReader(ExampleReader&&) noexcept;
  ExampleReader& operator=(ExampleReader&&) noexcept;
  ~ExampleReader();

  // An empty batch that scales as the model does. All examples go into such batches: read_line() and add() throw
  // Error(kUsage) for one that scales otherwise.
  Batch make_batch() const;

  // Appends the example of a line, with or without its end (a byte order mark before the first one is skipped), and
  // returns the number of examples: 0 for a blank line and for a header, several for MultiLabel::kSplit. A line without
  // a label makes an example with an empty one, which can be predicted. A record of kCsv may hold line breaks. Throws
  // BadExample, and then the batch is as it was; Error(kUsage) if the options do not suit the format: interactions
  // where it has no namespaces, n-grams where it has no such words, a field with two roles, or a header without a
  // column that the model reads as text or as categorical.
  [[nodiscard]] std::size_t read_line(std::string_view line, Batch& batch);
  // The format of the lines; kAuto until one decided.
  Format format() const;
  // The number of calls of read_line(), those with blank and bad lines included.
  std::uint64_t lines() const;

  // Appends the example that has these features, the n-grams of their words and the crosses of their namespaces, as the
  // line does that has them in this order: words that follow one another in one namespace make n-grams. All text, for
  // n-grams, is that of the keys of the model that hold text; without such keys, that of the empty namespace, as in
  // fasttext lines. Repeated features add up. `label` may be empty. Throws BadExample, and then the batch is as it was,
  // for a value above 1e30 in size, an importance outside [0, 1e12] or so small that it is 0 as a float, more features
  // than a line may have (2^24, all included), a label of more than 16 MiB, and a cross above 1e30.
  void add(std::span<const NamedFeature> features, std::string_view label, double importance, Batch& batch);

  // Sets a function that is called for each feature (crosses included) while it is read, to know the names of hashes.
  // The texts are valid during the call only.
  void on_feature(std::function<void(FeatureHash feature, std::string_view name_space, std::string_view name)> call);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cpt
