#include "data/text/list_file.h"

#include <utility>

#include "cpt/error.h"
#include "data/source/file_source.h"

namespace cpt {

ListFile::ListFile(const std::string& path)
    : ListFile(path, std::make_unique<FileSource>(path, std::make_shared<ReadControl>())) {}

ListFile::ListFile(std::string name, std::unique_ptr<ByteSource> source)
    : name_(std::move(name)), lines_(std::move(source)) {}

bool ListFile::next(std::string_view& line) {
  for (;;) {
    const LineReader::Status status = lines_.next(line);
    if (status == LineReader::Status::kEnd) return false;
    if (status == LineReader::Status::kTooLong) refuse("at most 16 MiB in a line", "more");
    if (!line.empty()) return true;
  }
}

void ListFile::refuse(const std::string& expected, const std::string& found) const {
  refuse_at(line(), expected, found);
}

void ListFile::refuse_at(std::uint64_t line, const std::string& expected, const std::string& found) const {
  throw Error(Fault::kBadData, name_ + ":" + std::to_string(line) + ": expected " + expected + ", found " + found);
}

}  // namespace cpt
