#include "worker_of.inl"

namespace plurule {

template std::unique_ptr<Worker> make_worker_of<std::int32_t>(const Prepared&, State&, const Options&, std::size_t);

}  // namespace plurule
