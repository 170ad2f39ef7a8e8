// Random examples for tests: the same for the same seed on every machine and with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/hashing/random.h"
#include "cpt/example.h"
#include "cpt/hashing.h"

namespace cpt {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(mix(seed)) {}

  std::uint64_t bits() { return random_.next(); }
  double unit() { return random_.unit(); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  bool chance(double p) { return unit() < p; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }

 private:
  Random random_;
};

struct StreamShape {
  std::uint64_t seed = 1;
  std::size_t examples = 5000;
  std::size_t labels = 500;     // each occurs; they appear at even distances from the first example to the last
  std::size_t vocabulary = 20;  // distinct features
  std::size_t active = 4;       // features of an example, most of them typical of its label
  bool binary = true;           // values are 1; else real, of both signs
  double skew = 3;              // of the labels' popularity; 1 is none
  bool weighted = false;        // importances in [0.1, 4.1) rather than 1
};

inline FeatureHash feature_number(std::size_t i) { return mix(0xfea70000 + i); }
inline std::string label_number(std::size_t i) { return "label-" + std::to_string(i); }

Batch random_stream(const StreamShape& shape);

// A batch of one example without features of its own.
Batch bare_example(const std::string& label, float importance = 1);

}  // namespace cpt
