// Which labels a body allows in its head.
#include <doctest/doctest.h>

#include "bodies.hpp"

using namespace plurule;

namespace {

std::vector<bool> barred_by(const Options& options, std::int32_t tested) {
    const State state(Prepared(), nullptr, 4, nullptr, {nullptr, nullptr, nullptr, true});
    Bodies bodies(state, options);
    bodies.start({});
    bodies.begin(-1);
    bodies.begin(tested);
    std::vector<bool> barred;
    for (std::uint32_t lane = 0; lane < 4; ++lane) barred.push_back(bodies.bars(lane));
    return barred;
}

}  // namespace

TEST_CASE("a tested label is in no head, nor is one that must not go with it, nor one that goes together with either") {
    Options options;
    CHECK(barred_by(options, -1) == std::vector<bool>{false, false, false, false});
    CHECK(barred_by(options, 2) == std::vector<bool>{false, false, true, false});
    options.pairs.group = {0, 1, 2, 1};
    options.pairs.apart.assign(16, 0);
    CHECK(barred_by(options, 3) == std::vector<bool>{false, true, false, true});
    options.pairs.apart[2] = options.pairs.apart[8] = 1;
    CHECK(barred_by(options, 2) == std::vector<bool>{true, false, true, false});
    options.pairs.apart[6] = options.pairs.apart[9] = 1;
    CHECK(barred_by(options, 2) == std::vector<bool>{true, true, true, true});
}
