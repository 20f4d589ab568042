// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce: a reduce-scatter, then an all-gather, both once around the ring.
//
// - Steps: 2(N-1), one message per rank in each.
// - Bytes per rank: 2(N-1)/N S sent and as many received, the least without help from the network.
// - Wins when bandwidth binds. Loses to trees when latency does, as its steps grow with N.
// - Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//   workstations", JPDC 69 (2009), section 4.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

int32_t ring_position(int64_t value, int32_t rank_count) {
    const auto position = static_cast<int32_t>(value % rank_count);
    return position < 0 ? position + rank_count : position;
}

int32_t half_step_count(const Schedule& schedule) {
    return schedule.problem.rank_count - 1;
}

// In step s rank r sends chunk r - s to rank r + 1. The last chunk it receives in the
// reduce-scatter is r + 1, now complete, and that is where the same formula makes the all-gather
// start.
Transfer ring_transfer(const Schedule& schedule, int32_t step, int32_t source_rank) {
    const int32_t rank_count = schedule.problem.rank_count;
    Transfer transfer;
    transfer.step = step;
    transfer.source_rank = source_rank;
    transfer.target_rank = ring_position(int64_t{source_rank} + 1, rank_count);
    transfer.action = step < half_step_count(schedule) ? Action::reduce : Action::copy;
    transfer.chunk_begin = ring_position(int64_t{source_rank} - step, rank_count);
    transfer.chunk_count = 1;
    return transfer;
}

Status plan(Schedule& schedule) {
    schedule.step_count = 2 * (schedule.problem.rank_count - 1);
    schedule.chunk_count = schedule.problem.rank_count;
    return Done{};
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t rank,
                  std::vector<Transfer>& transfers) {
    transfers.push_back(ring_transfer(schedule, step, rank));
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t rank,
                     std::vector<Transfer>& transfers) {
    const int32_t left_rank = ring_position(int64_t{rank} - 1, schedule.problem.rank_count);
    transfers.push_back(ring_transfer(schedule, step, left_rank));
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    return step < half_step_count(schedule) ? "reduce-scatter" : "all-gather";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const int32_t half = half_step_count(schedule);
    const Transfer transfer = ring_transfer(schedule, step, 0);
    const std::string chunk = std::to_string(transfer.chunk_begin);
    const std::string target = std::to_string(transfer.target_rank);
    if (step == 0) {
        return "Every rank sends its own input of one chunk to its right-hand neighbour, which "
               "adds it in: rank 0 "
               "sends chunk " +
               chunk + " to rank " + target + ".";
    }
    if (step < half) {
        return "Every rank passes on the chunk it has just added to: rank 0 sends chunk " + chunk +
               ", by now a sum over " + std::to_string(step + 1) + " ranks, to rank " + target +
               ", which adds its own.";
    }
    if (step == half) {
        return "The reduce-scatter is done: every rank owns one finished chunk. Now finished "
               "chunks go round: rank 0 "
               "sends its chunk " +
               chunk + " to rank " + target + ", which overwrites its own.";
    }
    return "Every rank passes on the finished chunk it has just received: rank 0 sends chunk " +
           chunk + " to rank " + target + ".";
}

int64_t message_count(const Problem& problem) {
    return int64_t{2} * problem.rank_count * (problem.rank_count - 1);
}

// 2(N-1)(alpha + S/(N B)), each step rounded up to a whole picosecond as the simulator does.
int64_t closed_form_ps(const Problem& problem, int64_t bandwidth_bytes_per_s, int64_t latency_ps) {
    const int64_t steps = 2 * (int64_t{problem.rank_count} - 1);
    const int64_t chunk_elements =
        (problem.element_count + problem.rank_count - 1) / problem.rank_count;
    const int64_t chunk_bytes = chunk_elements * element_bytes(problem.element_type);
    return steps * (latency_ps + transfer_ps(chunk_bytes, bandwidth_bytes_per_s));
}

}  // namespace

extern const Algorithm ring_algorithm;
const Algorithm ring_algorithm{
    .name = "ring",
    .summary = "reduce-scatter and all-gather around a ring; fewest bytes per link, 2(N-1) steps",
    .source = "Patarasuk and Yuan 2009, section 4",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
