// A learner of one kind of counts.
#pragma once
#include "learner.hpp"
#include "worker.hpp"

namespace plurule {

template <class Count>
class WorkerOf : public Worker {
   public:
    WorkerOf(const Prepared& prepared, State& state, const Options& options, std::size_t n_threads)
        : Worker(n_threads), learner_(prepared, state, options, threads) {}
    bool learn_rule(LearnedRule& rule) override { return learner_.learn_rule(rule); }

   private:
    Learner<Count> learner_;
};

template <class Count>
std::unique_ptr<Worker> make_worker_of(const Prepared& prepared, State& state, const Options& options, std::size_t n_threads) {
    return std::make_unique<WorkerOf<Count>>(prepared, state, options, n_threads);
}

}  // namespace plurule
