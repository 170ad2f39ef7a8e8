// "__label__NAME word word ...".
#pragma once

#include <string_view>
#include <vector>

#include "cpt/hashing.h"
#include "data/format/label_choice.h"
#include "data/text/delimiters.h"
#include "data/text/line_parser.h"

namespace cpt {

// Every token that starts with "__label__" is a label, wherever it stands; every other one is a feature of the empty
// namespace with value 1. Repeated words add up.
class FasttextParser : public LineParser {
 public:
  explicit FasttextParser(const ReadOptions& options);
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  const ReadOptions& options_;
  std::uint64_t name_space_;
  LabelChoice label_choice_;
  std::vector<std::string_view> labels_;  // of the line at hand
  Delimiters delimiters_;
};

}  // namespace cpt
