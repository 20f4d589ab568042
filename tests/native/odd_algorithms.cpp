// SPDX-License-Identifier: Apache-2.0
#include "tests/native/odd_algorithms.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ringscope::testing {
namespace {

int32_t place_count(const Schedule& schedule) {
    return schedule.position_count() + (schedule.with_switch ? 1 : 0);
}

// From the sends, so that an algorithm need say those only.
void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    std::vector<Transfer> sends;
    for (int32_t source = 0; source < place_count(schedule); ++source) {
        schedule.algorithm->append_sends(schedule, step, source, sends);
    }
    std::copy_if(sends.begin(),
                 sends.end(),
                 std::back_inserter(transfers),
                 [position](const Transfer& send) { return send.target_rank == position; });
}

int64_t message_count(const Schedule& schedule) {
    std::vector<Transfer> sends;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        for (int32_t source = 0; source < place_count(schedule); ++source) {
            schedule.algorithm->append_sends(schedule, step, source, sends);
        }
    }
    return std::ssize(sends);
}

using Plan = Status (*)(Schedule&, const Arrangement&);
using AppendSends = void (*)(const Schedule&, int32_t, int32_t, std::vector<Transfer>&);

Algorithm make_algorithm(Collective collective, Plan plan, AppendSends append_sends) {
    Algorithm algorithm{};
    algorithm.collective = collective;
    algorithm.plan = plan;
    algorithm.append_sends = append_sends;
    algorithm.append_receives = append_receives;
    algorithm.message_count = message_count;
    return algorithm;
}

bool needs(const Schedule& schedule, int32_t target, int32_t source, int32_t chunk) {
    switch (schedule.problem.collective) {
        case Collective::all_reduce:
            break;
        case Collective::reduce_scatter:
            return chunk == target;
        case Collective::all_gather:
            return chunk == source;
        case Collective::broadcast:
            return source == 0;
        case Collective::reduce:
            return target == 0;
    }
    return true;
}

void append_direct_sends(const Schedule& schedule,
                         int32_t step,
                         int32_t position,
                         std::vector<Transfer>& transfers) {
    const Collective collective = schedule.problem.collective;
    const bool sums = collective != Collective::all_gather && collective != Collective::broadcast;
    for (int32_t target = 0; target < schedule.position_count(); ++target) {
        for (int32_t chunk = 0; chunk < schedule.lane_chunk_count; ++chunk) {
            if (target != position && needs(schedule, target, position, chunk)) {
                transfers.push_back({.step = step,
                                     .source_rank = position,
                                     .target_rank = target,
                                     .action = sums ? Action::reduce : Action::copy,
                                     .chunk_begin = chunk,
                                     .chunk_count = 1});
            }
        }
    }
}

Algorithm make_direct(Collective collective) {
    const Plan plan = [](Schedule& schedule, const Arrangement&) -> Status {
        schedule.step_count = 1;
        schedule.lane_chunk_count = schedule.position_count();
        return Done{};
    };
    return make_algorithm(collective, plan, append_direct_sends);
}

Status plan_merry_go_round(Schedule& schedule, const Arrangement&) {
    schedule.step_count = schedule.position_count() + 1;
    schedule.lane_chunk_count = 2;
    return Done{};
}

void append_merry_go_round_sends(const Schedule& schedule,
                                 int32_t step,
                                 int32_t position,
                                 std::vector<Transfer>& transfers) {
    const int32_t n = schedule.position_count();
    const bool goes_round = step < n;
    for (int32_t distance = 1; distance < (goes_round ? std::min(n, 2) : n); ++distance) {
        transfers.push_back({.step = step,
                             .source_rank = position,
                             .target_rank = (position + distance) % n,
                             .action = goes_round ? Action::copy : Action::reduce,
                             .chunk_begin = 0,
                             .chunk_count = 2});
    }
}

Status plan_hasty_switch(Schedule& schedule, const Arrangement&) {
    schedule.step_count = 2;
    schedule.lane_chunk_count = 3;
    schedule.with_switch = true;
    return Done{};
}

void append_hasty_switch_sends(const Schedule& schedule,
                               int32_t step,
                               int32_t position,
                               std::vector<Transfer>& transfers) {
    const int32_t the_switch = schedule.position_count();
    for (int32_t rank = 0; rank < the_switch; ++rank) {
        for (int32_t chunk = 0; chunk < schedule.lane_chunk_count; ++chunk) {
            Transfer transfer{.step = step,
                              .source_rank = position,
                              .target_rank = the_switch,
                              .action = step == 0 ? Action::reduce : Action::copy,
                              .chunk_begin = chunk,
                              .chunk_count = 1};
            if (position == the_switch) {
                transfer.target_rank = rank;
                transfers.push_back(transfer);
            } else if (position == rank && step == 0) {
                transfers.push_back(transfer);
            }
        }
    }
}

}  // namespace

const Algorithm& direct(Collective collective) {
    static const std::array list{make_direct(Collective::all_reduce),
                                 make_direct(Collective::reduce_scatter),
                                 make_direct(Collective::all_gather),
                                 make_direct(Collective::broadcast),
                                 make_direct(Collective::reduce)};
    return list[static_cast<size_t>(collective)];
}

const Algorithm merry_go_round =
    make_algorithm(Collective::all_reduce, plan_merry_go_round, append_merry_go_round_sends);

const Algorithm hasty_switch =
    make_algorithm(Collective::all_reduce, plan_hasty_switch, append_hasty_switch_sends);

Schedule lay_out(const Algorithm& algorithm,
                 const Problem& problem,
                 const Arrangement& arrangement) {
    Schedule schedule = *build_schedule("ring", problem, arrangement);
    schedule.algorithm = &algorithm;
    schedule.problem.collective = algorithm.collective;
    RS_CHECK(algorithm.plan(schedule, arrangement));
    schedule.chunk_count = schedule.lane_count * schedule.lane_chunk_count;
    schedule.cut(problem.element_count);
    schedule.relabel_chunks = algorithm.collective == Collective::reduce_scatter ||
                              algorithm.collective == Collective::all_gather;
    if (schedule.with_switch) {
        const int32_t the_switch = schedule.participant_count++;
        for (int32_t channel = 0; channel < schedule.channel_count; ++channel) {
            schedule.orders[static_cast<size_t>(channel)].push_back(the_switch);
            schedule.positions[static_cast<size_t>(channel)].push_back(the_switch);
        }
    }
    return schedule;
}

}  // namespace ringscope::testing
