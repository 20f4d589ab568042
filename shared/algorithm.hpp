// SPDX-License-Identifier: Apache-2.0
// Algorithm: how one collective algorithm describes itself. One file in algorithms/ defines each,
// one line in algorithms/registry.cpp lists it; menus, flags and tests pick it up from there.
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
    std::string_view source;  // paper and section

    // Sets step_count and chunk_count of a schedule whose problem and algorithm are filled in.
    Status (*plan)(Schedule& schedule);
    void (*append_sends)(const Schedule& schedule,
                         int32_t step,
                         int32_t rank,
                         std::vector<Transfer>& transfers);
    void (*append_receives)(const Schedule& schedule,
                            int32_t step,
                            int32_t rank,
                            std::vector<Transfer>& transfers);

    // For people: the name of a step's phase, and one sentence on what happens in it.
    std::string_view (*phase)(const Schedule& schedule, int32_t step);
    std::string (*explain)(const Schedule& schedule, int32_t step);

    // Closed forms, held against the schedule and the simulator by the tests. The second is the
    // time on a uniform topology when every chunk is of the same size; otherwise a bound from
    // above.
    int64_t (*message_count)(const Problem& problem);
    int64_t (*closed_form_ps)(const Problem& problem,
                              int64_t bandwidth_bytes_per_s,
                              int64_t latency_ps);
};

// In the order of the menu.
std::span<const Algorithm* const> algorithms();

// Null when there is none of that name.
const Algorithm* find_algorithm(std::string_view name);

}  // namespace ringscope
