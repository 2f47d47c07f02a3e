#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "kernels.hpp"

namespace plurule {
#ifdef __AVX2__
namespace avx2 {
#include "kernels.inl"
}
const Kernels* avx2_kernels() { return has_avx2() ? &avx2::table : nullptr; }
#else
const Kernels* avx2_kernels() { return nullptr; }
#endif
}  // namespace plurule
