// How input is read: the options of the user, and the limits of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input_limits.h"  // kMaxValue
#include "cpt/example.h"
#include "cpt/input.h"
#include "cpt/options.h"

namespace cpt {

// The order in which the lines of several shards are read.
enum class ShardOrder : std::uint8_t {
  kInterleaved,  // line i of every shard before line i + 1 of any, counting only lines that hold an example
  kSequential,   // one shard after another
};

struct ReadOptions {
  Format format = Format::kAuto;
  // With kAuto: the text format of a shard whose first line is in none that is recognised. If kAuto, that is an error.
  Format fallback_format = Format::kAuto;
  // The names of the columns of tables that have no header; kAuto then takes all text for kCsv. If empty, the first
  // line of each table names them.
  std::vector<std::string> columns = {};
  // If not empty: a table none of whose columns is one of these is refused.
  std::vector<std::string> known_columns = {};
  MultiLabel multilabel = MultiLabel::kFirst;
  std::uint64_t seed = 1;  // of feature hashes and of MultiLabel::kSample
  // Each: the first bytes of the names of two namespaces (vw, json and csv only).
  std::vector<std::string> interactions = {};
  std::vector<std::string> ngrams = {};  // see parse_ngrams()
  FieldRoles fields = {};
  Normalize normalize = Normalize::kNone;
  bool skip_bad_lines = false;    // else the first bad line is an error
  bool labels_required = true;    // else a line may have no label; its example then has an empty one
  bool weights_required = false;  // if so, a line of importance 0 holds no example
  bool every_line = false;        // ExampleStream::read() also returns for a line of text that holds no example
  // With every_line and skip_bad_lines: InputLine::error says what is wrong with a bad line, which is neither counted
  // nor warned of.
  bool answer_bad_lines = false;
  // If set, a line with a label for which it returns false is a bad line. Called by the thread that reads.
  std::function<bool(std::string_view label)> knows_label = {};
  std::string format_advice = {};  // ends the error about lines whose format is not recognised
  bool is_of_model = false;        // a model has set what read_options_of() sets, so no message advises other values
  ShardOrder order = ShardOrder::kInterleaved;
  // If set, called for each feature (crosses included) of each line, even one that is rejected later, by the thread
  // that reads. The texts are valid during the call only.
  std::function<void(FeatureHash, std::string_view name_space, std::string_view name)> on_feature = {};
  // Likewise called for each key of a JSON line, and each column of a table, that `fields` names; not for the key of
  // the label.
  std::function<void(std::string_view key)> on_named_key = {};
  // Likewise called for each line with several labels.
  std::function<void()> on_several_labels = {};
};

// The options by which a model makes examples of lines; the caller sets the others.
inline ReadOptions read_options_of(const ModelOptions& model) {
  return {.seed = model.seed,
          .interactions = model.interactions,
          .ngrams = model.ngrams,
          .fields = model.fields,
          .normalize = model.normalize};
}

// Lane 0 of a row sums squares in a float (model/weights/kernels.h). An error is at most the importance, so a block of
// 15 regressors adds at most 1.5e25; and a float that has grown to 2^25 times its increment, 5e32, stops growing. That
// leaves a factor of 6e5 for sums over replicas.
inline constexpr double kMaxImportance = 1e12;

// Whether an importance above 0 is 0 as an example keeps it.
inline bool rounds_to_zero(double importance) { return importance > 0 && static_cast<float>(importance) == 0; }

// Bytes of a line, without its end.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

// Features of all examples of a line, crosses included: crosses of a few thousand features would otherwise fill the
// memory.
inline constexpr std::size_t kMaxLineFeatures = std::size_t{1} << 24;

// Expectations in messages that several readers share.
inline constexpr const char* kImportanceExpected = "an importance from 0 to 1e12";
inline constexpr const char* kImportanceNotZero = "an importance of at least 1e-45, unless it is 0";
inline constexpr const char* kLabelExpected = "a label";
inline constexpr const char* kKnownLabelExpected = "one of the labels that the run was begun with";

}  // namespace cpt
