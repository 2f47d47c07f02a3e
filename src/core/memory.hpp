// Memory that is free, but still with the process.
#pragma once
#include <cstddef>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace plurule {

constexpr std::size_t MANY_ROWS = 1 << 18;  // what is made of them is worth giving back

inline void give_memory_back() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace plurule
