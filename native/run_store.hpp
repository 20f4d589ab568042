// SPDX-License-Identifier: Apache-2.0
// RunStore: the daemon's runs and their traces, in memory. One thread writes, any number of viewers
// read, each at its own pace from its own place: a run never waits for a viewer.
//
// Bounded by number and bytes: when there is too much, the runs that ended first are forgotten.
// All functions may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/run_spec.hpp"

namespace ringscope {

enum class RunState { queued, running, done };
std::string_view run_state_name(RunState state);

class RunStore {
  public:
    struct Limits {
        size_t run_count_max = 64;
        size_t trace_bytes_max = size_t{256} << 20;  // of all runs together
    };
    struct Entry {
        std::string id;  // sixteen hexadecimal digits
        RunSpec run;
        RunState state = RunState::queued;
        std::string result_json;  // fields of an object, when done
    };

    explicit RunStore(Limits limits) : limits_(limits) {}

    // Returns the new run's id.
    std::string add(const RunSpec& run);
    void begin(const std::string& id);
    void append(const std::string& id, std::string_view text);  // whole lines
    void finish(const std::string& id, std::string result_json);

    std::optional<Entry> find(const std::string& id) const;
    std::vector<Entry> list() const;  // oldest first

    // Sends every viewer home.
    void stop();

  private:
    struct Record {
        Entry entry;
        std::string text;
    };

  public:
    // One reader of one run's trace. Keeps the run in memory for as long as it lives.
    class Viewer {
      public:
        enum class State { more, end, stopped };

        // Appends the next whole lines, a handful of kilobytes at most; waits for them up to
        // `patience`. `end`: the run is done and all its lines were read.
        State next(std::string& lines, std::chrono::milliseconds patience);
        int64_t line_count() const {
            return line_count_;
        }  // read so far, those that were skipped included

      private:
        friend class RunStore;
        Viewer(RunStore& store, std::shared_ptr<const Record> record, int64_t lines_to_skip)
            : store_(store), record_(std::move(record)), lines_to_skip_(lines_to_skip) {}
        void skip();

        RunStore& store_;
        std::shared_ptr<const Record> record_;
        int64_t lines_to_skip_ = 0;
        int64_t line_count_ = 0;
        size_t offset_ = 0;
    };

    // From after line `line` of the trace, 0 for all of it; nothing when there is no such run.
    std::optional<Viewer> view(const std::string& id, int64_t line);

  private:
    std::shared_ptr<Record> find_record(const std::string& id) const;
    void forget_oldest();

    const Limits limits_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Record>> records_;
    size_t trace_bytes_ = 0;
    bool stopped_ = false;
};

}  // namespace ringscope
