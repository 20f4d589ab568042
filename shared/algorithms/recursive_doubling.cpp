// SPDX-License-Identifier: Apache-2.0
// Recursive doubling all-reduce: in step s everybody swaps all that it has with the rank 2^s away,
// and both add.
//
// - Steps: log2 N for a power of two; otherwise floor(log2 N) + 2, as the ranks above the largest
//   power of two hand in their input before and get the result after (fold.hpp).
// - Bytes per rank: S log2 N sent and as many received.
// - Wins when latency binds: small buffers. Loses on large ones, as the whole buffer goes out in
//   every step.
// - Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
//   MPICH", IJHPCA 19 (2005), on reduce and allreduce.
#include <algorithm>
#include <string>

#include "shared/algorithm.hpp"
#include "shared/algorithms/fold.hpp"

namespace ringscope {
namespace {

Fold fold_of(const Schedule& schedule) {
    return {schedule, 1};
}

int32_t distance(const Fold& fold, int32_t step) {
    return int32_t{1} << (step - fold.steps_before());
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = fold_of(schedule).step_count();
    schedule.lane_chunk_count = 1;
    return Done{};
}

// A swap: whom a position sends to in a step of the core, from there it receives as well.
void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool sends,
            std::vector<Transfer>& transfers) {
    const Fold fold = fold_of(schedule);
    if (fold.append_outside(step, position, sends, 1, transfers)) {
        return;
    }
    const int32_t partner = fold.core_position(fold.core_index(position) ^ distance(fold, step));
    transfers.push_back({.step = step,
                         .source_rank = sends ? position : partner,
                         .target_rank = sends ? partner : position,
                         .action = Action::reduce,
                         .chunk_begin = 0,
                         .chunk_count = 1});
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    append(schedule, step, position, true, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    append(schedule, step, position, false, transfers);
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    const std::string_view outside = fold_of(schedule).phase_outside(step);
    return outside.empty() ? "doubling" : outside;
}

std::string explain(const Schedule& schedule, int32_t step) {
    const Fold fold = fold_of(schedule);
    if (std::string outside = fold.explain_outside(step); !outside.empty()) {
        return outside;
    }
    return "Every rank swaps its whole buffer with the rank " +
           std::to_string(distance(fold, step)) +
           " away, and both add: twice as many inputs in each as before.";
}

int64_t message_count(const Schedule& schedule) {
    const Fold fold = fold_of(schedule);
    return int64_t{fold.core_count} * fold.core_step_count + 2 * int64_t{fold.extra_count};
}

// A power of two: all ports are alike, and none idles while any piece is not in the air. With L the
// core's steps, that is L (alpha + k w).
//
// Otherwise the ranks without a partner to wait for run ahead, so that a port may have all the
// messages at once that it has in the whole run. Two bounds from above. Step by step: when all
// messages of the steps before have arrived, at most L + 1 - s of a port's connections have
// anything left, each gets that part of the port, and brings its k pieces of step s. Piece by
// piece: each of the L + 1 connections of a port always has that part of it.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const Fold fold = fold_of(schedule);
    const int64_t pieces = schedule.piece_count;
    const int64_t piece_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    const int64_t core_steps = fold.core_step_count;
    if (fold.extra_count == 0) {
        return sum_ps(core_steps, latency_ps, core_steps * pieces, piece_ps);
    }
    const int64_t connections = core_steps + 1;
    const int64_t by_step = pieces * (connections * (core_steps + 4) / 2);
    const int64_t by_piece = connections * (schedule.step_count + pieces - 1);
    return sum_ps(schedule.step_count, latency_ps, std::min(by_step, by_piece), piece_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    return has_one_piece(schedule) && fold_of(schedule).extra_count == 0;
}

}  // namespace

extern const Algorithm recursive_doubling_algorithm;
const Algorithm recursive_doubling_algorithm{
    .name = "recursive_doubling",
    .summary = "everybody swaps the whole buffer with a rank 1, 2, 4 ... away; fewest steps",
    .steps = "log2 N",
    .bytes_per_rank = "log2 N S",
    .wins = "when latency binds; loses on large buffers, all of which go out in every step",
    .source = "Thakur, Rabenseifner and Gropp 2005, reduce and allreduce",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
    .closed_form_exact = closed_form_exact,
};

}  // namespace ringscope
