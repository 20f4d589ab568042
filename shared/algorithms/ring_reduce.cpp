// SPDX-License-Identifier: Apache-2.0
// Ring reduce: the sum goes along the ring, piece after piece, and ends at the root.
//
// - Steps: N-1, of one message each.
// - Bytes per rank: S received and sent on, the least there is for a large buffer.
// - Wins on large buffers, in pieces: all ports are busy. Loses to trees when latency counts.
// - It starts right of the root and runs the same way round as the other rings, so that it takes
// the
//   same links.
// - chunks=k: without it one piece per 256 KiB of a channel, 1 to 64. The root sits at position 0.
// - The textbooks have one latency per piece; here it is (N-1)(alpha + S/(k B)) + (k-1) S/(k B), as
//   in the ring broadcast, of which this is the mirror image.
// - Source: Watts and van de Geijn, "A pipelined broadcast for multidimensional meshes", Parallel
//   Processing Letters 5 (1995), backwards.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

Transfer message(const Schedule& schedule, int32_t step) {
    return {.step = step,
            .source_rank = step + 1,
            .target_rank = wrap(step + 2, schedule.position_count()),
            .action = Action::reduce,
            .chunk_begin = 0,
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    schedule.step_count = schedule.position_count() - 1;
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

std::string_view phase(const Schedule&, int32_t) {
    return "reduce";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const std::string target = step + 1 == schedule.step_count ? "the root" : "the next rank";
    return "The sum over " + std::to_string(step + 1) + (step == 0 ? " rank" : " ranks") +
           " goes on to " + target + ", which adds its own.";
}

int64_t message_count(const Schedule& schedule) {
    return schedule.step_count;
}

// No two connections share a port.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t piece_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    return pipeline_ps(schedule, schedule.step_count, piece_ps, latency_ps);
}

}  // namespace

extern const Algorithm ring_reduce_algorithm;
const Algorithm ring_reduce_algorithm{
    .name = "ring_reduce",
    .summary = "along a ring into the root, piece after piece",
    .steps = "N-1",
    .bytes_per_rank = "S",
    .wins = "on large buffers; loses to trees on small ones",
    .source = "Watts and van de Geijn 1995, backwards",
    .collective = Collective::reduce,
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
