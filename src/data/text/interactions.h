// Crosses of the features of two namespaces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/input_limits.h"
#include "cpt/example.h"
#include "data/format/read_options.h"

namespace cpt {

// Collects the namespaces of a line, then adds their crosses to its open example. Not thread-safe.
class Interactions {
 public:
  // Throws Error(kUsage) for what crossed_names() refuses. The options must outlive it.
  explicit Interactions(const ReadOptions& options);

  bool none() const { return options_.interactions.empty(); }
  void begin_line() { segments_.clear(), names_.clear(); }
  // The next features belong to this namespace.
  void begin_name_space(std::string_view name, const Batch& batch);
  // Call it for each feature if ReadOptions::on_feature is set: the names of crosses are made of these names.
  void add_name(std::string_view name) { names_.push_back(name); }
  // "ab": each feature of namespaces that start with 'a' times each of those that start with 'b'. "user:page": likewise
  // of these two namespaces. "aa" and "user:user": each unordered pair of different features once. The value of a cross
  // is the product of the values. Throws ParseError for a product above kMaxValue in size or too many features.
  void add_crosses(Batch& batch);

 private:
  struct Segment {
    std::string name;   // only its first byte if no interaction is of whole names
    std::size_t first;  // index of an open feature
    std::size_t last;   // one past the last
  };

  void cross(const std::string& pair, const CrossedNames& names, Batch& batch) const;
  void add_cross(std::size_t i, std::size_t j, const std::string& pair, Batch& batch) const;

  const ReadOptions& options_;
  std::vector<CrossedNames> crossed_;  // parallel to the interactions of the options
  bool any_whole_ = false;             // of them
  std::vector<Segment> segments_;
  std::vector<std::string_view> names_;
};

}  // namespace cpt
