// SPDX-License-Identifier: Apache-2.0
// RunQueue: runs one after the other, each in a worker process, so that no two disturb each other's
// measurement. Writes what they say into the store. All functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "native/run_store.hpp"

namespace ringscope {

class RunQueue {
  public:
    struct Limits {
        size_t waiting_max = 8;
        std::chrono::milliseconds deadline{60'000};  // of one run
    };

    // `program` is a ringscope executable to start workers from.
    RunQueue(RunStore& store, std::string program, Limits limits);
    ~RunQueue() { stop(); }
    RunQueue(const RunQueue&) = delete;
    RunQueue& operator=(const RunQueue&) = delete;

    // The new run's id; nothing when too many are waiting.
    std::optional<std::string> submit(const RunSpec& run);

    // A waiting or running run ends as failed, "cancelled"; one that is done stays as it is.
    void cancel(const std::string& id);

    // Kills the worker; what waits is never run. For good.
    void stop();

  private:
    void work();
    void carry_out(const std::string& id, const RunSpec& run);
    void close_unstarted(const std::string& id, const RunSpec& run);

    RunStore& store_;
    const std::string program_;
    const Limits limits_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> waiting_;
    std::string running_;
    std::atomic<bool> cancelled_{false};
    bool stopped_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace ringscope
