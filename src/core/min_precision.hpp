// The least share of right predictions.
#pragma once

namespace plurule {

// The precision that is required of a rule: TP >= threshold × (TP + FP).
struct MinPrecision {
    double threshold = 0.5;
    bool of_label = false;  // of every label of a head, not only of the head as a whole

    bool is_set() const { return threshold > 0; }
    bool checks_labels() const { return of_label && is_set(); }
    // A half is exact; anything else is compared within the tolerance of the reference engine.
    double tolerance() const { return threshold == 0.5 ? 0.0 : 1e-12; }
    bool met(double tp, double fp) const {
        const double needed = threshold * (tp + fp);
        return tp >= needed - tolerance() * needed;
    }
    // How far TP is above what is needed, scaled so that it is TP - FP for a threshold of a half.
    double surplus(double tp, double fp) const { return 2 * (1 - threshold) * tp - 2 * threshold * fp; }
    // How far TP is below it; nothing where the threshold is met, however the surplus is rounded.
    double lacking(double tp, double fp) const { return met(tp, fp) ? 0.0 : -surplus(tp, fp); }
};

}  // namespace plurule
