// Events of a synthetic log as lines of text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/format/read_options.h"
#include "synthetic/web_ads.h"

namespace cpt {

// Appends one line and its end: the ad is the label, the words are the features, their counts the values.
//   vw        ad17 |page w5 w9:2
//   libsvm    17 5:1 9:2
//   fasttext  __label__ad17 w5 w9 w9
// `format` is one of these; words ascend.
void append_line(Format format, std::uint64_t ad, std::span<const WordCount> words, std::string& text);

}  // namespace cpt
