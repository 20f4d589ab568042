// SPDX-License-Identifier: Apache-2.0
#include "shared/replay.hpp"

#include <algorithm>
#include <bit>

#include "shared/arrange.hpp"

namespace ringscope {

Result<Replay> Replay::create(const RunSpec& run) {
    auto topology = build_topology(run);
    if (!topology) {
        return topology.error();
    }
    const auto schedule = build_schedule(run, *topology);
    if (!schedule) {
        return schedule.error();
    }
    return Replay(run, std::move(*topology), *schedule);
}

Replay::Replay(const RunSpec& run, Topology&& topology, const Schedule& schedule)
    : run_(run),
      topology_(std::move(topology)),
      stages_{{.round = -1, .begin_ps = 0, .schedule = schedule}},
      buffers_(schedule, run.seed) {}

Status Replay::add_rounds(std::span<const Round> rounds) {
    for (const Round& round : rounds) {
        RunSpec run = run_;
        run.algorithm = round.algorithm;
        run.problem = round.problem;
        run.settings.clear();
        Topology topology = topology_;
        if (round.problem.rank_count != run_.problem.rank_count) {
            auto other = build_topology(run);
            if (!other) {
                return other.error();
            }
            topology = std::move(*other);
        }
        const auto schedule = build_schedule(run, topology, round.members);
        if (!schedule) {
            return schedule.error();
        }
        const auto after = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& stage) {
            return stage.round > round.index;
        });
        stages_.insert(after, {round.index, round.begin_ps, *schedule});
        marks_.push_back({round.begin_ps, round.index, -1, false, -1});
        end_ps_ = std::max(end_ps_, round.begin_ps);
        round_count_ = std::max(round_count_, round.index + 1);
        sorted_ = false;
    }
    return Done{};
}

const Replay::Stage& Replay::stage_of(int32_t round) const {
    const auto after = std::upper_bound(
        stages_.begin() + 1, stages_.end(), round, [](int32_t wanted, const Stage& stage) {
            return wanted < stage.round;
        });
    const Stage& last = *std::prev(after);
    return last.round == round ? last : stages_.front();
}

void Replay::add(std::span<const Event> events) {
    for (const Event& event : events) {
        const auto index = static_cast<int32_t>(events_.size());
        events_.push_back(event);
        marks_.push_back({event.begin_ps, event.iteration, event.transfer.step, false, index});
        marks_.push_back({event.end_ps, event.iteration, event.transfer.step, true, index});
        end_ps_ = std::max(end_ps_, event.end_ps);
        round_count_ = std::max(round_count_, event.iteration + 1);
    }
    payloads_.resize(events_.size());
    sorted_ = sorted_ && events.empty();
}

// The inputs of the round's members.
void Replay::enter(int32_t round) {
    iteration_ = round;
    const auto stage = static_cast<int32_t>(&stage_of(round) - stages_.data());
    if (stage == buffers_stage_) {
        buffers_.reset();
        return;
    }
    buffers_stage_ = stage;
    buffers_ = Buffers(stages_[static_cast<size_t>(stage)].schedule, run_.seed);
    in_flight_.clear();  // of a round with other chunks and ranks
}

void Replay::rewind() {
    buffers_stage_ = -1;  // stages may have moved
    enter(0);
    in_flight_.clear();
    next_mark_ = 0;
}

void Replay::seek(int64_t time_ps) {
    if (!sorted_) {
        std::sort(marks_.begin(), marks_.end());
        sorted_ = true;
        rewind();
    } else if (time_ps < time_ps_) {
        rewind();
    }
    time_ps_ = time_ps;
    while (next_mark_ < marks_.size() && marks_[next_mark_].time_ps <= time_ps) {
        pass(marks_[next_mark_++]);
    }
}

// Marks of one moment are ordered by step and, within it, the beginning first: what arrives in a
// step can leave in the next, never in the same.
void Replay::pass(const Mark& mark) {
    if (mark.iteration != iteration_) {
        enter(mark.iteration);
    }
    if (mark.event < 0) {
        return;
    }
    const Event& event = events_[static_cast<size_t>(mark.event)];
    std::vector<uint32_t>& payload = payloads_[static_cast<size_t>(mark.event)];
    if (mark.end) {
        buffers_.write(event.transfer, payload.data());
        payload = {};
        in_flight_.erase(std::remove(in_flight_.begin(), in_flight_.end(), mark.event),
                         in_flight_.end());
    } else {
        payload.resize(buffers_.payload_words(event.transfer));
        buffers_.read(event.transfer, payload.data());
        in_flight_.push_back(mark.event);
    }
}

Replay::Content Replay::carried(int32_t event, int32_t chunk) const {
    const Transfer& transfer = events_[static_cast<size_t>(event)].transfer;
    const std::vector<uint32_t>& payload = payloads_[static_cast<size_t>(event)];
    RS_CHECK(chunk >= transfer.chunk_begin && !payload.empty());
    const size_t words = payload.size() / static_cast<size_t>(transfer.chunk_count);
    const uint32_t* own =
        payload.data() + words * static_cast<size_t>(chunk - transfer.chunk_begin);
    return {static_cast<int32_t>(own[0]), words > 1 ? std::bit_cast<float>(own[1]) : 0};
}

}  // namespace ringscope
