#include "train/progress/warning_text.h"

#include <string_view>

namespace cpt {

std::string join_warnings(const Communicator& comm, const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) {
    text += rank_and_host(comm, comm.rank());
    text += ": " + warning + "\n";
  }
  return text;
}

std::vector<std::string> split_warnings(ConstBytes bytes) {
  std::vector<std::string> lines;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

}  // namespace cpt
