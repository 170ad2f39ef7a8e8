// Features in the first lines of a file that are probably not meant as they are read: values that drown all others, and
// columns of a table that hold both numbers and text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"
#include "data/format/read_options.h"

namespace cpt {

class FeatureCheck {
 public:
  // A feature is huge if its value is above this multiple of the usual one in a tenth of the examples or more. The
  // usual value is the median of the features, or 1, the value of the constant feature, if that is more. With 200
  // labels that follow from one other feature, values from 0 to 30 raise the log loss by a third, from 0 to 300 by four
  // fifths, and a time in seconds by three times. Numbers of some hundreds are often what is meant, so they give no
  // warning.
  static constexpr double kHuge = 500;

  // For ReadOptions::on_feature.
  void add_name(FeatureHash feature, std::string_view name_space, std::string_view name, const ReadOptions& options);
  void add(const ExampleView& x);

  // The warnings. `input`: the name of the file; `format`: of its lines.
  std::vector<std::string> warnings(const std::string& input, Format format) const;

 private:
  struct Seen {
    std::string name_space{};
    std::string name{};  // empty: a binary shard has none
    bool is_cross = false;
    std::vector<float> sizes{};  // of its values
  };
  // A column of a table without a role, or a namespace like one.
  struct Column {
    bool has_numbers = false;
    std::string text;  // the first; empty if there is none
  };

  std::string warning_of_huge(Format format) const;
  std::string warning_of_mixed() const;

  std::uint64_t examples_ = 0;
  std::unordered_map<FeatureHash, Seen> seen_;
  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace cpt
