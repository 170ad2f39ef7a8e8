// A look at the first lines of a file before it is read: what the parser finds in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/input_profile.h"
#include "cpt/example.h"
#include "data/format/read_options.h"
#include "data/pipeline/feature_check.h"
#include "data/shards/shards.h"

namespace cpt {

// Counts the examples without a feature among the first ones. If they are many, the format is probably the wrong one.
class BareExamples {
 public:
  static constexpr std::uint64_t kMost = 100;  // examples that are looked at

  bool is_full() const { return examples_ == kMost; }
  // `place`: "FILE:LINE".
  void add(const ExampleView& x, const std::string& place);
  // Whether at least half of the examples have no feature.
  bool are_dubious() const { return bare_ > 0 && 2 * bare_ >= examples_; }
  // A warning about examples without a feature. `format`: of the data, kAuto if it is not known.
  std::string warning(Format format) const;

 private:
  std::uint64_t examples_ = 0;
  std::uint64_t bare_ = 0;
  std::string understood_;  // how the first bare example was understood
};

struct FirstLook {
  Format format = Format::kAuto;      // kAuto: nothing was read
  InputProfile profile;               // without its format
  std::vector<FeatureHash> features;  // distinct
  BareExamples bare;
  FeatureCheck check{};
  std::vector<float> importances{};  // of the examples
  std::uint64_t lines = 0;           // that were read
  std::uint64_t several_labels = 0;  // of them: those with several labels
  // vw lines whose label is like those of other formats or tasks: "1,2", "1:0.5", "1:0.5:0.25"
  std::uint64_t lists_as_label = 0;
  std::string list_as_label{};  // the first of them
  // What options name and none of these lines has, such as "the key 'a' of --text-keys".
  std::vector<std::string> missing_keys{};
  std::vector<std::string> missing_ignored{};  // keys and columns of --ignore-keys
  std::vector<std::string> missing_name_spaces{};
  bool begins_with_header = false;  // so it seems: the first example has no feature, and its line is like "label|a|b"

  bool is_dubious() const { return begins_with_header || bare.are_dubious(); }
};

// Reads the first examples of a shard. Returns what was read before an error: the reader of the shard reports it.
// Looks at files only, since a pipe can be read only once.
FirstLook look_at(const Shard& shard, ReadOptions options);

// The warning about one of the missing ones. `input`: the name of the shard.
std::string warning_of_missing(const FirstLook& look, const std::string& input, const std::string& missing);

// The warning about lines with several labels, of which --multilabel first drops all but one.
std::string warning_of_several_labels(const FirstLook& look, const std::string& input);

}  // namespace cpt
