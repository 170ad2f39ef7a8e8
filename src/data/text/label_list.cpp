#include "data/text/label_list.h"

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {

std::vector<std::string> read_label_list(const std::filesystem::path& file) {
  std::optional<ListFile> list;
  try {
    list.emplace(file.string());
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kNoInput, file.string() + ": the list of labels cannot be read"));
  }
  return read_label_list(*list);
}

std::vector<std::string> read_label_list(ListFile& file) {
  std::vector<std::string> labels;
  std::unordered_map<std::string, std::uint64_t> lines;
  for (std::string_view line; file.next(line);) {
    if (line.find_first_of(" \t") != std::string_view::npos) file.refuse("one label", quote(line));
    const auto [known, is_new] = lines.emplace(line, file.line());
    if (!is_new) {
      file.refuse("one label", quote(line) + ", which was listed before, on line " + std::to_string(known->second));
    }
    labels.emplace_back(line);
  }
  if (labels.empty()) file.refuse_at(1, "a label", "none: the list of labels is empty");
  return labels;
}

}  // namespace cpt
