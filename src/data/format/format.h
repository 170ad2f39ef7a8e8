// Which format a line is in.
#pragma once

#include <optional>
#include <string_view>

#include "data/format/read_options.h"

namespace cpt {

inline constexpr std::string_view kFasttextLabelPrefix = "__label__";

// "N F L", three unsigned integers: examples, features and labels of a file of the extreme classification repository.
bool is_xmc_header(std::string_view line);

// The name of a compression that is known but not read, by the first bytes of a content: eight are enough. Empty if it
// is none.
std::string_view foreign_compression(std::string_view beginning);
// Whether it may turn out to be one once more bytes are there.
bool may_be_foreign_compression(std::string_view beginning);

// By the look of a shard's first line that is not blank: "__label__..." is fasttext, a '|' anywhere is vw, an optional
// label and then only index:... (at least one), or an XMC header, is libsvm. Nothing if it is none of them.
std::optional<Format> detect_format(std::string_view line);

}  // namespace cpt
