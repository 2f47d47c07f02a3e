#include "bodies.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels.hpp"
#include "ranking.hpp"

namespace plurule {

void Bodies::start(const std::vector<Condition>& refined) {
    refined_ = refined;
    attribute_ = -1;
    bar_labels();
}

void Bodies::begin(std::int32_t attribute, SumRows sum_rows) {
    const std::int32_t label_before = std::max(-1, label_of(attribute_));
    attribute_ = attribute;
    sum_rows_ = std::move(sum_rows);
    clear();
    if (label_before != std::max(-1, label_of(attribute))) bar_labels();
}

void Bodies::bar_labels() {
    std::vector<std::uint8_t> tested(state_.n_labels, 0);
    for (const Condition& c : refined_)
        if (label_of(c.attribute) >= 0) tested[std::size_t(label_of(c.attribute))] = 1;
    if (label_of(attribute_) >= 0) tested[std::size_t(label_of(attribute_))] = 1;
    units.bar(tested, barred_);
    penalty_.resize(state_.width);
    for (std::size_t lane = 0; lane < state_.width; ++lane) penalty_[lane] = barred_[lane] ? NOTHING : 0.0;
}

void Bodies::add(const Place& place, const std::vector<double>& counters) {
    const std::size_t width = state_.width, first = places.size() * width;
    if (tp.size() < first + width) {
        for (auto* counts : {&tp, &fp, &tn, &fn}) counts->resize(first + width);
        sign.resize(first + width);
    }
    places.push_back(place);
    kernels().confusion(counters.data(), counters[3 * width], state_.present.data(), state_.absent.data(), width, tp.data() + first,
                        fp.data() + first, tn.data() + first, fn.data() + first);
    std::fill_n(sign.begin() + std::ptrdiff_t(first), width, std::int8_t(1));
}

bool Bodies::direction_bars(const Place& place, const SignedLane& s) const {
    const std::size_t label = std::size_t(state_.label_of_lane[s.lane]);
    const auto bars = [&](std::int32_t attribute, const Place& at) { return options_.directions.bars(std::size_t(attribute), at, label, s.sign); };
    return (attribute_ >= 0 && bars(attribute_, place)) ||
           std::any_of(refined_.begin(), refined_.end(), [&](const Condition& c) { return bars(c.attribute, c.place); });
}

void Bodies::value_labels() {
    const std::size_t count = size() * state_.width;
    for (std::int8_t s = options_.predict_absence ? 0 : 1; s < 2; ++s) {
        if (h[s].size() < count) h[s].resize(count);
        if (!options_.example_based) {
            options_.evaluate((s ? tp : fp).data(), (s ? fp : tp).data(), tn.data(), fn.data(), count, h[s].data());
            continue;
        }
        for (std::uint32_t lane = 0; lane < state_.label_of_lane.size(); ++lane) {
            if (barred_[lane]) continue;
            evaluate({{lane, s}});
            for (std::size_t body = 0; body < size(); ++body) h[s][at(body, lane)] = worth_.value[body];
        }
    }
}

const Bodies::Worth& Bodies::evaluate(const LaneHead& head) {
    auto& [value, right_sum, wrong_sum] = worth_;
    for (auto* sums : {&value, &right_sum, &wrong_sum, &tn_, &fn_}) sums->assign(size(), 0.0);
    for (const SignedLane& s : head)
        for (std::size_t body = 0; body < size(); ++body) {
            right_sum[body] += right(body, s);
            wrong_sum[body] += wrong(body, s);
            tn_[body] += tn[at(body, s.lane)];
            fn_[body] += fn[at(body, s.lane)];
            if (options_.averages_labels && !options_.example_based) value[body] += h[s.sign][at(body, s.lane)];
        }
    if (options_.example_based)
        value_instances(head);
    else if (options_.averages_labels)
        for (double& sum : value) sum /= double(head.size());
    else
        options_.evaluate(right_sum.data(), wrong_sum.data(), tn_.data(), fn_.data(), size(), value.data());
    return worth_;
}

// Instances with an open pair of the head are judged as a whole: all of it is right, or it is wrong.
void Bodies::value_instances(const LaneHead& head) {
    std::vector<double> rows(state_.n_rows * 4, 0.0), sums;
    double absent = 0, present = 0;
    for (Row row : state_.training.rows) {
        const std::uint8_t* bytes = state_.bytes.data() + std::size_t(row) * state_.width;
        bool open = false, right = true, some = false;
        for (const auto& [lane, sign] : head) {
            open |= (bytes[lane] & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
            right &= ((bytes[lane] & PRESENT) != 0) == (sign != 0);
            some |= (bytes[lane] & PRESENT) != 0;
        }
        if (!open) continue;
        const double weight = state_.weight(row);
        rows[std::size_t(row) * 4 + (right ? 0 : 1)] = weight;
        rows[std::size_t(row) * 4 + (some ? 3 : 2)] = weight;
        (some ? present : absent) += weight;
    }
    sum_rows_(rows, sums);
    if (sums.size() != 4 * size()) throw std::logic_error("candidates were summed that had not been counted");
    std::vector<double> counts[4];
    for (std::size_t body = 0; body < size(); ++body) {
        const double* of_body = sums.data() + 4 * body;
        const double matrix[4] = {of_body[0], of_body[1], absent - of_body[2], present - of_body[3]};
        for (int i = 0; i < 4; ++i) counts[i].push_back(matrix[i]);
    }
    options_.evaluate(counts[0].data(), counts[1].data(), counts[2].data(), counts[3].data(), size(), worth_.value.data());
}

}  // namespace plurule
