// How numbers that users give are told to them again.
#pragma once

#include <charconv>
#include <string>

namespace cpt {

// The shortest text that is read as this very number.
inline std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace cpt
