// A fixed set of threads that share out numbered tasks. The thread that calls works too.
//
// What a task reads and writes is best left in the cache of one processor: each thread has tasks of its own, by their numbers,
// and takes those of others when it has done them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace plurule {

class Threads {
   public:
    explicit Threads(std::size_t most) : most_(std::clamp<std::size_t>(most, 1, MOST_THREADS)), next_(std::make_unique<Next[]>(most_)) {}
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    // While there is a session, the threads are there. `between_tasks` is called by the calling thread now and then; it may
    // throw to stop the work. There may be fewer threads than asked for: what they compute does not depend on how many there are.
    class Session {
       public:
        Session(Threads& threads, std::function<void()> between_tasks) : threads_(threads) { threads.start(std::move(between_tasks)); }
        ~Session() { threads_.end(); }
        Session(const Session&) = delete;
        Session& operator=(const Session&) = delete;

       private:
        Threads& threads_;
    };

    // No thread has a number as high as this.
    std::size_t most() const { return most_; }
    std::size_t count() const { return workers_.size() + 1; }

    // For long tasks to call now and then, each with the number of its thread: throws where the work is to stop.
    void check_stop(std::size_t thread) {
        if (thread == 0)
            between_tasks_();
        else if (stopping_)
            throw Stopped();
    }

    // Runs task(number, thread) for all numbers, in about this order; rethrows the first exception.
    void run(const std::vector<std::size_t>& numbers, bool alone, const std::function<void(std::size_t, std::size_t)>& task) {
        if (alone || workers_.empty()) {
            std::size_t count = 0;
            for (std::size_t number : numbers) {
                if (count++ % 64 == 0) between_tasks_();
                task(number, 0);
            }
            return;
        }
        {
            std::lock_guard lock(mutex_);
            task_ = &task;
            numbers_ = &numbers;
            for (std::size_t t = 0; t < count(); ++t) next_[t].at = 0;
            failure_ = nullptr;
            stopping_ = false;
            busy_ = workers_.size();
            ++round_;
        }
        wake_.notify_all();
        take_tasks(0);
        wait(done_, [this] { return busy_ == 0; });
        if (failure_) std::rethrow_exception(failure_);
    }

   private:
    static constexpr std::size_t MOST_THREADS = 256;
    static constexpr std::chrono::microseconds AWAKE{100};
    static constexpr std::size_t ROOM = 1 << 14;
    struct Stopped {};  // another thread failed
    enum class Start : std::uint8_t { asked, ready, refused };

    void start(std::function<void()> between_tasks) {
        between_tasks_ = std::move(between_tasks);
        ending_ = false;
        round_ = 0;
        try {
            for (std::size_t i = 1; i < most_; ++i) {
                start_ = Start::asked;
                workers_.emplace_back([this, i] { work(i); });
                wait(done_, [this] { return start_ != Start::asked; });
                if (start_ == Start::refused) {
                    workers_.back().join();
                    workers_.pop_back();
                    break;
                }
            }
        } catch (const std::exception&) {  // no more to be had
        }
        count_ = count();
    }
    // A thread needs memory for its first exception; where there is none, glibc ends the process. So it is asked for at the start, while
    // no other thread here takes any.
    static bool can_throw() {
        void* volatile room = std::malloc(ROOM);
        if (!room) return false;
        std::free(room);
        volatile int none = std::uncaught_exceptions();
        return none == 0;
    }
    bool begin() {
        const bool ready = can_throw();
        std::lock_guard lock(mutex_);
        start_ = ready ? Start::ready : Start::refused;
        done_.notify_one();
        return ready;
    }
    void end() {
        {
            std::lock_guard lock(mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
        workers_.clear();
    }

    void take_tasks(std::size_t thread) {
        try {
            for (std::size_t i = 0; i < count_; ++i) take_tasks_of((thread + i) % count_, thread);
        } catch (...) {
            for (std::size_t t = 0; t < count_; ++t) next_[t].at = numbers_->size();
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            stopping_ = true;
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
    void work(std::size_t thread) {
        if (!begin()) return;
        std::size_t seen = 0;
        for (;;) {
            wait(wake_, [&] { return ending_ || round_ != seen; });
            if (ending_) return;
            seen = round_;
            take_tasks(thread);
            if (--busy_ == 0) {
                std::lock_guard lock(mutex_);  // or else who is about to sleep would not hear it
                done_.notify_one();
            }
        }
    }

    // Rounds are short and follow each other closely: falling asleep and waking up would often take longer than they do.
    template <class Ready>
    void wait(std::condition_variable& signal, Ready&& ready) {
        const auto until = std::chrono::steady_clock::now() + AWAKE;
        do
            if (ready()) return;
        while (std::chrono::steady_clock::now() < until);
        std::unique_lock lock(mutex_);
        signal.wait(lock, ready);
    }

    std::size_t most_, count_ = 1;
    std::function<void()> between_tasks_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
    const std::vector<std::size_t>* numbers_ = nullptr;
    struct alignas(64) Next {  // how far the tasks of a thread are taken
        std::atomic<std::size_t> at{0};
    };
    std::unique_ptr<Next[]> next_;
    std::atomic<std::size_t> busy_{0}, round_{0};
    std::exception_ptr failure_;
    std::atomic<bool> stopping_{false}, ending_{false};
    std::atomic<Start> start_{Start::asked};
};

}  // namespace plurule
