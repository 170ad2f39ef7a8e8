// Huffman's tree: labels that come often are near the root.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cpt {

// The path of every leaf, as leaf_splits_of() takes them. No full binary tree has a smaller sum of counts[i] times the
// depth of leaf i. The two lightest subtrees become one until one is left, the heavier of the two on the left; of
// equally heavy ones a leaf counts as lighter than a larger subtree, an earlier leaf as lighter than a later one, and
// an older subtree as lighter than a younger one. REQUIRES: every count is at least 1, and their sum is below 2^64.
std::vector<std::string> huffman_paths(std::span<const std::uint64_t> counts);

}  // namespace cpt
