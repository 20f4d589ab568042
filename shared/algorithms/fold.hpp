// SPDX-License-Identifier: Apache-2.0
// How algorithms that want a power of two of ranks get it from any number: of the first 2e
// positions the even ones hand their input to the next one before, and get the result from it
// after. e is what is above the largest power of two; the other positions are the core.
//
// As MPICH does it: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 19 (2005), on reduce and allreduce.
#pragma once

#include <string>
#include <vector>

#include "shared/closed_forms.hpp"

namespace ringscope {

struct Fold {
    int32_t core_count = 1;   // a power of two
    int32_t extra_count = 0;  // positions folded in
    int32_t core_step_count = 0;

    // `rounds`: how many times the algorithm goes through the log2 dimensions of its core.
    Fold(const Schedule& schedule, int32_t rounds)
        : core_count(floor_power_of_two(schedule.position_count())),
          extra_count(schedule.position_count() - core_count),
          core_step_count(rounds * floor_log2(core_count)) {}

    int32_t steps_before() const { return extra_count > 0 ? 1 : 0; }
    int32_t step_count() const { return core_step_count + 2 * steps_before(); }
    bool is_before(int32_t step) const { return step < steps_before(); }
    bool is_after(int32_t step) const { return step >= steps_before() + core_step_count; }

    // Number in the core, and back; for a position that is not folded in.
    int32_t core_index(int32_t position) const {
        return position < 2 * extra_count ? position / 2 : position - extra_count;
    }
    int32_t core_position(int32_t index) const {
        return index < extra_count ? 2 * index + 1 : index + extra_count;
    }

    // Appends what a position sends (or receives) in a step before or after. False when the step is
    // the core's and the position in it.
    bool append_outside(int32_t step,
                        int32_t position,
                        bool sends,
                        int32_t chunk_count,
                        std::vector<Transfer>& transfers) const {
        const bool folded = position < 2 * extra_count;
        const bool extra = folded && position % 2 == 0;
        const bool before = is_before(step);
        if (!before && !is_after(step)) {
            return extra;
        }
        if (folded && extra == (before == sends)) {
            const int32_t partner = extra ? position + 1 : position - 1;
            transfers.push_back({.step = step,
                                 .source_rank = sends ? position : partner,
                                 .target_rank = sends ? partner : position,
                                 .action = before ? Action::reduce : Action::copy,
                                 .chunk_begin = 0,
                                 .chunk_count = chunk_count});
        }
        return true;
    }

    // In words; empty when the step is the core's.
    std::string_view phase_outside(int32_t step) const {
        return is_before(step) ? "fold in" : is_after(step) ? "fold out" : "";
    }
    std::string explain_outside(int32_t step) const {
        if (is_before(step)) {
            return std::to_string(extra_count) + (extra_count == 1 ? " rank" : " ranks") +
                   " more than a power of two: so many hand their whole input to a neighbour and "
                   "wait.";
        }
        return is_after(step) ? "The ranks that were folded in get the result from their neighbour."
                              : "";
    }
};

}  // namespace ringscope
