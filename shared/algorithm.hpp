// SPDX-License-Identifier: Apache-2.0
// Algorithm: how one collective algorithm describes itself. One file in algorithms/ defines each,
// one line in algorithms/registry.cpp lists it; menus, flags and tests pick it up from there.
//
// It sees one lane of one channel and n positions: schedule.position_count() of them, 0 to n-1, and
// position n for the switch, if its plan asks for one. Which rank sits at a position, which bytes a
// lane has and how lanes share connections is Schedule's business.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/schedule.hpp"

namespace ringscope {

struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view steps;           // "2(N-1)"
    std::string_view bytes_per_rank;  // "2(N-1)/N S"
    std::string_view wins;            // when it does, and what it loses by
    std::string_view source;          // paper and section
    Collective collective = Collective::all_reduce;
    bool uses_groups = false;  // schedule.group_size matters

    // Sets step_count and lane_chunk_count of a schedule whose algorithm and problem are filled in,
    // as are channel_count, piece_count and group_size: with the arrangement's, or with 1 each
    // where it says 0 and so leaves the choice to the plan. May set with_switch. Errors name a key:
    // channels, chunks or group.
    Status (*plan)(Schedule& schedule, const Arrangement& arrangement);

    // Appends what a position sends (receives) in a step: step, source_rank, target_rank, action,
    // chunk_begin and chunk_count, the ranks being positions and the chunks those of one lane.
    void (*append_sends)(const Schedule& schedule,
                         int32_t step,
                         int32_t position,
                         std::vector<Transfer>& transfers);
    void (*append_receives)(const Schedule& schedule,
                            int32_t step,
                            int32_t position,
                            std::vector<Transfer>& transfers);

    // For people: the name of a step's phase, and one sentence on what all do in it.
    std::string_view (*phase)(const Schedule& schedule, int32_t step);
    std::string (*explain)(const Schedule& schedule, int32_t step);

    // Closed forms, held against the schedule and the simulator by the tests. The first is of one
    // lane. The second is the time on a uniform topology, where the concurrent messages of a rank
    // share its one port per direction: exact when all chunks are of the same size, up to a
    // picosecond a step, and closed_form_exact says so; otherwise a bound from above.
    int64_t (*message_count)(const Schedule& schedule);
    int64_t (*closed_form_ps)(const Schedule& schedule,
                              int64_t bandwidth_bytes_per_s,
                              int64_t latency_ps);

    // How many messages append_receives() would append, where that is worth telling faster.
    int32_t (*receive_count)(const Schedule& schedule, int32_t step, int32_t position) = nullptr;

    // Null: always.
    bool (*closed_form_exact)(const Schedule& schedule) = nullptr;

    // [channel] position -> place in the order of the channel that the arrangement gives; null: the
    // same.
    std::vector<int32_t> (*order)(int32_t rank_count, int32_t channel) = nullptr;
};

// In the order of the menu.
std::span<const Algorithm* const> algorithms();

// Null when there is none of that name.
const Algorithm* find_algorithm(std::string_view name);

// What follows is done for every message and therefore here, for the compiler to see.

inline void Schedule::place(int32_t lane, Transfer* transfer, const Transfer* end) const {
    const int32_t channel = lane_channel(lane);
    const int32_t* order = orders[static_cast<size_t>(channel)].data();
    for (; transfer != end; ++transfer) {
        transfer->channel = channel;
        transfer->source_rank = order[transfer->source_rank];
        transfer->target_rank = order[transfer->target_rank];
        if (relabel_chunks) {
            transfer->chunk_begin = member_index(order[transfer->chunk_begin]);
        }
        transfer->chunk_begin += lane * lane_chunk_count;
    }
}

inline int32_t Schedule::position_of(int32_t lane, int32_t participant) const {
    return positions[static_cast<size_t>(lane_channel(lane))][static_cast<size_t>(participant)];
}

inline void Schedule::append_sends(int32_t lane,
                                   int32_t step,
                                   int32_t participant,
                                   std::vector<Transfer>& transfers) const {
    if (const int32_t position = position_of(lane, participant); position >= 0) {
        const size_t first = transfers.size();
        algorithm->append_sends(*this, step, position, transfers);
        place(lane, transfers.data() + first, transfers.data() + transfers.size());
    }
}

inline void Schedule::append_receives(int32_t lane,
                                      int32_t step,
                                      int32_t participant,
                                      std::vector<Transfer>& transfers) const {
    if (const int32_t position = position_of(lane, participant); position >= 0) {
        const size_t first = transfers.size();
        algorithm->append_receives(*this, step, position, transfers);
        place(lane, transfers.data() + first, transfers.data() + transfers.size());
    }
}

inline int32_t Schedule::receive_count(int32_t lane, int32_t step, int32_t participant) const {
    const int32_t position = position_of(lane, participant);
    if (position < 0) {
        return 0;
    }
    if (algorithm->receive_count != nullptr) {
        return algorithm->receive_count(*this, step, position);
    }
    std::vector<Transfer> transfers;
    algorithm->append_receives(*this, step, position, transfers);
    return static_cast<int32_t>(transfers.size());
}

}  // namespace ringscope
