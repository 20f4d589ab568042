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
//     while (!simulator->done()) simulator->advance_by(1000);
//
// The model. In each lane a rank sends what step s asks of it once it has all that the steps before
// s bring it. Messages take their time on the links of the topology (network.hpp); one that is to
// be reduced then takes its bytes / reduce at the target, one after the other. Reducing is free
// unless the run says otherwise. A uniform ring takes 2(N-1)(alpha + S/(N B)), up to rounding each
// step up to a whole picosecond. When a knob turns, what is left of each message's time on the wire
// or in the air is scaled by old / new.
//
// Rounds. A run is one round per iteration, and one more for each time that recovery begins again.
// Event::iteration counts rounds. All ranks begin a round together; changed bytes, algorithms and
// rank counts hold from the next round on.
//
// Failure. A dead rank sends nothing more; a frozen one takes in what comes but sends nothing; a
// cut link moves nothing. When nothing at all has moved for the run's timeout, its recovery policy
// acts, or the run ends and says who waited for whom.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/buffers.hpp"
#include "shared/event_queue.hpp"
#include "shared/network.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/topology.hpp"
#include "shared/trace.hpp"

namespace ringscope {

// A rank that cannot go on in a lane, and who has not sent what it needs.
struct Wait {
    int32_t rank = 0;
    int32_t peer_rank = 0;
    Transfer transfer;  // what is missing

    bool operator==(const Wait&) const = default;
};

class Simulator {
  public:
    // Errors: an engine other than the simulator, a topology, schedule or change that does not fit
    // together, a run that would outlast the clock.
    static Result<Simulator> create(const RunSpec& run);

    // Up to and including time_ps; a time that is past changes nothing.
    void advance_to(int64_t time_ps);
    // Until this many events more are ready, or done.
    void advance_by(int64_t event_count);
    int64_t now_ps() const { return now_ps_; }
    bool done() const { return finished_; }
    // The next moment at which something may happen. Only while not done().
    int64_t next_event_ps();

    // Turns a knob now. It becomes part of run(). Errors: as parse_run for a change, and as
    // create().
    Status apply(const Knob& knob);

    // The events since the last call, in order of their end.
    std::vector<Event> take_events();

    const RunSpec& run() const { return run_; }
    const std::vector<Round>& rounds() const { return rounds_; }
    const std::vector<Note>& notes() const { return notes_; }
    const Schedule& schedule() const { return schedule_; }  // of the last round, as are the next
    const Buffers& buffers() const { return *buffers_; }
    const Network& network() const { return *network_; }
    bool alive(int32_t rank) const { return !ranks_[static_cast<size_t>(rank)].out; }
    bool frozen(int32_t rank) const { return ranks_[static_cast<size_t>(rank)].frozen; }
    std::vector<Wait> waits() const;

    // How it ended. Only when done().
    const Outcome& outcome() const;

  private:
    // What every message touches lies together, as in Message.
    struct alignas(64) RankState {
        bool alive = true;
        bool out = false;  // of this round: it has died since it began, or before
        bool frozen = false;
        bool cut_off = false;      // the others could not reach it
        int32_t last_target = -1;  // of its last message, and the connection that that took
        int32_t last_channel = 0;
        int32_t last_connection = 0;
        int64_t resume_ps = 0;      // sends nothing before
        std::vector<int32_t> held;  // messages that wait until it goes on
        int64_t reduced_ps = 0;     // when it has reduced all that came so far
        int64_t start_ps = 0;       // of the first round
        int64_t slowdown = 1000;    // thousandths
        int64_t since_ps = 0;       // dead or frozen
    };
    struct LaneState {
        int32_t step = 0;           // whose receives it waits for
        int32_t receives_left = 0;  // in that step
        int32_t early_first = -1;   // of the messages that are there before their step, a list
        int32_t early_last = -1;    //
    };
    struct alignas(64) Message {
        Transfer transfer;
        int32_t fault = -1;  // a Fault, or none
        int64_t bytes = 0;
        int64_t begin_ps = 0;
        std::array<uint32_t, 2> words{};  // its payload; of a longer one, in long_payloads_
        int32_t next_early = -1;          // in LaneState's list
    };
    struct LinkFault {
        Knob knob;  // whose value is the Fault
    };
    enum class Timer : uint8_t { release, reduced };
    struct TimerItem {
        int32_t index = 0;  // rank or message
        Timer timer = Timer::release;
    };

    explicit Simulator(const RunSpec& run);

    Status begin_round(int64_t time_ps, std::string why);
    void enter_lane(int32_t rank, int32_t lane);
    void send(const Transfer& transfer);
    void hand_over(int32_t message);
    void arrive(const Arrival& arrival);
    void take_in(int32_t message, int64_t end_ps);
    bool accept(int32_t message, int64_t end_ps);
    void run_timer(const TimerItem& item);
    void release(int32_t rank);
    void turn(const Knob& knob);
    void turn_rank(const Knob& knob);
    int32_t take_fault(const Transfer& transfer, int32_t connection);
    int32_t new_message();
    int32_t message_step(int32_t message) const {
        return messages_[static_cast<size_t>(message)].transfer.step;
    }
    void keep_early(LaneState& lane, int32_t message);
    uint32_t* payload(int32_t message);
    uint32_t* long_payload(int32_t message, size_t word_count);
    void finish_round();
    bool resize();
    void finish(OutcomeKind kind, std::string reason);
    bool step_once(int64_t limit_ps);
    bool take_arrivals(size_t wanted, int64_t limit_ps);
    int64_t next_change_ps() const;
    bool held(const RankState& state) const;

    void recover();
    bool resume();
    std::vector<int32_t> survivors() const;
    void note_cut_off();
    std::string blame() const;
    std::string name_stuck(const Stuck& stuck) const;
    std::string name_wait() const;
    const Schedule& believed(int32_t rank) const;
    Status prepare();

    RunSpec run_;
    RunSpec current_;    // with the changes of bytes, algorithm and ranks so far
    Topology topology_;  // with all knobs turned so far
    Schedule schedule_;
    std::unique_ptr<Buffers> buffers_;
    std::unique_ptr<Network> network_;
    std::vector<int32_t> members_;         // who takes part; empty: all
    std::map<int32_t, Schedule> beliefs_;  // of ranks that believe in another buffer size
    std::vector<RankState> ranks_;         // [participant]
    std::vector<LaneState> lanes_;         // [participant][lane]
    std::vector<Message> messages_;
    std::vector<std::vector<uint32_t>> long_payloads_;  // [message]
    std::vector<int32_t> free_messages_;
    std::vector<int32_t> lost_;  // messages that a fault has dropped
    std::vector<LinkFault> faults_;
    EventQueue<TimerItem> timers_;
    std::vector<Event> events_;
    std::vector<Transfer> scratch_;
    std::vector<Round> rounds_;
    std::vector<Note> notes_;
    int64_t messages_left_ = 0;
    int64_t now_ps_ = 0;
    int64_t moved_ps_ = 0;  // when anything last did
    size_t next_change_ = 0;
    int32_t pending_rank_count_ = 0;  // from the next iteration on; 0: as it is
    int64_t iteration_ = 0;
    int32_t attempt_ = 0;
    bool watching_ = false;  // take_arrivals() has to look at the timers again
    bool finished_ = false;
    Outcome outcome_;
};

// The whole run at once.
Result<Trace> simulate(const RunSpec& run);

}  // namespace ringscope
