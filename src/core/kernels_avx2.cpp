#include <algorithm>
#include <limits>

#include "kernels.hpp"

namespace plurule {
#ifdef __AVX2__
namespace avx2 {
#include "kernels.inl"
}
const Kernels* avx2_kernels() {
    static const bool available = __builtin_cpu_supports("avx2");
    return available ? &avx2::table : nullptr;
}
#else
const Kernels* avx2_kernels() { return nullptr; }
#endif
}  // namespace plurule
