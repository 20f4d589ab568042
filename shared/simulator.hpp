// SPDX-License-Identifier: Apache-2.0
// Simulator: carries a schedule out on a simulated clock, with real numbers in the buffers.
//
// It is pulled: told how far time may go, it answers with the events up to there. One leap equals
// many small ones, byte for byte, and so does a knob turned at time t equal a run line with
// change=t:...
//
//     Result<Simulator> simulator = Simulator::create(run);
//     simulator->advance_to(1'000'000);                  // 1 us
//     simulator->apply({Knob::Kind::bandwidth, 0, 0, 5'000'000'000});
//     while (!simulator->done()) simulator->advance_to(simulator->next_event_ps());
//
// The model. A rank sends what step s asks of it once it has all that the steps before s bring it.
// A link carries one message at a time, first come first served: bytes / bandwidth on the wire,
// then the latency until the last byte is taken in (cut-through; the next message may follow at
// once). Reducing is free. A uniform ring takes 2(N-1)(alpha + S/(N B)), up to rounding each step
// up to a whole picosecond. When a knob turns, what is left of each message's time on the wire or
// in the air is scaled by old / new.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "shared/buffers.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/topology.hpp"
#include "shared/trace.hpp"

namespace ringscope {

class Simulator {
  public:
    // Errors: an engine other than the simulator, more than one iteration, a run that would outlast
    // the clock.
    static Result<Simulator> create(const RunSpec& run);

    // Up to and including time_ps; a time that is past changes nothing.
    void advance_to(int64_t time_ps);
    int64_t now_ps() const { return now_ps_; }
    bool done() const { return messages_left_ == 0; }
    // The next moment at which something happens. Only while not done().
    int64_t next_event_ps() const;

    // Turns a knob now. It becomes part of run(). Errors: as parse_run for a change, and an
    // overlong run.
    Status apply(const Knob& knob);

    // The events since the last call, ordered by (end, target rank, source rank).
    std::vector<Event> take_events();

    const RunSpec& run() const { return run_; }
    const Schedule& schedule() const { return schedule_; }
    const Buffers& buffers() const { return buffers_; }
    // Whether the sums are right. Only when done().
    Outcome outcome() const;

  private:
    struct Message {
        Transfer transfer;
        int64_t bytes = 0;
        int64_t ready_ps = 0;     // the source wants to send
        int64_t begin_ps = 0;     // the first byte leaves
        int64_t wire_end_ps = 0;  // the last byte has left; the link is free
        int64_t end_ps = 0;       // the last byte has arrived
        std::vector<uint32_t> payload;
    };
    struct LinkState {
        int32_t source_rank = 0;
        int32_t target_rank = 0;
        Link link;
        int64_t free_ps = 0;
        std::deque<Message> messages;  // in flight and waiting, in order of arrival
    };
    struct RankState {
        int64_t start_ps = 0;
        int32_t step = 0;                  // whose receives it waits for
        int32_t receives_left = 0;         // in that step
        std::map<int32_t, int32_t> early;  // step -> messages that came before their step
    };
    struct Arrival {  // of the first message of a link
        int64_t end_ps = 0;
        int32_t target_rank = 0;
        int32_t source_rank = 0;
        int32_t link = 0;
        auto operator<=>(const Arrival&) const = default;
    };

    Simulator(const RunSpec& run, const Schedule& schedule);

    void enter_step(int32_t rank, int64_t time_ps);
    void send(const Transfer& transfer, int64_t ready_ps);
    void arrive(const Arrival& arrival);
    void turn(const Knob& knob);
    void retime(LinkState& state, const Link& link);
    void push_arrival(int32_t link);
    int32_t link_index(int32_t source_rank, int32_t target_rank);
    int64_t next_change_ps() const;

    RunSpec run_;
    Schedule schedule_;
    Topology topology_;
    Buffers buffers_;
    std::vector<RankState> ranks_;
    std::vector<LinkState> links_;  // those that were used, in order of first use
    std::vector<std::vector<std::pair<int32_t, int32_t>>>
        links_of_;                   // [source rank] (target rank, index)
    std::vector<Arrival> arrivals_;  // min-heap: one per link with messages
    std::vector<Event> events_;
    std::vector<Transfer> scratch_;
    int64_t messages_left_ = 0;
    int64_t now_ps_ = 0;
    size_t next_change_ = 0;
};

// The whole run at once.
Result<Trace> simulate(const RunSpec& run);

}  // namespace ringscope
