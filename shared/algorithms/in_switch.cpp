// SPDX-License-Identifier: Apache-2.0
// In the switch: every rank sends its buffer to the switch, which adds up and sends the result to
// all.
//
// - Steps: 2, in each of which piece after piece crosses the switch.
// - Bytes per rank: S sent and S received, about half of what ranks need among themselves.
// - Wins on every size where there is such a switch. busbw, which takes 2(N-1)/N S to be on each
//   link, may therefore exceed what the link does: by up to 2(N-1)/N.
// - The switch is a participant of its own, after the last rank, with room for a piece. It answers
//   with one message per rank, as its ports copy at the same time.
// - NVLink SHARP (NVLS) differs: there each rank owns an Nth of the buffer, reads it with
//   multimem.ld_reduce, for which the switch fetches it from all ranks and adds up, and writes the
//   sum with multimem.st, which the switch copies to all. Per rank that is S + S/N each way, and a
//   request that goes through the switch first. Here the switch reduces unasked and sends the sum
//   on without the way over its owner: S each way, and the latency of one way through the switch.
// - chunks=k: without it one piece per 256 KiB of a channel, 1 to 64.
// - Source: Klenk, Jiang, Thorson and Dennison, "An in-network architecture for accelerating
//   shared-memory multiprocessor collectives", ISCA 2020.
#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

int32_t switch_position(const Schedule& schedule) {
    return schedule.position_count();
}

Transfer message(const Schedule& schedule, int32_t step, int32_t rank_position) {
    const bool up = step == 0;
    return {.step = step,
            .source_rank = up ? rank_position : switch_position(schedule),
            .target_rank = up ? switch_position(schedule) : rank_position,
            .action = up ? Action::reduce : Action::copy,
            .chunk_begin = 0,
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    schedule.with_switch = schedule.position_count() > 1;
    schedule.step_count = schedule.with_switch ? 2 : 0;
    schedule.lane_chunk_count = 1;
    if (arrangement.piece_count == 0) {
        schedule.piece_count = default_piece_count(schedule);
    }
    return Done{};
}

// The switch has to do with every rank, and a rank with the switch alone.
void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool at_switch,
            std::vector<Transfer>& transfers) {
    if (at_switch != (position == switch_position(schedule))) {
        return;
    }
    if (!at_switch) {
        transfers.push_back(message(schedule, step, position));
        return;
    }
    for (int32_t rank = 0; rank < schedule.position_count(); ++rank) {
        transfers.push_back(message(schedule, step, rank));
    }
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    append(schedule, step, position, step == 1, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    append(schedule, step, position, step == 0, transfers);
}

std::string_view phase(const Schedule&, int32_t step) {
    return step == 0 ? "reduce" : "multicast";
}

std::string explain(const Schedule&, int32_t step) {
    return step == 0 ? "Every rank sends its input to the switch, which adds it all up."
                     : "The switch sends the result to every rank.";
}

int64_t message_count(const Schedule& schedule) {
    return 2 * int64_t{schedule.step_count > 0 ? schedule.position_count() : 0};
}

// A piece crosses the sender's port and then the receiver's; the latency of the way through the
// switch is there once, as on every way from rank to rank.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t piece_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    const int64_t pieces = schedule.piece_count;
    return schedule.step_count == 0 ? 0 : sum_ps(1, latency_ps, pieces + 1, piece_ps);
}

}  // namespace

extern const Algorithm in_switch_algorithm;
const Algorithm in_switch_algorithm{
    .name = "in_switch",
    .summary = "the switch adds up and sends the result to all, as NVLink SHARP does",
    .steps = "2",
    .bytes_per_rank = "S",
    .wins = "wherever there is such a switch; half of the bytes of any other",
    .source = "Klenk et al. 2020",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
