// "label index:value ..." and "l1,l2,... index:value ...".
#pragma once

#include <string_view>
#include <vector>

#include "cpt/hashing.h"
#include "data/format/label_choice.h"
#include "data/text/delimiters.h"
#include "data/text/line_parser.h"

namespace cpt {

// Line 1 may be an XMC header, which holds no example. An index is an unsigned integer of up to 64 bits; its decimal
// text without leading zeros is the name of a feature of the empty namespace, so it equals the vw feature of that name.
class LibsvmParser : public LineParser {
 public:
  explicit LibsvmParser(const ReadOptions& options);
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  struct Token;
  class Tokens;

  void split_labels(std::string_view line, std::string_view token);
  void add_feature(std::string_view line, const Token& token, Batch& batch) const;

  const ReadOptions& options_;
  std::uint64_t name_space_;
  LabelChoice label_choice_;
  std::vector<std::string_view> labels_;  // of the line at hand
  Delimiters delimiters_;
};

}  // namespace cpt
