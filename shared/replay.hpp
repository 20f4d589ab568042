// SPDX-License-Identifier: Apache-2.0
// Replay: the state of all buffers at any moment of a trace, simulated or measured, complete or
// still growing. What a view draws.
//
//     auto replay = Replay::create(run);
//     replay->add_rounds(rounds);
//     replay->add(events);
//     replay->seek(time_ps);   // forwards or backwards
//     replay->buffers(); replay->in_flight();
//
// It moves the values that the inputs' seed gives; a measured trace carries times, not values.
// Each round begins with the inputs of those who take part in it; schedule(), buffers() and
// in_flight() are those of the round that time_ps() lies in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/buffers.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/topology.hpp"
#include "shared/trace.hpp"

namespace ringscope {

class Replay {
  public:
    static Result<Replay> create(const RunSpec& run);

    // Those that a trace tells, each before the first of its events. Errors: a schedule that cannot
    // be.
    Status add_rounds(std::span<const Round> rounds);
    void add(std::span<const Event> events);
    void seek(int64_t time_ps);

    int64_t time_ps() const { return time_ps_; }
    int64_t end_ps() const { return end_ps_; }            // of the last hop known so far
    int32_t iteration() const { return iteration_; }      // the round that time_ps() lies in
    int32_t round_count() const { return round_count_; }  // known so far
    const Schedule& schedule() const { return schedule(iteration_); }
    const Schedule& schedule(int32_t round) const { return stage_of(round).schedule; }
    int64_t begin_ps(int32_t round) const { return stage_of(round).begin_ps; }  // 0: not told
    const Buffers& buffers() const { return buffers_; }
    const std::vector<Event>& events() const { return events_; }
    const std::vector<int32_t>& in_flight() const { return in_flight_; }  // indices into events()

    // What a message in flight brings of one of its chunks.
    struct Content {
        int32_t contributions = 0;
        float value = 0;  // of the first element
    };
    Content carried(int32_t event, int32_t chunk) const;

  private:
    struct Stage {  // a round that is told, or those that are as the run line says
        int32_t round = 0;
        int64_t begin_ps = 0;
        Schedule schedule;
    };
    struct Mark {  // one end of a hop, or the beginning of a round that is told
        int64_t time_ps = 0;
        int32_t iteration = 0;
        int32_t step = 0;
        bool end = false;
        int32_t event = -1;  // -1: of a round
        auto operator<=>(const Mark&) const = default;
    };

    Replay(const RunSpec& run, Topology&& topology, const Schedule& schedule);
    const Stage& stage_of(int32_t round) const;
    void enter(int32_t round);
    void rewind();
    void pass(const Mark& mark);

    RunSpec run_;
    Topology topology_;
    std::vector<Stage> stages_;  // the first is the run line's, the others by round
    Buffers buffers_;
    int32_t buffers_stage_ = 0;
    std::vector<Event> events_;
    std::vector<Mark> marks_;                      // sorted; those before next_mark_ are passed
    std::vector<std::vector<uint32_t>> payloads_;  // [event]
    std::vector<int32_t> in_flight_;
    size_t next_mark_ = 0;
    bool sorted_ = true;
    int64_t time_ps_ = 0;
    int64_t end_ps_ = 0;
    int32_t iteration_ = 0;
    int32_t round_count_ = 1;
};

}  // namespace ringscope
