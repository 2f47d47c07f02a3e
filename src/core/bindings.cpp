// The Python interface.
#include "bindings.hpp"
#include "kernels.hpp"

NB_MODULE(_core, m) {
    // A process that ends while a daemon thread learns leaves objects behind, which is nobody's fault.
    nb::set_leak_warnings(false);
    plurule::bind_columns(m);
    plurule::bind_runs(m);
    plurule::bind_decisions(m);
    plurule::bind_pools(m);
    m.def("has_avx2", &plurule::has_avx2);
}
