// The Python interface.
#include "bindings.hpp"

NB_MODULE(_core, m) {
    plurule::bind_columns(m);
    plurule::bind_runs(m);
    plurule::bind_decisions(m);
}
