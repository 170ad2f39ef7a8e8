#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/input_limits.h"
#include "core/ngram_options.h"
#include "core/number_text.h"
#include "cpt/hashing.h"
#include "cpt/reader.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/parsers/line_parser.h"
#include "data/text/interactions.h"

namespace cpt {

struct ExampleReader::State {
  explicit State(ReadOptions read_options)
      : options(std::move(read_options)), hasher(options.seed), interactions(options) {}

  ReadOptions options;
  FeatureHasher hasher;
  Interactions interactions;
  std::unique_ptr<LineParser> parser;
  Format format = options.format;  // kAuto: not yet known
  std::uint64_t lines = 0;
};

namespace {

std::string_view without_line_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Format detected(std::string_view line) {
  if (const std::optional<Format> format = detect_format(line)) return *format;
  throw BadExample(1, "expected " + std::string(kLineExpected) + ", found " + quote(line));
}

void check_feature(const NamedFeature& feature) {
  if (std::abs(feature.value) <= kMaxValue) return;  // NaN is not
  throw BadExample(0, "expected a number of at most 1e30 in size, found " + number_text(feature.value) +
                          " as feature " + quote(feature.name));
}

}  // namespace

ExampleReader::ExampleReader(const ModelOptions& options, Format format, MultiLabel multilabel) {
  if (format == Format::kBinary) throw Error(Fault::kUsage, "a line of text cannot have the binary format");
  require_pairs(options.interactions);
  parse_ngrams(options.ngrams);
  ReadOptions read = read_options_of(options);
  read.format = format;
  read.multilabel = multilabel;
  read.labels_required = false;
  state_ = std::make_unique<State>(std::move(read));
}

ExampleReader::ExampleReader(ExampleReader&&) noexcept = default;
ExampleReader& ExampleReader::operator=(ExampleReader&&) noexcept = default;
ExampleReader::~ExampleReader() = default;

Batch ExampleReader::make_batch() const { return Batch(state_->options.normalize); }
Format ExampleReader::format() const { return state_->format; }
std::uint64_t ExampleReader::lines() const { return state_->lines; }

std::size_t ExampleReader::read_line(std::string_view line, Batch& batch) {
  State& state = *state_;
  ++state.lines;
  line = without_line_end(line);
  const std::size_t line_end = line.find('\n');
  if (line_end != std::string_view::npos && state.format != Format::kCsv) {
    throw BadExample(line_end + 1, "expected one line, found several");
  }
  if (line.size() > kMaxLineBytes) {
    throw BadExample(1, "expected a line of at most " + std::to_string(kMaxLineBytes) + " bytes, found " +
                            std::to_string(line.size()));
  }
  if (is_blank_line(line)) return 0;
  if (state.format == Format::kAuto) state.format = detected(line);
  const std::size_t before = batch.size();
  try {
    if (!state.parser && state.format == Format::kCsv) {
      state.parser = make_csv_parser(line, state.options);
      return 0;
    }
    if (!state.parser) state.parser = make_line_parser(state.format, state.options);
    state.parser->parse(line, Origin{.line = state.lines, .position = state.lines - 1}, batch);
  } catch (const ParseError& error) {
    batch.discard_example();
    throw BadExample(error.column(), error.what());
  }
  return batch.size() - before;
}

void ExampleReader::add(std::span<const NamedFeature> features, std::string_view label, double importance,
                        Batch& batch) {
  State& state = *state_;
  if (!(importance >= 0 && importance <= kMaxImportance)) {
    throw BadExample(0, std::string("expected ") + kImportanceExpected + ", found " + number_text(importance));
  }
  if (label.size() > kMaxLineBytes || features.size() > kMaxLineFeatures) {
    throw BadExample(0, "expected a label and features of the size of a line, found " +
                            std::to_string(features.size()) + " features and a label of " +
                            std::to_string(label.size()) + " bytes");
  }
  for (const NamedFeature& feature : features) check_feature(feature);
  state.interactions.begin_line();
  const NamedFeature* before = nullptr;
  std::uint64_t name_space = 0;
  for (const NamedFeature& feature : features) {
    if (before == nullptr || before->name_space != feature.name_space) {
      name_space = state.hasher.name_space(feature.name_space);
      state.interactions.begin_name_space(feature.name_space, batch);
    }
    before = &feature;
    const FeatureHash hash = state.hasher.feature(name_space, feature.name);
    batch.add_feature(hash, static_cast<float>(feature.value));
    if (state.options.on_feature) {
      state.options.on_feature(hash, feature.name_space, feature.name);
      state.interactions.add_name(feature.name);
    }
  }
  try {
    if (!state.interactions.none()) state.interactions.add_crosses(batch);
  } catch (const ParseError& error) {
    batch.discard_example();
    throw BadExample(0, error.what());
  }
  batch.finish_example(label, static_cast<float>(importance), {});
}

void ExampleReader::on_feature(
    std::function<void(FeatureHash feature, std::string_view name_space, std::string_view name)> call) {
  state_->options.on_feature = std::move(call);
}

}  // namespace cpt
