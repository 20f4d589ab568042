// SPDX-License-Identifier: Apache-2.0
#include "shared/replay.hpp"

#include <algorithm>

#include "shared/arrange.hpp"

namespace ringscope {

Result<Replay> Replay::create(const RunSpec& run) {
    const auto schedule = build_schedule(run);
    if (!schedule) {
        return schedule.error();
    }
    return Replay(run, *schedule);
}

Replay::Replay(const RunSpec& run, const Schedule& schedule)
    : schedule_(schedule), buffers_(schedule, run.seed) {}

void Replay::add(std::span<const Event> events) {
    for (const Event& event : events) {
        const auto index = static_cast<int32_t>(events_.size());
        events_.push_back(event);
        marks_.push_back({event.begin_ps, event.iteration, event.transfer.step, false, index});
        marks_.push_back({event.end_ps, event.iteration, event.transfer.step, true, index});
        end_ps_ = std::max(end_ps_, event.end_ps);
    }
    payloads_.resize(events_.size());
    sorted_ = sorted_ && events.empty();
}

void Replay::rewind() {
    buffers_.reset();
    in_flight_.clear();
    next_mark_ = 0;
    iteration_ = 0;
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
    const Event& event = events_[static_cast<size_t>(mark.event)];
    if (mark.iteration != iteration_) {
        iteration_ = mark.iteration;
        buffers_.reset();
    }
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

}  // namespace ringscope
