// Text files that give a tree or labels. The first byte says which, the others are the file. What is read is a tree of
// distinct labels, or distinct labels.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/options/given_tree_files.h"
#include "cpt/error.h"
#include "data/in_memory.h"
#include "data/text/label_list.h"
#include "data/text/line_reader.h"
#include "model/learning/learner.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_tree(cpt::TreeSource::Kind kind, cpt::ListFile& file) {
  cpt::ModelOptions options;
  options.bits = cpt::kLeastBits;
  cpt::Learner learner(options);
  const std::vector<cpt::TreeChange> changes = cpt::read_given_tree(kind, file);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    require(i == 0 ? changes[i].splits.at(0) == cpt::kNoLabel : changes[i].splits.at(0) < i);
    require(learner.apply(changes[i]) == i);
  }
}

void read_labels(cpt::ListFile& file) {
  const std::vector<std::string> labels = cpt::read_label_list(file);
  require(!labels.empty() && std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span text(reinterpret_cast<const char*>(data) + 1, size - 1);
  cpt::ListFile file("list", std::make_unique<cpt::InMemory>(text));
  try {
    switch (data[0] % 3) {
      case 0:
        read_tree(cpt::TreeSource::Kind::kTree, file);
        break;
      case 1:
        read_tree(cpt::TreeSource::Kind::kCounts, file);
        break;
      default:
        read_labels(file);
    }
  } catch (const cpt::Error& error) {
    require(error.fault() == cpt::Fault::kBadData);
  }
  return 0;
}
