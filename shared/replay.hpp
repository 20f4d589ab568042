// SPDX-License-Identifier: Apache-2.0
// Replay: the state of all buffers at any moment of a trace, simulated or measured, complete or
// still growing. What a view draws.
//
//     auto replay = Replay::create(run);
//     replay->add(events);
//     replay->seek(time_ps);   // forwards or backwards
//     replay->buffers(); replay->in_flight();
//
// It moves the values that the inputs' seed gives; a measured trace carries times, not values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/buffers.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/trace.hpp"

namespace ringscope {

class Replay {
  public:
    static Result<Replay> create(const RunSpec& run);

    void add(std::span<const Event> events);
    void seek(int64_t time_ps);

    int64_t time_ps() const { return time_ps_; }
    int64_t end_ps() const { return end_ps_; }        // of the last hop known so far
    int32_t iteration() const { return iteration_; }  // that time_ps() lies in
    const Schedule& schedule() const { return schedule_; }
    const Buffers& buffers() const { return buffers_; }
    const std::vector<Event>& events() const { return events_; }
    const std::vector<int32_t>& in_flight() const { return in_flight_; }  // indices into events()

  private:
    struct Mark {  // one end of a hop
        int64_t time_ps = 0;
        int32_t iteration = 0;
        int32_t step = 0;
        bool end = false;
        int32_t event = 0;
        auto operator<=>(const Mark&) const = default;
    };

    Replay(const RunSpec& run, const Schedule& schedule);
    void rewind();
    void pass(const Mark& mark);

    Schedule schedule_;
    Buffers buffers_;
    std::vector<Event> events_;
    std::vector<Mark> marks_;                      // sorted; those before next_mark_ are passed
    std::vector<std::vector<uint32_t>> payloads_;  // [event]
    std::vector<int32_t> in_flight_;
    size_t next_mark_ = 0;
    bool sorted_ = true;
    int64_t time_ps_ = 0;
    int64_t end_ps_ = 0;
    int32_t iteration_ = 0;
};

}  // namespace ringscope
