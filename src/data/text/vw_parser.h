// "label [importance] ['tag]|ns[:scale] feature[:value] ... |ns2 ...".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cpt/hashing.h"
#include "data/format/interactions.h"
#include "data/text/delimiters.h"
#include "data/text/line_parser.h"

namespace cpt {

// A '|' starts a namespace wherever it stands; its name follows directly, or is empty. The first ':' of a token
// separates name and value. The tag is ignored; a first token that begins with ' and touches the bar is one.
class VwParser : public LineParser {
 public:
  explicit VwParser(const ReadOptions& options);
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  struct Header {
    std::string_view label;
    float importance = 1;
  };

  Header parse_header(std::string_view line, const char* first_delimiter, const char* bar) const;
  // These are inlined so that the walk stays in registers, which saves a twentieth of the time that reading takes.
  [[gnu::always_inline]] inline const char* parse_name_space(std::string_view line, const char* at, DelimiterWalk& walk,
                                                             Batch& batch);
  [[gnu::always_inline]] static inline double parse_value(std::string_view line, const char*& at, DelimiterWalk& walk,
                                                          std::string_view& text);
  [[gnu::always_inline]] inline std::uint64_t hash_of_name_space(std::string_view name) const;

  const ReadOptions& options_;
  FeatureHasher hasher_;
  std::array<std::uint64_t, 256> short_name_spaces_{};  // hashes of the names of one byte
  Interactions interactions_;
  Delimiters delimiters_;
};

}  // namespace cpt
