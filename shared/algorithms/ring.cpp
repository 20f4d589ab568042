// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce: a reduce-scatter, then an all-gather, both once around the ring.
//
// - Steps: 2(N-1), one message per rank in each.
// - Bytes per rank: 2(N-1)/N S sent and as many received, the least without help from the network.
// - Wins when bandwidth binds. Loses to trees when latency does, as its steps grow with N.
// - chunks=k is the segmented ring: k rings one behind the other on the same links, so that latency
//   hides behind the bytes of the others. channels=r are r rings side by side, as NCCL has them.
//   Each goes through the hosts another way, so that it has a way out of its own.
// - Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//   workstations", JPDC 69 (2009), section 4.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

int32_t half_step_count(const Schedule& schedule) {
    return schedule.position_count() - 1;
}

// In step s position p sends chunk p - s to position p + 1. The last chunk it receives in the
// reduce-scatter is p + 1, now complete, and that is where the same formula makes the all-gather
// start.
Transfer ring_transfer(const Schedule& schedule, int32_t step, int32_t source) {
    const int32_t n = schedule.position_count();
    Transfer transfer;
    transfer.step = step;
    transfer.source_rank = source;
    transfer.target_rank = wrap(source + 1, n);
    transfer.action = step < half_step_count(schedule) ? Action::reduce : Action::copy;
    transfer.chunk_begin = wrap(source - step, n);
    transfer.chunk_count = 1;
    return transfer;
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = 2 * (schedule.position_count() - 1);
    schedule.lane_chunk_count = schedule.position_count();
    return Done{};
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    transfers.push_back(ring_transfer(schedule, step, position));
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    const int32_t left = wrap(position - 1, schedule.position_count());
    transfers.push_back(ring_transfer(schedule, step, left));
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    return step < half_step_count(schedule) ? "reduce-scatter" : "all-gather";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const int32_t half = half_step_count(schedule);
    if (step == 0) {
        return "Every rank sends its own input of one chunk to its right-hand neighbour, which "
               "adds it in.";
    }
    if (step < half) {
        return "Every rank passes on the chunk it has just added to, by now a sum over " +
               std::to_string(step + 1) + " ranks.";
    }
    if (step == half) {
        return "The reduce-scatter is done: every rank owns one finished chunk. Now the finished "
               "chunks go round.";
    }
    return "Every rank passes on the finished chunk it has just received.";
}

int64_t message_count(const Schedule& schedule) {
    const int64_t n = schedule.position_count();
    return 2 * n * (n - 1);
}

int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t steps = 2 * (int64_t{schedule.position_count()} - 1);
    const int64_t chunk_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    return pipelined_ring_ps(schedule, steps, chunk_ps, latency_ps);
}

}  // namespace

extern const Algorithm ring_algorithm;
const Algorithm ring_algorithm{
    .name = "ring",
    .summary = "reduce-scatter and all-gather around a ring; fewest bytes per link, 2(N-1) steps",
    .steps = "2(N-1)",
    .bytes_per_rank = "2(N-1)/N S",
    .wins = "when bandwidth binds; loses to trees on small buffers and many ranks",
    .source = "Patarasuk and Yuan 2009, section 4",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
    .receive_count = [](const Schedule&, int32_t, int32_t) { return int32_t{1}; },
};

}  // namespace ringscope
