#include <bit>
#include <algorithm>
#include <limits>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "kernels.hpp"
#include "tiles.hpp"

namespace plurule {
#ifdef __AVX2__
namespace avx2 {
#include "kernels.inl"
#include "tile_kernels.inl"
}
const Kernels* avx2_kernels() { return has_avx2() ? &avx2::table : nullptr; }
const TileKernels* avx2_tiles(bool wide) { return avx2_kernels() ? (wide ? &avx2::wide_tiles : &avx2::narrow_tiles) : nullptr; }
#else
const Kernels* avx2_kernels() { return nullptr; }
const TileKernels* avx2_tiles(bool) { return nullptr; }
#endif
}  // namespace plurule
