// SPDX-License-Identifier: Apache-2.0
#include "shared/simulator.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr int32_t attempt_count_max = 8;  // of one iteration

// The worst a step can take: as slow as the slowest link or knob makes it. What is shared or waits
// behind others can be slower still; step_once() watches the clock for that.
Status check_duration(const RunSpec& run, const Schedule& schedule, const Topology& topology) {
    int64_t bandwidth = INT64_MAX;
    int64_t latency_ps = 0;
    int64_t start_ps = run.launch_ps;
    for (const Link& link : topology.links) {
        bandwidth = std::min(bandwidth, link.bandwidth_bytes_per_s);
        latency_ps = std::max(latency_ps, link.latency_ps);
    }
    const auto widen = [&](const Knob& knob) {
        switch (knob.kind) {
            case Knob::Kind::bandwidth:
            case Knob::Kind::link_bandwidth:
                bandwidth = std::min(bandwidth, knob.value);
                break;
            case Knob::Kind::latency:
            case Knob::Kind::link_latency:
                latency_ps = std::max(latency_ps, knob.value);
                break;
            case Knob::Kind::rank_start:
            case Knob::Kind::rank_delay:
                start_ps = std::max(start_ps, knob.value);
                break;
            default:
                break;
        }
    };
    std::for_each(run.settings.begin(), run.settings.end(), widen);
    for (const Change& change : run.changes) {
        widen(change.knob);
        start_ps = std::max(start_ps, change.time_ps);
    }
    // Whole seconds, rounded up, so that nothing here can overflow. Two steps' worth of slack for
    // what waits behind a slow message.
    const int64_t step_s = buffer_bytes(schedule.problem) / schedule.chunk_count / bandwidth + 2 +
                           latency_ps / ps_per_s;
    const int64_t limit_s = time_ps_max / ps_per_s - start_ps / ps_per_s;
    if (step_s > limit_s / (int64_t{schedule.step_count} + 2)) {
        return invalid_field(
            "bandwidth",
            print_bandwidth(bandwidth),
            "with latency=" + print_time(latency_ps) +
                " and bytes=" + print_bytes(buffer_bytes(schedule.problem)) +
                " the run would last longer than 53 days; raise the bandwidth or lower the bytes");
    }
    return Done{};
}

bool names_next_iteration(const Knob& knob) {
    return knob.kind == Knob::Kind::bytes || knob.kind == Knob::Kind::algorithm ||
           knob.kind == Knob::Kind::ranks;
}

Status check_changes(const RunSpec& run) {
    for (const Change& change : run.changes) {
        if (names_next_iteration(change.knob) && run.iterations == 1) {
            return invalid_field("change",
                                 print_time(change.time_ps) + ":" + print_knob(change.knob),
                                 "holds from the next iteration on; ask for iterations=2 or more");
        }
    }
    return Done{};
}

}  // namespace

// What is done for every message, callees first, so that the compiler makes one piece of it.

[[gnu::always_inline]] inline bool Simulator::held(const RankState& state) const {
    return state.frozen || state.resume_ps > now_ps_;
}

[[gnu::always_inline]] inline uint32_t* Simulator::payload(int32_t index) {
    Message& message = messages_[static_cast<size_t>(index)];
    const size_t word_count = buffers_->payload_words(message.transfer);
    return word_count <= message.words.size() ? message.words.data()
                                              : long_payload(index, word_count);
}

[[gnu::always_inline]] inline int32_t Simulator::new_message() {
    if (!free_messages_.empty()) {
        const int32_t index = free_messages_.back();
        free_messages_.pop_back();
        return index;
    }
    messages_.emplace_back();
    return static_cast<int32_t>(messages_.size()) - 1;
}

[[gnu::always_inline]] inline void Simulator::hand_over(int32_t index) {
    Message& message = messages_[static_cast<size_t>(index)];
    const Transfer& transfer = message.transfer;
    if (ranks_[static_cast<size_t>(transfer.target_rank)].out) {
        free_messages_.push_back(index);  // nobody is there
        return;
    }
    RankState& source = ranks_[static_cast<size_t>(transfer.source_rank)];
    if (source.last_target != transfer.target_rank || source.last_channel != transfer.channel) {
        source.last_target = transfer.target_rank;
        source.last_channel = transfer.channel;
        source.last_connection =
            network_->connect(transfer.source_rank, transfer.target_rank, transfer.channel);
    }
    if (!faults_.empty()) {
        message.fault = take_fault(transfer, source.last_connection);
    }
    network_->send(source.last_connection, index, message.bytes, now_ps_);
}

// What a message carries is read now, also when its rank cannot send it yet.
[[gnu::always_inline]] inline void Simulator::send(const Transfer& transfer) {
    RankState& source = ranks_[static_cast<size_t>(transfer.source_rank)];
    if (source.out) {
        return;
    }
    const int32_t index = new_message();
    Message& message = messages_[static_cast<size_t>(index)];
    message.transfer = transfer;
    message.bytes = beliefs_.empty() ? schedule_.bytes(transfer)
                                     : believed(transfer.source_rank).bytes(transfer);
    message.fault = -1;
    buffers_->read(transfer, payload(index));
    if (held(source)) {
        source.held.push_back(index);
    } else {
        hand_over(index);
    }
}

// Copies or adds it. False when the two ends do not agree and the run ends there.
[[gnu::always_inline]] inline bool Simulator::accept(int32_t index, int64_t end_ps) {
    Message& message = messages_[static_cast<size_t>(index)];
    const Transfer& transfer = message.transfer;
    uint32_t* words = payload(index);
    if (message.fault >= 0) [[unlikely]] {
        if (message.fault == static_cast<int32_t>(Fault::corrupt)) {
            words[1] ^= 1U << 21;
        } else if (message.fault == static_cast<int32_t>(Fault::duplicate)) {
            buffers_->write(transfer, words);
        }
    }
    if (message.fault != static_cast<int32_t>(Fault::empty)) {
        buffers_->write(transfer, words);
    }
    events_.push_back({transfer,
                       static_cast<int32_t>(rounds_.size()) - 1,
                       message.bytes,
                       message.begin_ps,
                       end_ps});
    if (!beliefs_.empty()) {
        const int64_t expected = believed(transfer.target_rank).bytes(transfer);
        if (message.bytes != expected) {
            finish(OutcomeKind::failed,
                   "rank " + std::to_string(transfer.source_rank) + " sends " +
                       show_bytes(message.bytes) + " where rank " +
                       std::to_string(transfer.target_rank) + " expects " + show_bytes(expected) +
                       ", in step " + std::to_string(transfer.step) +
                       ": they do not agree on the size of the buffer");
            return false;
        }
    }
    free_messages_.push_back(index);
    --messages_left_;
    return true;
}

// Issues the sends of the lane's step and of each later one that needs no receive to begin. Only
// then does it take in what came before its step: in some algorithms both ends send and overwrite
// the same chunk in one step.
[[gnu::always_inline]] inline void Simulator::enter_lane(int32_t rank, int32_t lane) {
    LaneState& state =
        lanes_[static_cast<size_t>(rank) * static_cast<size_t>(schedule_.lane_count) +
               static_cast<size_t>(lane)];
    for (; state.step < schedule_.step_count; ++state.step) {
        state.receives_left = schedule_.receive_count(lane, state.step, rank);
        scratch_.clear();
        schedule_.append_sends(lane, state.step, rank, scratch_);
        for (const Transfer& transfer : scratch_) {
            send(transfer);
        }
        while (state.early_first >= 0 && message_step(state.early_first) == state.step) {
            const int32_t message = state.early_first;
            state.early_first = messages_[static_cast<size_t>(message)].next_early;
            state.receives_left -= accept(message, now_ps_) ? 1 : 0;
        }
        if (state.receives_left > 0 || finished_) {
            return;
        }
    }
}

// A message is there. Its target takes it in at once, or when it comes to that step.
[[gnu::always_inline]] inline void Simulator::take_in(int32_t index, int64_t end_ps) {
    const Transfer transfer = messages_[static_cast<size_t>(index)].transfer;
    const int32_t lane = schedule_.lane_of(transfer);
    LaneState& state = lanes_[static_cast<size_t>(transfer.target_rank) *
                                  static_cast<size_t>(schedule_.lane_count) +
                              static_cast<size_t>(lane)];
    if (transfer.step != state.step) {
        keep_early(state, index);
        return;
    }
    if (!accept(index, end_ps)) {
        return;
    }
    if (--state.receives_left == 0) {
        ++state.step;
        enter_lane(transfer.target_rank, lane);
    }
    if (messages_left_ == 0 && !finished_) {
        finish_round();
    }
}

[[gnu::always_inline]] inline void Simulator::arrive(const Arrival& arrival) {
    Message& message = messages_[static_cast<size_t>(arrival.message)];
    message.begin_ps = arrival.begin_ps;
    moved_ps_ = now_ps_;
    RankState& target = ranks_[static_cast<size_t>(message.transfer.target_rank)];
    if (target.out) {
        free_messages_.push_back(arrival.message);
        return;
    }
    if (message.fault == static_cast<int32_t>(Fault::drop)) {
        lost_.push_back(arrival.message);
        return;
    }
    if (run_.reduce_bytes_per_s > 0 && message.transfer.action == Action::reduce &&
        !schedule_.is_switch(message.transfer.target_rank)) {
        const int64_t reduce_ps = multiply_divide_up(
            transfer_ps(message.bytes, run_.reduce_bytes_per_s), target.slowdown, 1000);
        target.reduced_ps = std::max(target.reduced_ps, now_ps_) + reduce_ps;
        timers_.push(target.reduced_ps, {arrival.message, Timer::reduced});
        watching_ = true;
        return;
    }
    take_in(arrival.message, arrival.end_ps);
}

Result<Simulator> Simulator::create(const RunSpec& run) {
    if (!simulated(run)) {
        return invalid_field(
            "engine", run.engine, "is not simulated; leave engine out or run it on a machine");
    }
    if (const Status status = check_changes(run); !status) {
        return status.error();
    }
    Simulator simulator(run);
    if (const Status status = simulator.prepare(); !status) {
        return status.error();
    }
    return simulator;
}

Simulator::Simulator(const RunSpec& run) : run_(run), current_(run) {}

// Everything up to the first moment.
Status Simulator::prepare() {
    auto topology = build_topology(run_);
    if (!topology) {
        return topology.error();
    }
    topology_ = std::move(*topology);
    for (const Change& change : run_.changes) {  // a knob that does not exist is told at once
        Topology copy = topology_;
        if (const Status status = copy.apply(change.knob); !status) {
            return status.error();
        }
    }
    ranks_.resize(static_cast<size_t>(run_.problem.rank_count) + 1);
    for (const Knob& knob : run_.settings) {
        if (knob.kind == Knob::Kind::rank_start) {
            ranks_[static_cast<size_t>(knob.rank)].start_ps = knob.value;
        } else {
            turn_rank(knob);
        }
    }
    return begin_round(0, "");
}

Status Simulator::begin_round(int64_t time_ps, std::string why) {
    const auto schedule = build_schedule(current_, topology_, members_);
    if (!schedule) {
        return schedule.error();
    }
    if (schedule->with_switch && topology_.reducing_node < 0) {
        return invalid_field(
            "algorithm",
            current_.algorithm,
            "needs a switch that reduces; topology=" + current_.topology + " has none");
    }
    if (const Status status = check_duration(current_, *schedule, topology_); !status) {
        return status.error();
    }
    schedule_ = *schedule;
    buffers_ = std::make_unique<Buffers>(schedule_, run_.seed);
    network_ = std::make_unique<Network>(
        topology_, NetworkOptions{.forwarding = run_.forwarding, .slots = run_.slots});
    rounds_.push_back({static_cast<int32_t>(rounds_.size()),
                       time_ps,
                       static_cast<int32_t>(iteration_),
                       current_.algorithm,
                       current_.problem,
                       members_,
                       std::move(why)});
    beliefs_.clear();
    for (const Knob& knob : run_.settings) {
        if (knob.kind == Knob::Kind::rank_bytes) {
            Schedule believed = schedule_;
            believed.cut(knob.value / element_bytes(schedule_.problem.element_type));
            beliefs_.emplace(knob.rank, std::move(believed));
        }
    }
    lanes_.assign(static_cast<size_t>(schedule_.participant_count) *
                      static_cast<size_t>(schedule_.lane_count),
                  LaneState{});
    messages_.clear();
    long_payloads_.clear();
    free_messages_.clear();
    lost_.clear();
    timers_.clear();
    messages_left_ = schedule_.message_count();
    watching_ = true;
    moved_ps_ = time_ps;
    for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
        RankState& state = ranks_[static_cast<size_t>(rank)];
        const int64_t start_ps = rounds_.size() == 1 ? state.start_ps : 0;
        state.out = !state.alive;
        state.held.clear();
        state.reduced_ps = 0;
        state.last_target = -1;
        state.resume_ps =
            std::max(state.resume_ps, time_ps + run_.launch_ps + topology_.launch_ps + start_ps);
        if (state.slowdown != 1000) {
            network_->slow_down(rank, state.slowdown, time_ps);
        }
        if (state.resume_ps > time_ps) {
            timers_.push(state.resume_ps, {rank, Timer::release});
        }
    }
    for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
        for (int32_t lane = 0; lane < schedule_.lane_count; ++lane) {
            enter_lane(rank, lane);
        }
    }
    if (messages_left_ == 0) {
        finish_round();
    }
    return Done{};
}

uint32_t* Simulator::long_payload(int32_t index, size_t word_count) {
    if (static_cast<size_t>(index) >= long_payloads_.size()) {
        long_payloads_.resize(messages_.size());
    }
    std::vector<uint32_t>& words = long_payloads_[static_cast<size_t>(index)];
    words.resize(word_count);
    return words.data();
}

// By step, and those of one step as they came. Mostly it is the last.
void Simulator::keep_early(LaneState& lane, int32_t index) {
    const int32_t step = message_step(index);
    int32_t before = lane.early_first < 0                    ? -1
                     : message_step(lane.early_last) <= step ? lane.early_last
                                                             : -1;
    int32_t after = before < 0 ? lane.early_first : -1;
    while (after >= 0 && message_step(after) <= step) {
        before = after;
        after = messages_[static_cast<size_t>(after)].next_early;
    }
    messages_[static_cast<size_t>(index)].next_early = after;
    (before < 0 ? lane.early_first : messages_[static_cast<size_t>(before)].next_early) = index;
    if (after < 0) {
        lane.early_last = index;
    }
}

const Schedule& Simulator::believed(int32_t rank) const {
    const auto found = beliefs_.find(rank);
    return found == beliefs_.end() ? schedule_ : found->second;
}

// The fault that was set on this way, if there is one; it happens once.
int32_t Simulator::take_fault(const Transfer& transfer, int32_t connection) {
    const std::vector<int32_t>& links = network_->connection_links(connection);
    const auto hits = [&](const LinkFault& fault) {
        const Knob& knob = fault.knob;
        if (knob.rank >= 0 && knob.target_rank >= 0) {
            return knob.rank == transfer.source_rank && knob.target_rank == transfer.target_rank;
        }
        const auto node = [&](int32_t rank, const std::string& name) {
            return rank >= 0 ? topology_.rank_nodes[static_cast<size_t>(rank)]
                             : topology_.find_node(name);
        };
        const int32_t link = topology_.find_link(node(knob.rank, knob.source_node),
                                                 node(knob.target_rank, knob.target_node));
        return std::find(links.begin(), links.end(), link) != links.end();
    };
    const auto fault = std::find_if(faults_.begin(), faults_.end(), hits);
    if (fault == faults_.end()) {
        return -1;
    }
    const auto kind = static_cast<int32_t>(fault->knob.value);
    faults_.erase(fault);
    return kind;
}

void Simulator::finish_round() {
    if (std::string mistake = buffers_->find_mistake(); !mistake.empty()) {
        finish(OutcomeKind::wrong, std::move(mistake));
        return;
    }
    ++iteration_;
    attempt_ = 0;
    if (iteration_ == run_.iterations) {
        finish(OutcomeKind::ok, "");
        return;
    }
    if (!members_.empty()) {
        members_ = survivors();  // who was brought back takes part again
    }
    if (pending_rank_count_ > 0 && !resize()) {
        return;
    }
    if (const Status status = begin_round(now_ps_, ""); !status) {
        finish(OutcomeKind::failed, status.error().message);
    }
}

// Another number of ranks, on the same kind of topology with the knobs turned so far, as far as
// they name what is still there. False when that cannot be.
bool Simulator::resize() {
    current_.problem.rank_count = std::exchange(pending_rank_count_, 0);
    members_.clear();
    RunSpec bare = current_;
    bare.settings.clear();
    auto topology = build_topology(bare);
    if (!topology) {
        finish(OutcomeKind::failed, topology.error().message);
        return false;
    }
    topology_ = std::move(*topology);
    for (const Knob& knob : run_.settings) {
        (void)topology_.apply(knob);
    }
    for (size_t i = 0; i < next_change_; ++i) {
        (void)topology_.apply(run_.changes[i].knob);
    }
    ranks_.resize(static_cast<size_t>(current_.problem.rank_count) + 1);
    return true;
}

void Simulator::finish(OutcomeKind kind, std::string reason) {
    finished_ = true;
    outcome_ = {kind, std::move(reason)};
}

void Simulator::run_timer(const TimerItem& item) {
    if (item.timer == Timer::release) {
        release(item.index);
    } else {
        take_in(item.index, now_ps_);
    }
}

void Simulator::release(int32_t rank) {
    RankState& state = ranks_[static_cast<size_t>(rank)];
    if (held(state) || state.out) {
        return;
    }
    moved_ps_ = now_ps_;
    for (const int32_t message : std::exchange(state.held, {})) {
        hand_over(message);
    }
}

// One thing that happens, not later than limit_ps, when take_arrivals() has found nothing: at one
// moment arrivals come first, then ranks that go on, then knobs.
bool Simulator::step_once(int64_t limit_ps) {
    const int64_t network_ps = network_->next_ps();
    const int64_t timer_ps = timers_.next_ps();
    const int64_t change_ps = next_change_ps();
    const int64_t first_ps = std::min(network_ps, timer_ps);
    if (first_ps <= change_ps && first_ps != INT64_MAX) {
        if (first_ps > limit_ps) {
            return false;
        }
        now_ps_ = std::max(now_ps_, first_ps);
        if (first_ps >= time_ps_max) [[unlikely]] {
            finish(OutcomeKind::failed, "the run would last longer than 53 days");
            return true;
        }
        RS_CHECK(timer_ps < network_ps);
        run_timer(timers_.pop().item);
        return true;
    }
    const int64_t watch_ps =
        first_ps == INT64_MAX ? std::max(now_ps_, moved_ps_ + run_.timeout_ps) : INT64_MAX;
    if (std::min(watch_ps, change_ps) > limit_ps) {
        return false;
    }
    now_ps_ = std::max(now_ps_, std::min(watch_ps, change_ps));
    if (change_ps <= watch_ps) {
        turn(run_.changes[next_change_++].knob);
    } else {
        recover();
    }
    return true;
}

void Simulator::advance_to(int64_t time_ps) {
    while (!finished_ && (take_arrivals(SIZE_MAX, time_ps) || step_once(time_ps))) {
    }
    if (!finished_) {
        now_ps_ = std::max(now_ps_, time_ps);
    }
}

void Simulator::advance_by(int64_t event_count) {
    const size_t wanted = events_.size() + static_cast<size_t>(event_count);
    while (!finished_ && events_.size() < wanted) {
        if (!take_arrivals(wanted, INT64_MAX)) {
            step_once(INT64_MAX);
        }
    }
}

// Messages up to limit_ps or the next thing of another kind, as step_once() would take them one by
// one. False when there was none.
bool Simulator::take_arrivals(size_t wanted, int64_t limit_ps) {
    bool any = false;
    watching_ = false;
    const int64_t bound_ps =
        std::min({timers_.next_ps(), next_change_ps(), time_ps_max - 1, limit_ps});
    while (!finished_ && !watching_ && events_.size() < wanted) {
        Arrival arrival;
        const Network::Step step = network_->step(bound_ps, arrival);
        if (step == Network::Step::none) {
            break;
        }
        now_ps_ = std::max(now_ps_, network_->now_ps());
        if (step == Network::Step::arrival) {
            arrive(arrival);
        }
        any = true;
    }
    return any;
}

int64_t Simulator::next_event_ps() {
    const int64_t first_ps = std::min(network_->next_ps(), timers_.next_ps());
    const int64_t watch_ps =
        first_ps == INT64_MAX ? std::max(now_ps_, moved_ps_ + run_.timeout_ps) : first_ps;
    return std::min(watch_ps, next_change_ps());
}

int64_t Simulator::next_change_ps() const {
    return next_change_ < run_.changes.size() ? run_.changes[next_change_].time_ps : INT64_MAX;
}

Status Simulator::apply(const Knob& knob) {
    // Spelled and read back, so that a knob turned by hand obeys the same rules as one in a run
    // line.
    advance_to(now_ps_);
    RunSpec changed = run_;
    changed.changes.insert(changed.changes.begin() + static_cast<std::ptrdiff_t>(next_change_),
                           Change{now_ps_, knob});
    const auto checked = parse_run(print_run(changed));
    if (!checked) {
        return checked.error();
    }
    if (const Status status = check_changes(changed); !status) {
        return status.error();
    }
    Topology copy = topology_;
    if (const Status status = copy.apply(knob); !status) {
        return status.error();
    }
    if (const Status status = check_duration(changed, schedule_, topology_); !status) {
        return status.error();
    }
    run_.changes = std::move(changed.changes);
    if (!finished_) {
        turn(run_.changes[next_change_++].knob);
    }
    return Done{};
}

void Simulator::turn(const Knob& knob) {
    switch (knob.kind) {
        case Knob::Kind::bandwidth:
        case Knob::Kind::latency:
        case Knob::Kind::link_bandwidth:
        case Knob::Kind::link_latency:
        case Knob::Kind::link_up:
            if (topology_.apply(knob)) {
                (void)network_->apply(knob, now_ps_);
            }
            break;
        case Knob::Kind::bytes:
            current_.problem.element_count =
                knob.value / element_bytes(current_.problem.element_type);
            break;
        case Knob::Kind::algorithm:
            current_.algorithm = std::string(algorithms()[static_cast<size_t>(knob.value)]->name);
            break;
        case Knob::Kind::ranks:
            pending_rank_count_ = static_cast<int32_t>(knob.value);
            break;
        default:
            turn_rank(knob);
            break;
    }
}

// What befalls a rank or, as a fault, a message.
void Simulator::turn_rank(const Knob& knob) {
    if (knob.kind == Knob::Kind::link_fault) {
        faults_.push_back({knob});
        return;
    }
    if (knob.rank < 0 || knob.rank >= std::ssize(ranks_)) {
        return;
    }
    RankState& state = ranks_[static_cast<size_t>(knob.rank)];
    const bool running = network_ != nullptr;
    switch (knob.kind) {
        case Knob::Kind::rank_alive:
            state.alive = knob.value != 0;
            if (!state.alive && !state.out) {
                state.out = true;
                state.since_ps = now_ps_;
                state.held.clear();
                if (running) {
                    network_->silence(knob.rank, now_ps_);
                }
                notes_.push_back({now_ps_, "rank " + std::to_string(knob.rank) + " dies"});
            }
            break;
        case Knob::Kind::rank_frozen:
            if (knob.value != 0 && !state.frozen) {
                state.since_ps = now_ps_;
                notes_.push_back({now_ps_, "rank " + std::to_string(knob.rank) + " freezes"});
            }
            state.frozen = knob.value != 0;
            if (running && !state.frozen) {
                release(knob.rank);
            }
            break;
        case Knob::Kind::rank_delay:
            state.resume_ps = std::max(state.resume_ps, now_ps_ + knob.value);
            timers_.push(state.resume_ps, {knob.rank, Timer::release});
            break;
        case Knob::Kind::rank_slowdown:
            state.slowdown = knob.value;
            if (running) {
                network_->slow_down(knob.rank, knob.value, now_ps_);
            }
            break;
        default:
            break;
    }
}

std::vector<Event> Simulator::take_events() {
    std::vector<Event> next;
    next.reserve(events_.size());  // as many again, probably
    return std::exchange(events_, std::move(next));
}

const Outcome& Simulator::outcome() const {
    RS_CHECK(finished_);
    return outcome_;
}

// Nothing has moved for so long that somebody acts.
void Simulator::recover() {
    const std::string what = blame();
    notes_.push_back(
        {now_ps_, "nothing has moved for " + show_time(run_.timeout_ps) + ": " + what});
    if (run_.recovery == Recovery::none || ++attempt_ >= attempt_count_max) {
        const std::string tries = attempt_ >= attempt_count_max
                                      ? "; given up after " + std::to_string(attempt_) + " attempts"
                                      : "";
        finish(OutcomeKind::timeout, what + tries);
        return;
    }
    if (run_.recovery == Recovery::resume && resume()) {
        moved_ps_ = now_ps_;
        notes_.push_back({now_ps_, "resume: what was lost or stuck is sent again"});
        return;
    }
    std::string why;
    if (run_.recovery == Recovery::restart) {
        for (RankState& state : ranks_) {
            state.alive = true;
            state.frozen = false;
        }
        why = "restart: all ranks begin again";
    } else {
        note_cut_off();
        members_ = survivors();
        if (members_.empty()) {
            finish(OutcomeKind::failed, what + "; no rank is left to go on");
            return;
        }
        why = "shrink: " + std::to_string(members_.size()) + " ranks begin again";
    }
    notes_.push_back({now_ps_, why});
    if (const Status status = begin_round(now_ps_, why); !status) {
        finish(OutcomeKind::failed, status.error().message);
    }
}

// Sends lost messages again, and stuck ones another way. True when that is enough: nobody is dead
// or frozen, whose part the others do not have.
bool Simulator::resume() {
    for (const RankState& state : ranks_) {
        if (state.out || state.frozen) {
            return false;
        }
    }
    const bool rerouted = network_->reroute(now_ps_);
    const bool any_lost = !lost_.empty();
    for (const int32_t index : std::exchange(lost_, {})) {
        Message& message = messages_[static_cast<size_t>(index)];
        message.fault = -1;
        const Transfer& transfer = message.transfer;
        network_->send(
            network_->connect(transfer.source_rank, transfer.target_rank, transfer.channel),
            index,
            message.bytes,
            now_ps_);
    }
    return any_lost || rerouted;
}

// Those who can go on: who is alive, not frozen, and not known to be out of reach.
std::vector<int32_t> Simulator::survivors() const {
    std::vector<int32_t> well;
    for (int32_t rank = 0; rank < current_.problem.rank_count; ++rank) {
        const RankState& state = ranks_[static_cast<size_t>(rank)];
        if (state.alive && !state.frozen && !state.cut_off) {
            well.push_back(rank);
        }
    }
    return well;
}

// When all are well and yet nothing moves, somebody is out of reach: the source of the first stuck
// message if it is its own link that is cut, otherwise the target.
void Simulator::note_cut_off() {
    const std::vector<Stuck> stuck = network_->stuck();
    if (stuck.empty() || std::ssize(survivors()) < schedule_.problem.rank_count) {
        return;
    }
    const Stuck& first = stuck.front();
    const bool its_own = first.link >= 0 && first.source < std::ssize(topology_.rank_nodes) &&
                         topology_.links[static_cast<size_t>(first.link)].source_node ==
                             topology_.rank_nodes[static_cast<size_t>(first.source)];
    ranks_[static_cast<size_t>(its_own ? first.source : first.target)].cut_off = true;
}

std::vector<Wait> Simulator::waits() const {
    std::vector<Wait> all;
    std::vector<Transfer> receives;
    const auto lane_state = [this](int32_t rank, int32_t lane) -> const LaneState& {
        return lanes_[static_cast<size_t>(rank) * static_cast<size_t>(schedule_.lane_count) +
                      static_cast<size_t>(lane)];
    };
    for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
        if (ranks_[static_cast<size_t>(rank)].out) {
            continue;
        }
        for (int32_t lane = 0; lane < schedule_.lane_count; ++lane) {
            const LaneState& state = lane_state(rank, lane);
            if (state.step >= schedule_.step_count || state.receives_left == 0) {
                continue;
            }
            receives.clear();
            schedule_.append_receives(lane, state.step, rank, receives);
            for (const Transfer& transfer : receives) {
                const RankState& source = ranks_[static_cast<size_t>(transfer.source_rank)];
                const bool sent = lane_state(transfer.source_rank, lane).step >= transfer.step &&
                                  !source.out && source.held.empty();
                if (!sent || std::ssize(receives) == state.receives_left) {
                    all.push_back({rank, transfer.source_rank, transfer});
                }
            }
        }
    }
    return all;
}

std::string Simulator::name_stuck(const Stuck& stuck) const {
    const std::string way =
        "rank " + std::to_string(stuck.source) + " to rank " + std::to_string(stuck.target);
    if (stuck.link >= 0) {
        return "link " + topology_.link_name(stuck.link) + " is cut, on the way from " + way;
    }
    const bool pair = topology_.pairs.contains({stuck.source, stuck.target});
    return (pair ? "the link is cut from " : "nothing joins ") + way;
}

// The first who waits, and the chain behind: "rank 4 waits for rank 3 in step 5".
std::string Simulator::name_wait() const {
    const std::vector<Wait> all = waits();
    if (all.empty()) {
        return "";
    }
    const auto first = std::find_if(all.begin(), all.end(), [this](const Wait& wait) {
        const RankState& peer = ranks_[static_cast<size_t>(wait.peer_rank)];
        return peer.out || held(peer);
    });
    const Wait& wait = first == all.end() ? all.front() : *first;
    return "rank " + std::to_string(wait.rank) + " waits for rank " +
           std::to_string(wait.peer_rank) + " in step " + std::to_string(wait.transfer.step) +
           " (" + std::to_string(all.size()) + (all.size() == 1 ? " waits)" : " wait)");
}

// Why nothing moves: whoever is at the root of it, and who waits.
std::string Simulator::blame() const {
    std::string causes;
    const auto add = [&causes](const std::string& cause) {
        causes += (causes.empty() ? "" : "; ") + cause;
    };
    for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
        const RankState& state = ranks_[static_cast<size_t>(rank)];
        const bool takes_part = schedule_.is_member(rank);
        if (takes_part && state.out) {
            add("rank " + std::to_string(rank) + " died at " + show_time(state.since_ps));
        } else if (takes_part && state.frozen) {
            add("rank " + std::to_string(rank) + " froze at " + show_time(state.since_ps));
        }
    }
    if (const std::vector<Stuck> stuck = network_->stuck(); !stuck.empty()) {
        add(name_stuck(stuck.front()));
    }
    if (!lost_.empty()) {
        const Transfer& lost = messages_[static_cast<size_t>(lost_.front())].transfer;
        add("the message of rank " + std::to_string(lost.source_rank) + " to rank " +
            std::to_string(lost.target_rank) + " in step " + std::to_string(lost.step) +
            " was lost");
    }
    if (const std::string waiting = name_wait(); !waiting.empty()) {
        add(waiting);
    }
    return causes;
}

Result<Trace> simulate(const RunSpec& run) {
    auto simulator = Simulator::create(run);
    if (!simulator) {
        return simulator.error();
    }
    while (!simulator->done()) {
        simulator->advance_by(1 << 16);
    }
    Trace trace;
    trace.run = simulator->run();
    trace.rounds = told_rounds(simulator->run(), simulator->rounds());
    trace.notes = simulator->notes();
    trace.events = simulator->take_events();
    trace.outcome = simulator->outcome();
    return trace;
}

}  // namespace ringscope
