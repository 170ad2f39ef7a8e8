// The instruction sets for which Highway compiles kernels. To be included before hwy/foreach_target.h.
#pragma once

// Not scalable vectors, which cannot be array elements, nor those that do not divide 64 bytes: a row is always sixteen
// lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
