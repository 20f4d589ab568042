// SPDX-License-Identifier: Apache-2.0
#include "native/run_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "native/result_text.hpp"
#include "native/worker.hpp"
#include "shared/arrange.hpp"

namespace ringscope {
namespace {

// One line to standard error: time, run, what.
void log_run(const std::string& id, const std::string& what) {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    std::fprintf(stderr, "%s run %s %s\n", stamp.data(), id.c_str(), what.c_str());
}

std::string result_fields(const TraceRecorder& recorder) {
    JsonWriter json;
    append_result(json,
                  {recorder.run(), recorder.report(), recorder.outcome(), recorder.trace_hash()});
    return json.text();
}

std::string ending(const Outcome& outcome) {
    return "ended: " + std::string(outcome_name(outcome.kind)) +
           (outcome.reason.empty() ? "" : ": " + outcome.reason);
}

}  // namespace

RunQueue::RunQueue(RunStore& store, std::string program, Limits limits)
    : store_(store), program_(std::move(program)), limits_(limits), thread_([this] { work(); }) {}

void RunQueue::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        cancelled_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::optional<std::string> RunQueue::submit(const RunSpec& run) {
    const std::lock_guard lock(mutex_);
    if (stopped_ || waiting_.size() >= limits_.waiting_max) {
        return std::nullopt;
    }
    std::string id = store_.add(run);
    waiting_.push_back(id);
    changed_.notify_one();
    return id;
}

void RunQueue::cancel(const std::string& id) {
    const std::lock_guard lock(mutex_);
    if (running_ == id) {
        cancelled_ = true;
    } else if (std::erase(waiting_, id) > 0) {
        close_unstarted(id, store_.find(id)->run);
    }
}

void RunQueue::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) {
            return;
        }
        running_ = waiting_.front();
        waiting_.pop_front();
        cancelled_ = false;
        const std::string id = running_;
        lock.unlock();
        carry_out(id, store_.find(id)->run);
        lock.lock();
        running_.clear();
    }
}

void RunQueue::carry_out(const std::string& id, const RunSpec& run) {
    const auto schedule = build_schedule(run);
    RS_CHECK(schedule);
    store_.begin(id);
    log_run(id, "started: " + print_run(run));
    TraceRecorder recorder(run, *schedule);
    Supervision supervision;
    supervision.program = program_;
    supervision.deadline = limits_.deadline;
    supervision.cancelled = &cancelled_;
    supervision.take_text = [&](std::string_view text) { store_.append(id, text); };
    supervise(recorder, supervision);
    store_.finish(id, result_fields(recorder));
    log_run(id, ending(recorder.outcome()));
}

void RunQueue::close_unstarted(const std::string& id, const RunSpec& run) {
    const auto schedule = build_schedule(run);
    RS_CHECK(schedule);
    TraceRecorder recorder(run, *schedule);
    recorder.close({OutcomeKind::failed, "cancelled"});
    store_.append(id, recorder.take_text());
    store_.finish(id, result_fields(recorder));
    log_run(id, ending(recorder.outcome()));
}

}  // namespace ringscope
