// A small model that has learned some vw lines, in one call.
#pragma once

#include <sstream>
#include <string>

#include "cpt/model.h"
#include "data/parsers/line_parser.h"
#include "train/job.h"

namespace cpt {

inline ModelOptions small_model(int bits = 14) {
  ModelOptions options;
  options.bits = bits;
  return options;
}

// The examples of vw lines.
inline Batch parse(const std::string& lines) {
  const ReadOptions options;
  const auto parser = make_line_parser(Format::kVw, options);
  Batch batch;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) parser->parse(line, {}, batch);
  return batch;
}

inline Model trained_model(const std::string& lines, const ModelOptions& options = small_model()) {
  Model model(options);
  const Batch batch = parse(lines);
  for (std::size_t i = 0; i < batch.size(); ++i) model.learn(batch[i]);
  return model;
}

}  // namespace cpt
