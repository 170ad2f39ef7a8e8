// A text file that lists labels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/text/line_reader.h"

namespace cpt {

// One label per line, in this order; empty lines are skipped. Throws Error(kNoInput) if the file cannot be read,
// Error(kBadData) with file:line if a label occurs twice or has a space, if a line has more than 16 MiB, and if there
// is no label.
std::vector<std::string> read_label_list(const std::filesystem::path& file);
std::vector<std::string> read_label_list(ListFile& file);

}  // namespace cpt
