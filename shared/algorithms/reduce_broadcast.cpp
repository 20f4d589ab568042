// SPDX-License-Identifier: Apache-2.0
// Reduce and broadcast: up a binomial tree to position 0, and down it again.
//
// - Steps: 2 ceil(log2 N).
// - Bytes per rank: up to S log2 N in and as many out, at position 0; S each way at half of them.
// - Wins by its simplicity, and on very small buffers. Loses to recursive doubling, which does the
//   same in half the steps, and on large buffers to everything that keeps all ports busy.
// - The textbooks' broadcast is log2 N (alpha + S/B), with one send after the other from each rank.
//   Here a rank sends as soon as it can, and to all its children at once, so that they share its
//   port: the first child, whose subtree is the deepest, waits as long as the last. With L = log2 N
//   the way down takes L alpha + L(L+1)/2 S/B.
// - Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
//   MPICH", IJHPCA 19 (2005), on broadcast and on reduce.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

int32_t half_step_count(const Schedule& schedule) {
    return ceil_log2(schedule.position_count());
}

// Up in step s, and down in the step as far from the end, run between position p, a multiple of
// 2^(s+1), and p + 2^s.
int32_t distance(const Schedule& schedule, int32_t step) {
    const int32_t half = half_step_count(schedule);
    return int32_t{1} << (step < half ? step : 2 * half - 1 - step);
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = 2 * half_step_count(schedule);
    schedule.lane_chunk_count = 1;
    return Done{};
}

void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool sends,
            std::vector<Transfer>& transfers) {
    const int32_t apart = distance(schedule, step);
    const bool up = step < half_step_count(schedule);
    const bool is_child = up == sends;
    const int32_t parent = is_child ? position - apart : position;
    const int32_t child = parent + apart;
    if (parent < 0 || parent % (2 * apart) != 0 || child >= schedule.position_count()) {
        return;
    }
    transfers.push_back({.step = step,
                         .source_rank = up ? child : parent,
                         .target_rank = up ? parent : child,
                         .action = up ? Action::reduce : Action::copy,
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
    return step < half_step_count(schedule) ? "reduce" : "broadcast";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const std::string apart = std::to_string(distance(schedule, step));
    if (step < half_step_count(schedule)) {
        return "Half of the ranks that are left send what they have to the rank " + apart +
               " before them, which adds it in, and are out.";
    }
    return "Every rank that has the result sends it to the rank " + apart + " after it.";
}

int64_t message_count(const Schedule& schedule) {
    return 2 * (int64_t{schedule.position_count()} - 1);
}

// Up, a message of step s is there at (s + 1)(alpha + w) at the latest, and on time when all
// subtrees are full. Several pieces: position 0 has the busiest port, with L connections each way,
// and any other with c children has c + 1, so that each gets that part of it at least.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t half = half_step_count(schedule);
    const int64_t whole_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    if (has_one_piece(schedule)) {
        return sum_ps(2 * half, latency_ps, half + half * (half + 1) / 2, whole_ps);
    }
    const int64_t one_way = half * (half - 1) / 2 + 2 * half - 1;
    const int64_t wires = 2 * one_way + (schedule.piece_count - 1) * half;
    return half == 0 ? 0 : sum_ps(2 * half, latency_ps, wires, whole_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    const int32_t n = schedule.position_count();
    return has_one_piece(schedule) && n == floor_power_of_two(n);
}

}  // namespace

extern const Algorithm reduce_broadcast_algorithm;
const Algorithm reduce_broadcast_algorithm{
    .name = "reduce_broadcast",
    .summary = "up a binomial tree to one rank, and down again",
    .steps = "2 log2 N",
    .bytes_per_rank = "up to log2 N S",
    .wins = "on very small buffers; loses to recursive doubling, which needs half the steps",
    .source = "Thakur, Rabenseifner and Gropp 2005, broadcast and reduce",
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
