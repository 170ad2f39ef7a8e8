// N-grams: adjacent words of a namespace as one feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ngram_options.h"
#include "cpt/example.h"
#include "data/format/read_options.h"
#include "data/text/interactions.h"

namespace cpt {

// Collects the words of a namespace as they are parsed, then adds its n-grams to the open example. An n-gram is the
// same feature as a word that consists of the n words, joined by kNgramSeparator. Not thread-safe.
class Ngrams {
 public:
  // The options must outlive it. Throws as parse_ngrams().
  explicit Ngrams(const ReadOptions& options) : options_(options), all_(parse_ngrams(options.ngrams)) {}

  bool none() const { return all_.empty(); }

  // Drops what an exception has left of another line.
  void begin_line() { names_.clear(), most_ = 0; }
  // The next words belong to this namespace; `value`: of a word without a value of its own. `is_text`: they are words
  // of a text, whatever their namespace is called.
  void begin_name_space(std::string_view name, std::uint64_t hash, double value, bool is_text);
  // Whether n-grams of the words of this namespace are wanted.
  bool collects() const { return most_ > 0; }
  void add_word(std::string_view word);
  // Ends the namespace. `interactions`, if not null, gets the names of the n-grams under ReadOptions::on_feature.
  // Throws ParseError for too many features.
  void end_name_space(Batch& batch, Interactions* interactions = nullptr);

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  std::size_t most_of(std::string_view name_space, bool is_text) const;
  void add_ngram(std::string_view name, Batch& batch, Interactions* interactions);

  const ReadOptions& options_;
  std::vector<NgramOption> all_;

  // Of the current namespace:
  std::string name_space_;
  std::uint64_t hash_ = 0;
  float value_ = 1;
  std::size_t most_ = 0;      // words in an n-gram; 0: none are wanted
  std::string joined_;        // all words, so each n-gram is a part of it
  std::vector<Range> words_;  // where each lies in joined_

  std::deque<std::string> names_;  // of the line, for crosses; only under ReadOptions::on_feature
};

// Throws Error(kUsage) if the options ask for n-grams of words that lines of this format do not have.
void require_words(Format format, const ReadOptions& options);

}  // namespace cpt
