// Random shards with all that lies between good lines, and their examples in full.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "cpt/hashing.h"
#include "cpt/input.h"
#include "data/packed.h"

namespace cpt {

// All of an example, by value.
struct WholeExample {
  std::string label;
  float importance = 1;
  std::vector<FeatureHash> features;
  std::vector<float> values;
  Origin origin;

  bool operator==(const WholeExample&) const = default;
};

inline WholeExample whole(const ExampleView& x) {
  return {std::string(x.label),
          x.importance,
          {x.features.begin(), x.features.end()},
          {x.values.begin(), x.values.end()},
          x.origin};
}

class RandomShards {
 public:
  explicit RandomShards(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t end) {
    state_ = mix(state_ + 1);
    return (state_ >> 16) % end;
  }

  // So many lines: examples of one or more labels, blank lines, and bad ones (which would be good ones of another
  // format), ending in LF or CRLF, the last one perhaps in nothing. The first that is not blank tells the format.
  std::string text(Format format, std::uint64_t lines) {
    std::string text;
    bool told = false;
    for (std::uint64_t i = 0; i < lines; ++i) {
      const std::uint64_t kind = below(8);
      if (format == Format::kLibsvm && kind == 0) {
        text += told ? "3 10 5" : "";  // a header, but not in the first line
      } else if (kind == 1) {
        text += below(2) == 0 ? "" : " \t";
      } else if (kind == 2 && told) {
        text += bad_line(format);
      } else {
        text += good_line(format);
        told = true;
      }
      if (i + 1 < lines || below(2) == 0) text += below(4) == 0 ? "\r\n" : "\n";
    }
    // The first line of a file may be a header; it holds no example then.
    return format == Format::kLibsvm && below(2) == 0 ? "3 10 5\n" + text : text;
  }

  // As it is, or as one or two gzip members or zstd frames.
  std::string packed(const std::string& text) {
    const auto cut = static_cast<std::size_t>(below(text.size() + 1));
    switch (below(5)) {
      case 0:
        return gzip(text);
      case 1:
        return gzip(text.substr(0, cut)) + gzip(text.substr(cut));
      case 2:
        return zstd(text);
      case 3:
        return zstd(text.substr(0, cut)) + zstd(text.substr(cut));
      default:
        return text;
    }
  }

 private:
  std::string number() { return std::to_string(1 + below(9)); }

  std::string good_line(Format format) {
    std::string line;
    const std::uint64_t labels = 1 + below(3);
    if (format == Format::kVw) {
      line = "y" + number() + (below(2) == 0 ? " 2 |f" : " |f");
      for (std::uint64_t i = below(4); i > 0; --i) line += " x" + number() + ":" + number();
    } else if (format == Format::kLibsvm) {
      line = number();
      for (std::uint64_t i = 1; i < labels; ++i) line += "," + number();
      for (std::uint64_t i = 0; i <= below(4); ++i) line += " " + number() + ":0." + number();
    } else {
      for (std::uint64_t i = 0; i < labels; ++i) line += "__label__" + number() + " ";
      for (std::uint64_t i = below(4); i > 0; --i) line += "w" + number() + " ";
    }
    return line;
  }

  std::string bad_line(Format format) {
    return good_line(format == Format::kVw       ? Format::kLibsvm
                     : format == Format::kLibsvm ? Format::kFasttext
                                                 : Format::kVw);
  }

  std::uint64_t state_;
};

}  // namespace cpt
