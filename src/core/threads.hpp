// A fixed set of threads that share out numbered tasks. The thread that calls works too.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plurule {

class Threads {
   public:
    // `between_tasks` is called by the calling thread now and then; it may throw to stop the work.
    // There may be fewer threads than asked for: what they compute does not depend on how many there are.
    Threads(std::size_t count, std::function<void()> between_tasks) : between_tasks_(std::move(between_tasks)) {
        count = std::min(count, MOST_THREADS);
        workers_.reserve(count);
        try {
            for (std::size_t i = 1; i < count; ++i) workers_.emplace_back([this, i] { work(i); });
        } catch (const std::exception&) {  // no more to be had
        }
    }
    ~Threads() {
        {
            std::lock_guard lock(mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    std::size_t count() const { return workers_.size() + 1; }

    // For long tasks to call now and then, each with the number of its thread.
    void breathe(std::size_t thread) {
        if (thread == 0)
            between_tasks_();
        else if (stopping_)
            throw Stopped();
    }

    // Runs task(number, thread) for all numbers below `tasks`; rethrows the first exception.
    void run(std::size_t tasks, bool alone, const std::function<void(std::size_t, std::size_t)>& task) {
        if (alone || workers_.empty()) {
            for (std::size_t number = 0; number < tasks; ++number) {
                between_tasks_();
                task(number, 0);
            }
            return;
        }
        {
            std::lock_guard lock(mutex_);
            task_ = &task;
            tasks_ = tasks;
            next_ = 0;
            failure_ = nullptr;
            stopping_ = false;
            busy_ = workers_.size();
            ++round_;
        }
        wake_.notify_all();
        take_tasks(0);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
        if (failure_) std::rethrow_exception(failure_);
    }

   private:
    static constexpr std::size_t MOST_THREADS = 256;
    struct Stopped {};  // another thread failed

    void take_tasks(std::size_t thread) {
        try {
            for (std::size_t number; (number = next_.fetch_add(1)) < tasks_;) {
                if (thread == 0) between_tasks_();
                (*task_)(number, thread);
            }
        } catch (...) {
            next_ = tasks_;
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            stopping_ = true;
        }
    }
    void work(std::size_t thread) {
        std::size_t seen = 0;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return ending_ || round_ != seen; });
                if (ending_) return;
                seen = round_;
            }
            take_tasks(thread);
            {
                std::lock_guard lock(mutex_);
                if (--busy_ == 0) done_.notify_one();
            }
        }
    }

    std::function<void()> between_tasks_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
    std::size_t tasks_ = 0, busy_ = 0, round_ = 0;
    std::atomic<std::size_t> next_{0};
    std::exception_ptr failure_;
    std::atomic<bool> stopping_{false};
    bool ending_ = false;
};

}  // namespace plurule
