// SPDX-License-Identifier: Apache-2.0
#include "shared/simulator.hpp"

#include <algorithm>
#include <functional>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

// The worst a run can take: every step as slow as the slowest setting or change makes it.
Status check_duration(const RunSpec& run, const Schedule& schedule) {
    int64_t bandwidth = run.bandwidth_bytes_per_s;
    int64_t latency_ps = run.latency_ps;
    int64_t start_ps = 0;
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

Link link_of(const Topology& topology, int32_t source_rank, int32_t target_rank) {
    Router router(topology);
    Link whole{.bandwidth_bytes_per_s = INT64_MAX};
    for (const int32_t index : router.route(topology.rank_nodes[static_cast<size_t>(source_rank)],
                                            topology.rank_nodes[static_cast<size_t>(target_rank)],
                                            0)) {
        const Link& link = topology.links[static_cast<size_t>(index)];
        whole.bandwidth_bytes_per_s =
            std::min(whole.bandwidth_bytes_per_s, link.bandwidth_bytes_per_s);
        whole.latency_ps += link.latency_ps;
    }
    if (const auto pair = topology.pairs.find({source_rank, target_rank});
        pair != topology.pairs.end()) {
        whole.bandwidth_bytes_per_s =
            pair->second.bandwidth_bytes_per_s.value_or(whole.bandwidth_bytes_per_s);
        whole.latency_ps = pair->second.latency_ps.value_or(whole.latency_ps);
    }
    return whole;
}

}  // namespace

Result<Simulator> Simulator::create(const RunSpec& run) {
    if (!simulated(run)) {
        return invalid_field(
            "engine", run.engine, "is not simulated; leave engine out or run it on a machine");
    }
    if (run.iterations != 1) {
        return invalid_field("iterations",
                             std::to_string(run.iterations),
                             "must be 1 in a simulation, where every iteration would be the same");
    }
    const auto schedule = build_schedule(run);
    if (!schedule) {
        return schedule.error();
    }
    if (const Status status = check_duration(run, *schedule); !status) {
        return status.error();
    }
    return Simulator(run, *schedule);
}

Simulator::Simulator(const RunSpec& run, const Schedule& schedule)
    : run_(run),
      schedule_(schedule),
      topology_(*build_topology(run)),
      buffers_(schedule, run.seed),
      ranks_(static_cast<size_t>(schedule.problem.rank_count)),
      links_of_(static_cast<size_t>(schedule.problem.rank_count)),
      messages_left_(schedule.message_count()) {
    for (const Knob& knob : run_.settings) {
        if (knob.kind == Knob::Kind::rank_start) {
            ranks_[static_cast<size_t>(knob.rank)].start_ps = knob.value;
        }
    }
    for (int32_t rank = 0; rank < schedule_.problem.rank_count; ++rank) {
        enter_step(rank, 0);
    }
}

// Issues the sends of the rank's step and of each later one that needs no receive to begin.
void Simulator::enter_step(int32_t rank, int64_t time_ps) {
    RankState& state = ranks_[static_cast<size_t>(rank)];
    const int64_t ready_ps = std::max(time_ps, state.start_ps);
    for (; state.step < schedule_.step_count; ++state.step) {
        scratch_.clear();
        schedule_.append_receives(0, state.step, rank, scratch_);
        state.receives_left = static_cast<int32_t>(scratch_.size());
        if (const auto early = state.early.find(state.step); early != state.early.end()) {
            state.receives_left -= early->second;
            state.early.erase(early);
        }
        scratch_.clear();
        schedule_.append_sends(0, state.step, rank, scratch_);
        for (const Transfer& transfer : scratch_) {
            send(transfer, ready_ps);
        }
        if (state.receives_left > 0) {
            return;
        }
    }
}

void Simulator::send(const Transfer& transfer, int64_t ready_ps) {
    const int32_t index = link_index(transfer.source_rank, transfer.target_rank);
    LinkState& state = links_[static_cast<size_t>(index)];
    Message message;
    message.transfer = transfer;
    message.bytes = schedule_.bytes(transfer);
    message.ready_ps = ready_ps;
    message.begin_ps = std::max(ready_ps, state.free_ps);
    message.wire_end_ps =
        message.begin_ps + transfer_ps(message.bytes, state.link.bandwidth_bytes_per_s);
    message.end_ps = message.wire_end_ps + state.link.latency_ps;
    if (!state.messages.empty()) {  // a message sent before a cut in latency is not overtaken
        message.end_ps = std::max(message.end_ps, state.messages.back().end_ps);
    }
    message.payload = buffers_.read(transfer);
    state.free_ps = message.wire_end_ps;
    state.messages.push_back(std::move(message));
    if (state.messages.size() == 1) {
        push_arrival(index);
    }
}

void Simulator::arrive(const Arrival& arrival) {
    LinkState& link = links_[static_cast<size_t>(arrival.link)];
    const Message message = std::move(link.messages.front());
    link.messages.pop_front();
    if (!link.messages.empty()) {
        push_arrival(arrival.link);
    }
    buffers_.write(message.transfer, message.payload);
    events_.push_back({message.transfer, 0, message.bytes, message.begin_ps, message.end_ps});
    --messages_left_;

    RankState& target = ranks_[static_cast<size_t>(arrival.target_rank)];
    if (message.transfer.step != target.step) {
        ++target.early[message.transfer.step];
    } else if (--target.receives_left == 0) {
        ++target.step;
        enter_step(arrival.target_rank, message.end_ps);
    }
}

void Simulator::advance_to(int64_t time_ps) {
    // At one moment arrivals come first, then the knobs.
    while (!done() && next_event_ps() <= time_ps) {
        if (arrivals_.front().end_ps <= next_change_ps()) {
            const Arrival arrival = arrivals_.front();
            std::pop_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
            arrivals_.pop_back();
            now_ps_ = std::max(now_ps_, arrival.end_ps);
            arrive(arrival);
        } else {
            now_ps_ = std::max(now_ps_, next_change_ps());
            turn(run_.changes[next_change_++].knob);
        }
    }
    if (!done()) {
        now_ps_ = std::max(now_ps_, time_ps);
    }
}

int64_t Simulator::next_event_ps() const {
    RS_CHECK(!arrivals_.empty());  // a verified schedule on links that are up never blocks
    return std::min(arrivals_.front().end_ps, next_change_ps());
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
    if (const Status status = check_duration(changed, schedule_); !status) {
        return status.error();
    }
    run_ = std::move(changed);
    turn(run_.changes[next_change_++].knob);
    return Done{};
}

void Simulator::turn(const Knob& knob) {
    (void)topology_.apply(knob);
    for (LinkState& state : links_) {
        const Link link = link_of(topology_, state.source_rank, state.target_rank);
        if (link != state.link) {
            retime(state, link);
        }
    }
    arrivals_.clear();
    for (int32_t index = 0; index < static_cast<int32_t>(links_.size()); ++index) {
        if (!links_[static_cast<size_t>(index)].messages.empty()) {
            push_arrival(index);
        }
    }
}

// Gives the messages of a link the times they have under its new bandwidth and latency from now on.
void Simulator::retime(LinkState& state, const Link& link) {
    int64_t free_ps = std::min(state.free_ps, now_ps_);
    int64_t last_end_ps = 0;
    for (Message& message : state.messages) {
        if (message.wire_end_ps <= now_ps_) {  // in the air
            const int64_t left_ps = message.end_ps - now_ps_;
            if (state.link.latency_ps > 0) {
                message.end_ps =
                    now_ps_ + multiply_divide_up(left_ps, link.latency_ps, state.link.latency_ps);
            }
        } else {
            if (message.begin_ps <= now_ps_) {  // on the wire
                const int64_t left_ps = message.wire_end_ps - now_ps_;
                message.wire_end_ps = now_ps_ + multiply_divide_up(left_ps,
                                                                   state.link.bandwidth_bytes_per_s,
                                                                   link.bandwidth_bytes_per_s);
            } else {  // waiting
                message.begin_ps = std::max(message.ready_ps, free_ps);
                message.wire_end_ps =
                    message.begin_ps + transfer_ps(message.bytes, link.bandwidth_bytes_per_s);
            }
            message.end_ps = message.wire_end_ps + link.latency_ps;
            free_ps = message.wire_end_ps;
        }
        message.end_ps = std::max(message.end_ps, last_end_ps);
        last_end_ps = message.end_ps;
    }
    state.free_ps = free_ps;
    state.link = link;
}

void Simulator::push_arrival(int32_t index) {
    const LinkState& state = links_[static_cast<size_t>(index)];
    arrivals_.push_back(
        {state.messages.front().end_ps, state.target_rank, state.source_rank, index});
    std::push_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
}

int32_t Simulator::link_index(int32_t source_rank, int32_t target_rank) {
    auto& known = links_of_[static_cast<size_t>(source_rank)];
    for (const auto& [target, index] : known) {
        if (target == target_rank) {
            return index;
        }
    }
    const auto index = static_cast<int32_t>(links_.size());
    LinkState state;
    state.source_rank = source_rank;
    state.target_rank = target_rank;
    state.link = link_of(topology_, source_rank, target_rank);
    links_.push_back(std::move(state));
    known.emplace_back(target_rank, index);
    return index;
}

std::vector<Event> Simulator::take_events() {
    return std::exchange(events_, {});
}

Outcome Simulator::outcome() const {
    RS_CHECK(done());
    if (!buffers_.complete()) {
        return {OutcomeKind::wrong, "a rank does not hold the sum of all inputs"};
    }
    return {};
}

Result<Trace> simulate(const RunSpec& run) {
    auto simulator = Simulator::create(run);
    if (!simulator) {
        return simulator.error();
    }
    while (!simulator->done()) {
        simulator->advance_to(simulator->next_event_ps());
    }
    Trace trace;
    trace.run = simulator->run();
    trace.events = simulator->take_events();
    trace.outcome = simulator->outcome();
    return trace;
}

}  // namespace ringscope
