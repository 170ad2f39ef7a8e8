#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "api/input_fit.h"
#include "core/input_limits.h"
#include "core/ngram_options.h"
#include "core/number_text.h"
#include "cpt/hashing.h"
#include "cpt/model.h"
#include "cpt/reader.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/parsers/line_parser.h"
#include "data/text/interactions.h"
#include "data/text/ngrams.h"

namespace cpt {

struct ExampleReader::State {
  explicit State(ReadOptions read_options)
      : options(std::move(read_options)), hasher(options.seed), interactions(options), ngrams(options) {}

  void require_scaling_of(const Batch& batch) const;
  Format format_of(std::string_view line) const;
  void add_features(std::span<const NamedFeature> features, Batch& batch);
  void begin_words(const NamedFeature& first, std::uint64_t name_space, Batch& batch);
  void end_words(Batch& batch) {
    if (ngrams.collects()) ngrams.end_name_space(batch, &interactions);
  }

  ReadOptions options;
  FeatureHasher hasher;
  Interactions interactions;
  Ngrams ngrams;
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

std::string_view without_byte_order_mark(std::string_view line) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  return line;
}

void check_feature(const NamedFeature& feature) {
  if (std::abs(feature.value) <= kMaxValue) return;  // NaN is not
  throw BadExample(0, "expected a number of at most 1e30 in size, found " + number_text(feature.value) +
                          " as feature " + quote(feature.name));
}

}  // namespace

void ExampleReader::State::require_scaling_of(const Batch& batch) const {
  if (batch.normalize() == options.normalize) return;
  throw Error(Fault::kUsage, "expected a batch that scales values as the model does, as make_batch() makes it");
}

Format ExampleReader::State::format_of(std::string_view line) const {
  if (format != Format::kAuto) return format;
  if (const std::optional<Format> detected = detect_format(line)) return *detected;
  if (options.fallback_format != Format::kAuto) return options.fallback_format;
  throw BadExample(1, "expected " + std::string(kLineExpected) + ", found " + quote(line));
}

void ExampleReader::State::begin_words(const NamedFeature& first, std::uint64_t name_space, Batch& batch) {
  end_words(batch);
  if (!first.is_word || ngrams.none()) return;
  const std::vector<std::string>& text = options.fields.text;
  // Without keys of text, all text of the model is that of fasttext lines.
  const bool is_text =
      text.empty() ? first.name_space.empty() : std::ranges::find(text, first.name_space) != text.end();
  ngrams.begin_name_space(first.name_space, name_space, 1, is_text);
}

void ExampleReader::State::add_features(std::span<const NamedFeature> features, Batch& batch) {
  interactions.begin_line();
  ngrams.begin_line();
  const NamedFeature* before = nullptr;
  std::uint64_t name_space = 0;
  for (const NamedFeature& feature : features) {
    const bool continues = before != nullptr && before->name_space == feature.name_space;
    if (!continues) {
      end_words(batch);
      name_space = hasher.name_space(feature.name_space);
      interactions.begin_name_space(feature.name_space, batch);
    }
    if (!continues || before->is_word != feature.is_word) begin_words(feature, name_space, batch);
    before = &feature;
    const FeatureHash hash = hasher.feature(name_space, feature.name);
    batch.add_feature(hash, static_cast<float>(feature.value));
    if (ngrams.collects()) ngrams.add_word(feature.name);
    if (!options.on_feature) continue;
    options.on_feature(hash, feature.name_space, feature.name);
    interactions.add_name(feature.name);
  }
  end_words(batch);
  if (!interactions.none()) interactions.add_crosses(batch);
}

ExampleReader::ExampleReader(const Model& model, Format format, MultiLabel multilabel)
    : ExampleReader(model.options(), format, multilabel) {
  state_->options.fallback_format = line_format_of(model.learner());
}

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
  if (state.lines == 1) line = without_byte_order_mark(line);
  const std::size_t line_end = line.find('\n');
  if (line_end != std::string_view::npos && state.format != Format::kCsv) {
    throw BadExample(line_end + 1, "expected one line, found several");
  }
  if (line.size() > kMaxLineBytes) {
    throw BadExample(1, "expected a line of at most " + std::to_string(kMaxLineBytes) + " bytes, found " +
                            std::to_string(line.size()));
  }
  if (is_blank_line(line)) return 0;
  state.require_scaling_of(batch);
  const std::size_t before = batch.size();
  try {
    const Format format = state.format_of(line);
    std::unique_ptr<LineParser> first;
    if (!state.parser && format == Format::kCsv) {
      state.parser = make_csv_parser(line, state.options);
      return 0;
    }
    if (!state.parser) first = make_line_parser(format, state.options);
    LineParser& parser = first ? *first : *state.parser;
    parser.parse(line, Origin{.line = state.lines, .position = state.lines - 1}, batch);
    // Not before: a line that is refused must not decide how the next ones are read.
    if (first) state.parser = std::move(first);
    state.format = format;
  } catch (const ParseError& error) {
    batch.discard_example();
    throw BadExample(error.column(), error.what());
  } catch (...) {
    batch.discard_example();
    throw;
  }
  return batch.size() - before;
}

void ExampleReader::add(std::span<const NamedFeature> features, std::string_view label, double importance,
                        Batch& batch) {
  State& state = *state_;
  if (!(importance >= 0 && importance <= kMaxImportance)) {
    throw BadExample(0, std::string("expected ") + kImportanceExpected + ", found " + number_text(importance));
  }
  if (rounds_to_zero(importance)) {
    throw BadExample(0, std::string("expected ") + kImportanceNotZero + ", found " + number_text(importance));
  }
  if (label.size() > kMaxLineBytes || features.size() > kMaxLineFeatures) {
    throw BadExample(0, "expected a label and features of the size of a line, found " +
                            std::to_string(features.size()) + " features and a label of " +
                            std::to_string(label.size()) + " bytes");
  }
  for (const NamedFeature& feature : features) check_feature(feature);
  state.require_scaling_of(batch);
  try {
    state.add_features(features, batch);
  } catch (const ParseError& error) {
    batch.discard_example();
    throw BadExample(0, error.what());
  } catch (...) {
    batch.discard_example();
    throw;
  }
  batch.finish_example(label, static_cast<float>(importance), {});
}

void ExampleReader::on_feature(
    std::function<void(FeatureHash feature, std::string_view name_space, std::string_view name)> call) {
  state_->options.on_feature = std::move(call);
}

}  // namespace cpt
