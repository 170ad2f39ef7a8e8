// Options of Vowpal Wabbit, fastText, napkinXC and LightGBM, for which error messages name what to use here.
// src/app/MIGRATING.md explains more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cpt {

enum class Program : std::uint8_t { kCpt, kCptDist };

// Makes advice that is meant for cpt_dist, such as "--seed N", fit a command of cpt.
using AdviceFit = std::function<std::string(const std::string& advice)>;

// A message about the first of `words` that is an option of another tool, or of none but typed by habit; empty if none
// is. Pass only words that `program` itself does not understand.
std::string describe_other_tools_option(const std::vector<std::string>& words, Program program,
                                        const AdviceFit& fit = {});

}  // namespace cpt
