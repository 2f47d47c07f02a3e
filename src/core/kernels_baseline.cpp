#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>
#endif

#include "kernels.hpp"

namespace plurule {
namespace baseline {
#include "kernels.inl"
}
// Asks the processor itself, because not every compiler brings the library behind __builtin_cpu_supports. Here, because what is
// compiled for AVX2 must not run before it is known to be there.
#if defined(__x86_64__) || defined(_M_X64)
static bool processor_has_avx2() {
    unsigned a, b, c, d;
    constexpr unsigned OSXSAVE = 1u << 27, AVX = 1u << 28, AVX2 = 1u << 5, SAVED_BY_THE_SYSTEM = 6;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (OSXSAVE | AVX)) != (OSXSAVE | AVX)) return false;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & SAVED_BY_THE_SYSTEM) != SAVED_BY_THE_SYSTEM) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & AVX2);
}
#else
static bool processor_has_avx2() { return false; }
#endif

bool has_avx2() {
    static const bool available = processor_has_avx2() && !std::getenv("PLURULE_NO_AVX2");
    return available;
}

const Kernels& baseline_kernels() { return baseline::table; }
}  // namespace plurule
