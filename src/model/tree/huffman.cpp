#include "model/tree/huffman.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace cpt {

namespace {

// Subtrees are numbered as they arise: leaves by weight, then those that were made of two, whose weights only grow. So
// the lightest of all is the first that is left of either kind.
class Merger {
 public:
  explicit Merger(std::vector<std::uint64_t> leaf_weights)
      : leaves_(leaf_weights.size()), weights_(std::move(leaf_weights)), next_merged_(leaves_) {
    parents_.resize(2 * leaves_ - 1);
    sides_.resize(2 * leaves_ - 1);
    while (weights_.size() < 2 * leaves_ - 1) merge();
  }

  std::string path(std::size_t leaf) const {
    std::string path;
    for (std::size_t at = leaf; at != weights_.size() - 1; at = parents_[at]) path += sides_[at];
    std::ranges::reverse(path);
    return path;
  }

 private:
  void merge() {
    const std::size_t lighter = take();
    const std::size_t heavier = take();
    sides_[lighter] = '1';
    sides_[heavier] = '0';
    parents_[lighter] = parents_[heavier] = weights_.size();
    weights_.push_back(weights_[lighter] + weights_[heavier]);
  }

  std::size_t take() {
    const bool is_leaf =
        next_merged_ == weights_.size() || (next_leaf_ < leaves_ && weights_[next_leaf_] <= weights_[next_merged_]);
    return is_leaf ? next_leaf_++ : next_merged_++;
  }

  std::size_t leaves_;
  std::vector<std::uint64_t> weights_;
  std::size_t next_leaf_ = 0;
  std::size_t next_merged_;
  std::vector<std::size_t> parents_;
  std::vector<char> sides_;
};

}  // namespace

std::vector<std::string> huffman_paths(std::span<const std::uint64_t> counts) {
  std::vector<std::string> paths(counts.size());
  if (counts.empty()) return paths;
  std::vector<std::size_t> by_weight(counts.size());
  std::iota(by_weight.begin(), by_weight.end(), std::size_t{0});
  std::ranges::stable_sort(by_weight, {}, [&](std::size_t leaf) { return counts[leaf]; });
  std::vector<std::uint64_t> weights;
  for (const std::size_t leaf : by_weight) weights.push_back(counts[leaf]);
  const Merger merger(std::move(weights));
  for (std::size_t i = 0; i < by_weight.size(); ++i) paths[by_weight[i]] = merger.path(i);
  return paths;
}

}  // namespace cpt
