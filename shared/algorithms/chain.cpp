// SPDX-License-Identifier: Apache-2.0
// Chain: piece after piece goes from position 0 to position n-1, each rank adding its own, and the
// sum comes back the same way.
//
// - Steps: 2(N-1), of one message each. Without several pieces all ranks but two would be idle.
// - Bytes per rank: 2 S sent and as many received; S each way at both ends.
// - Wins on large buffers where ranks are wired in a line. Loses to the ring, which sends half as
//   much from each rank; the ports of the ranks between carry both directions of the sum.
// - chunks=k: without it one piece per 256 KiB of a channel, 1 to 64.
// - The textbooks have one latency per piece, (N-2+k)(alpha + S/(k B)) one way: there a rank waits
//   until a piece has arrived before it sends the next. Here pieces follow each other at once, and
//   the way takes (N-1)(alpha + S/(k B)) + (k-1) S/(k B).
// - Source: Watts and van de Geijn, "A pipelined broadcast for multidimensional meshes", Parallel
//   Processing Letters 5 (1995), there and back.
#include <algorithm>
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

int32_t half_step_count(const Schedule& schedule) {
    return schedule.position_count() - 1;
}

// Step s goes from position s to s + 1, and on the way back from as far before the end.
Transfer message(const Schedule& schedule, int32_t step) {
    const int32_t half = half_step_count(schedule);
    const bool out = step < half;
    const int32_t source = out ? step : 2 * half - step;
    return {.step = step,
            .source_rank = source,
            .target_rank = out ? source + 1 : source - 1,
            .action = out ? Action::reduce : Action::copy,
            .chunk_begin = 0,
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    schedule.step_count = 2 * half_step_count(schedule);
    schedule.lane_chunk_count = 1;
    if (arrangement.piece_count == 0) {
        schedule.piece_count = default_piece_count(schedule);
    }
    return Done{};
}

void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool sends,
            std::vector<Transfer>& transfers) {
    const Transfer transfer = message(schedule, step);
    if (position == (sends ? transfer.source_rank : transfer.target_rank)) {
        transfers.push_back(transfer);
    }
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
    if (step < half_step_count(schedule)) {
        return "The sum over " + std::to_string(step + 1) + (step == 0 ? " rank" : " ranks") +
               " goes on to the next in the chain, which adds "
               "its own.";
    }
    return "The result goes back by one rank.";
}

int64_t message_count(const Schedule& schedule) {
    return 2 * (int64_t{schedule.position_count()} - 1);
}

// Up to two pieces the first is back only when the last has passed; two ranks have no rank between.
bool keeps_apart(const Schedule& schedule) {
    return schedule.piece_count <= 2 || schedule.position_count() <= 2;
}

// Otherwise the two directions may meet, and share the ports of the ranks between; as long as that
// lasts each piece takes twice as long: 2(N-1)(alpha + w) + max((k-1) w, 2(k-1) w - 2 alpha). That
// is exact again where they do not meet, (k-2) w <= 2 alpha, and elsewhere a bound that was found
// by trying and that the tests hold.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t hops = schedule.step_count;
    const int64_t piece_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    const int64_t apart_ps = pipeline_ps(schedule, hops, piece_ps, latency_ps);
    if (keeps_apart(schedule)) {
        return apart_ps;
    }
    const int64_t wires = hops + 2 * (int64_t{schedule.piece_count} - 1);
    return std::max(apart_ps, sum_ps(hops - 2, latency_ps, wires, piece_ps));
}

bool closed_form_exact(const Schedule& schedule) {
    return keeps_apart(schedule);
}

}  // namespace

extern const Algorithm chain_algorithm;
const Algorithm chain_algorithm{
    .name = "chain",
    .summary = "along a chain of ranks and back, piece after piece",
    .steps = "2(N-1)",
    .bytes_per_rank = "2 S",
    .wins = "where ranks are wired in a line; loses to the ring, which sends half as much",
    .source = "Watts and van de Geijn 1995",
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
