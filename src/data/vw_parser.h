// "label [importance] ['tag]|ns[:scale] feature[:value] ... |ns2 ...".
#pragma once

#include <string_view>

#include "cpt/hashing.h"
#include "data/interactions.h"
#include "data/line_parser.h"

namespace cpt {

// A '|' starts a namespace wherever it stands; its name follows directly, or is empty. The first ':' of a token
// separates name and value. The tag is ignored.
class VwParser : public LineParser {
 public:
  explicit VwParser(const ReadOptions& options);
  bool parse(std::string_view line, Origin origin, Batch& batch) override;

 private:
  struct Header {
    std::string_view label;
    float importance = 1;
  };
  // name[:number]; the number is 1 where none is given
  struct Item {
    std::string_view name;
    std::string_view number_text;
    double number = 1;
  };

  Header parse_header(std::string_view line, std::string_view header) const;
  const char* parse_name_space(std::string_view line, const char* at, Batch& batch);
  static const char* parse_item(std::string_view line, const char* at, Item& item);

  const ReadOptions& options_;
  FeatureHasher hasher_;
  Interactions interactions_;
};

}  // namespace cpt
