#include <algorithm>
#include <limits>

#include "kernels.hpp"

namespace plurule {
namespace baseline {
#include "kernels.inl"
}
const Kernels& baseline_kernels() { return baseline::table; }
}  // namespace plurule
