// What learns the rules of a run, whatever its counts are made of.
#pragma once
#include <cstddef>
#include <memory>

#include "learned_rule.hpp"
#include "options.hpp"
#include "state.hpp"
#include "threads.hpp"

namespace plurule {

class Worker {
   public:
    virtual ~Worker() = default;
    virtual bool learn_rule(LearnedRule& rule) = 0;

    Threads threads;

   protected:
    explicit Worker(std::size_t n_threads) : threads(n_threads) {}
};

// Of whole numbers, or of doubles where rows have weights: compiled in a file each, side by side, since all of the learner is in it.
template <class Count>
std::unique_ptr<Worker> make_worker_of(const Prepared& prepared, State& state, const Options& options, std::size_t n_threads);

}  // namespace plurule
