// The instruction sets for which Highway compiles no kernels. To be included before hwy/foreach_target.h.
#pragma once

// Those with vectors of unknown length, which cannot be array elements (kernels cut rows and text into pieces of 64
// bytes), and one that only emulates another.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
