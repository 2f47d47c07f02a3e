#include <algorithm>
#include <limits>

#include "kernels.hpp"
#include "tiles.hpp"

namespace plurule {
namespace baseline {
#include "kernels.inl"
#include "tile_kernels.inl"
}
const Kernels& baseline_kernels() { return baseline::table; }

const TileKernels* avx2_tiles(bool wide);  // null where the processor or the compiler has none
const TileKernels& tile_kernels(bool wide) {
    if (const TileKernels* fast = avx2_tiles(wide)) return *fast;
    return wide ? baseline::wide_tiles : baseline::narrow_tiles;
}
}  // namespace plurule
