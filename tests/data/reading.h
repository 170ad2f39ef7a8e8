// Text in, examples out: the little language of the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cpt/error.h"
#include "cpt/example.h"
#include "cpt/hashing.h"
#include "data/parsers/line_parser.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

using Features = std::map<FeatureHash, float>;

// What a Batch holds, by value and without the constant feature.
struct Read {
  std::string label;
  Features x;
  float importance = 1;
  std::uint32_t shard = 0;
  std::uint64_t line = 0;

  bool operator==(const Read&) const = default;
};

inline Read copy_of(const ExampleView& view) {
  Read read{std::string(view.label), {}, view.importance, view.origin.shard, view.origin.line};
  EXPECT_EQ(view.features[0], kConstantFeature);
  for (std::size_t i = 1; i < view.features.size(); ++i) read.x[view.features[i]] = view.values[i];
  return read;
}

inline std::vector<Read> copies_of(const Batch& batch) {
  std::vector<Read> examples;
  for (std::size_t i = 0; i < batch.size(); ++i) examples.push_back(copy_of(batch[i]));
  return examples;
}

struct Named {
  std::string_view name_space;
  std::string_view name;
  float value = 1;
};

inline FeatureHash hash_of(const Named& feature, std::uint64_t seed = 1) {
  const FeatureHasher hasher(seed);
  return hasher.feature(hasher.name_space(feature.name_space), feature.name);
}

inline Features features(std::initializer_list<Named> named) {
  Features x;
  for (const Named& feature : named) x[hash_of(feature)] += feature.value;
  return x;
}

inline std::vector<Read> parse(Format format, std::string_view line, ReadOptions options = {}, Origin origin = {0, 7}) {
  Batch batch(options.normalize);
  make_line_parser(format, options)->parse(line, origin, batch);
  return copies_of(batch);
}

inline Read parse_one(Format format, std::string_view line, const ReadOptions& options = {}) {
  const std::vector<Read> examples = parse(format, line, options);
  EXPECT_EQ(examples.size(), 1U) << line;
  return examples.empty() ? Read{} : examples[0];
}

inline ExampleStream stream_of(const std::vector<std::string>& paths, ReadOptions options = {}) {
  std::vector<Shard> shards;
  std::vector<std::uint32_t> all;
  for (const std::string& path : paths) {
    all.push_back(static_cast<std::uint32_t>(shards.size()));
    std::error_code is_no_file;
    const auto bytes = std::filesystem::file_size(path, is_no_file);
    shards.push_back({path, is_no_file ? 0 : bytes, path != "-"});
  }
  return {shards, all, std::move(options)};
}

inline std::vector<Read> read_rest(ExampleStream& stream) {
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  return copies_of(batch);
}

inline std::vector<Read> read_all(const std::vector<std::string>& paths, ReadOptions options = {}) {
  ExampleStream stream = stream_of(paths, std::move(options));
  return read_rest(stream);
}

// "a b c"
inline std::string labels_of(const std::vector<Read>& examples) {
  std::string labels;
  for (const Read& read : examples) labels += (labels.empty() ? "" : " ") + read.label;
  return labels;
}

// The reason that `action` throws an Error with, "" if it throws none; its fault must be `fault`.
template <typename Action>
std::string error_of(Fault fault, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "";
}

// The end of the reason against a line of text.
inline std::string read_as(Format format) {
  return "; the line was read as " + describe_format(format) + "; --format chooses another format";
}

inline ReadOptions skipping() { return {.skip_bad_lines = true}; }

// The content with some bits of one byte flipped.
inline std::string flipped(std::string content, std::size_t byte, unsigned bits) {
  content.at(byte) = static_cast<char>(static_cast<unsigned char>(content.at(byte)) ^ bits);
  return content;
}

// Lines first, ..., last - 1: "3 |f x0:1 x1:2 x2:3", with 0 to 6 features.
inline std::string numbered_lines(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) {
    text += std::to_string(i) + " |f";
    for (int j = 0; j < i % 7; ++j) text += " x" + std::to_string(j) + ":" + std::to_string(j + 1);
    text += "\n";
  }
  return text;
}

}  // namespace cpt
