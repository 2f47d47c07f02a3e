// A fixed set of threads that share out numbered tasks. The thread that calls works too.
//
// What a task reads and writes is best left in the cache of one processor: each thread has tasks of its own, by their numbers,
// and takes those of others when it has done them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace plurule {

constexpr std::size_t MANY_ROWS = 1 << 18;  // what is made of them is worth giving back

// Memory that is free, but still with the process.
inline void give_memory_back() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

class Threads {
   public:
    explicit Threads(std::size_t most)
        : most_(std::clamp<std::size_t>(most, 1, MOST_THREADS)), next_(std::make_unique<Next[]>(most_)) {}
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    // While there is a session, the threads are there. `between_tasks` is called by the calling thread now and then; it may
    // throw to stop the work. There may be fewer threads than asked for: what they compute does not depend on how many there are.
    class Session {
       public:
        Session(Threads& threads, std::function<void()> between_tasks) : threads_(threads) {
            threads.start(std::move(between_tasks));
        }
        ~Session() { threads_.end(); }
        Session(const Session&) = delete;
        Session& operator=(const Session&) = delete;

       private:
        Threads& threads_;
    };

    // No thread has a number as high as this.
    std::size_t most() const { return most_; }

    // Runs task(number, thread) for all numbers, in about this order; rethrows the first exception.
    void run(const std::vector<std::size_t>& numbers, bool alone, const std::function<void(std::size_t, std::size_t)>& task) {
        if (alone || workers_.empty()) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                if (i % 64 == 0) between_tasks_();
                task(numbers[i], 0);
            }
            return;
        }
        task_ = &task;
        numbers_ = &numbers;
        for (std::size_t t = 0; t < count_; ++t) next_[t].at = 0;
        failure_ = nullptr;
        stopping_ = false;
        begin_round();
        take_tasks(0);
        wait_for_workers();
        if (failure_) std::rethrow_exception(failure_);
    }

   private:
    static constexpr std::size_t MOST_THREADS = 256;
    static constexpr std::chrono::microseconds AWAKE{100};
    static constexpr std::size_t ROOM = 1 << 14;

    // One after the other, each ready before the next: so no other thread here takes memory while one makes sure of its own.
    void start(std::function<void()> between_tasks) {
        between_tasks_ = std::move(between_tasks);
        ending_ = false;
        round_ = 0;
        try {
            while (workers_.size() + 1 < most_) {
                busy_ = 1;
                workers_.emplace_back([this, thread = workers_.size() + 1] { work(thread); });
                wait_for_workers();
            }
        } catch (const std::exception&) {  // no more to be had
        }
        count_ = workers_.size() + 1;
    }
    void end() {
        ending_ = true;
        begin_round();
        for (auto& worker : workers_) worker.join();
        workers_.clear();
    }

    void begin_round() {
        busy_ = unsigned(workers_.size());
        ++round_;
        round_.notify_all();
    }
    void wait_for_workers() {
        for (unsigned busy; (busy = busy_) != 0;) wait_while(busy_, busy);
    }
    void work(std::size_t thread) {
        const bool able = can_throw();
        for (unsigned round = 0;; ++round) {
            if (--busy_ == 0) busy_.notify_one();
            wait_while(round_, round);
            if (ending_) return;
            if (able) take_tasks(thread);
        }
    }
    // A thread needs memory for its first exception; where there is none, glibc ends the process. So it is asked for at the
    // start, and a thread that cannot have it leaves its tasks to others.
    static bool can_throw() {
        void* volatile room = std::malloc(ROOM);
        if (!room) return false;
        std::free(room);
        volatile int none = std::uncaught_exceptions();
        return none == 0;
    }

    void take_tasks(std::size_t thread) {
        try {
            for (std::size_t i = 0; i < count_; ++i) take_tasks_of((thread + i) % count_, thread);
        } catch (...) {
            for (std::size_t t = 0; t < count_; ++t) next_[t].at = numbers_->size();
            if (!stopping_.exchange(true)) failure_ = std::current_exception();
        }
    }
    void take_tasks_of(std::size_t owner, std::size_t thread) {
        for (std::size_t i; (i = next_[owner].at.fetch_add(1)) < numbers_->size();) {
            const std::size_t number = (*numbers_)[i];
            if (number % count_ != owner) continue;
            if (thread == 0) between_tasks_();
            (*task_)(number, thread);
        }
    }

    // Rounds are short and follow each other closely: falling asleep and waking up would often take longer than they do.
    static void wait_while(const std::atomic<unsigned>& number, unsigned value) {
        const auto until = std::chrono::steady_clock::now() + AWAKE;
        while (number == value) {
            if (std::chrono::steady_clock::now() >= until) number.wait(value);
            pause();
        }
    }
    // Leaves the processor to its other thread for a moment.
    static void pause() {
#if defined(__x86_64__) || defined(_M_X64)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }

    std::size_t most_, count_ = 1;
    std::function<void()> between_tasks_;
    std::vector<std::thread> workers_;
    const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
    const std::vector<std::size_t>* numbers_ = nullptr;
    struct alignas(64) Next {  // how far the tasks of a thread are taken
        std::atomic<std::size_t> at{0};
    };
    std::unique_ptr<Next[]> next_;
    std::atomic<unsigned> busy_{0}, round_{0};
    std::exception_ptr failure_;
    std::atomic<bool> stopping_{false}, ending_{false};
};

}  // namespace plurule
