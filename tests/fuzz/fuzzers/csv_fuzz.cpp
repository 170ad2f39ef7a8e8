#include "lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cpt::fuzz_table({data, size});
  return 0;
}
