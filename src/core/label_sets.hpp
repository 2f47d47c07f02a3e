// Head searches that look at many sets of units, for all bodies of an attribute at once: exhaustive, anti-monotone.
#pragma once
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "bodies.hpp"
#include "head_search.hpp"

namespace plurule {

// More heads of one length than this are equally good for one body.
constexpr std::size_t MOST_HEADS = 1024;
struct TooManyHeads : std::length_error {
    TooManyHeads() : std::length_error("too many heads are equally good") {}
};

class LabelSets {
   public:
    // `check_stop` is called between heads; there may be very many of them.
    LabelSets(Bodies& bodies, const Options& options, const std::function<void()>& check_stop)
        : bodies_(bodies), options_(options), check_stop_(check_stop), cuts_(options.head_search == HeadSearchKind::anti_monotone) {}

    // The best head of every body: more labels, then more TP, then the first in label order.
    void search(std::vector<FoundHead>& found);

   private:
    // A unit with a choice of signs.
    struct Choice {
        std::uint32_t unit;
        LaneHead labels;
        std::vector<std::uint8_t> fits;  // per body: whether it may be in the head
    };
    // A head that may be made longer.
    struct Alive {
        std::vector<std::uint32_t> units;  // of the head
        std::vector<double> value;         // per body; -inf where the search does not go on from here
    };
    using Level = std::map<LaneHead, Alive>;  // heads of so many units
    using Visit = std::function<void(const LaneHead&, std::size_t body, double value, const Bodies::Worth&)>;

    void list_choices();
    bool fits(const LaneHead& unit, std::size_t body) const;
    void every_head(const Visit& visit);
    void extend(const Level& level, const Level::value_type& shorter, const Choice& choice, const Visit& visit, Level& longer);
    void keep_common(const Level& level, const LaneHead& head, Alive& alive) const;
    void cut(Level& level) const;

    Bodies& bodies_;
    const Options& options_;
    const std::function<void()>& check_stop_;
    const bool cuts_;  // goes on from a head only where all that it contains are as good as the best
    std::vector<Choice> choices_;
    std::vector<double> best_;  // per body: the highest value so far
};

}  // namespace plurule
