// SPDX-License-Identifier: Apache-2.0
// Ring all-gather: every rank's chunk goes once around the ring, after which everybody has all.
//
// - Steps: N-1, one message per rank in each.
// - Bytes per rank: (N-1)/N S sent and as many received, the least there is.
// - Wins when bandwidth binds; loses to doubling when latency does. It is the second half of the
// ring
//   all-reduce, turned by one so that rank r starts with chunk r.
// - chunks=k and channels=r as there.
// - Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//   workstations", JPDC 69 (2009), section 4.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

// In step s position p sends chunk p - s to position p + 1: first its own, then what it received.
Transfer message(const Schedule& schedule, int32_t step, int32_t source) {
    const int32_t n = schedule.position_count();
    return {.step = step,
            .source_rank = source,
            .target_rank = wrap(source + 1, n),
            .action = Action::copy,
            .chunk_begin = wrap(source - step, n),
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = schedule.position_count() - 1;
    schedule.lane_chunk_count = schedule.position_count();
    return Done{};
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    transfers.push_back(message(schedule, step, position));
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    transfers.push_back(message(schedule, step, wrap(position - 1, schedule.position_count())));
}

std::string_view phase(const Schedule&, int32_t) {
    return "all-gather";
}

std::string explain(const Schedule&, int32_t step) {
    return step == 0 ? "Every rank sends its own chunk to its right-hand neighbour."
                     : "Every rank passes on the chunk it has just received.";
}

int64_t message_count(const Schedule& schedule) {
    return int64_t{schedule.position_count()} * schedule.step_count;
}

int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t chunk_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    return pipelined_ring_ps(schedule, schedule.step_count, chunk_ps, latency_ps);
}

}  // namespace

extern const Algorithm ring_all_gather_algorithm;
const Algorithm ring_all_gather_algorithm{
    .name = "ring_all_gather",
    .summary = "once around a ring; every rank starts with its own chunk and ends with all",
    .steps = "N-1",
    .bytes_per_rank = "(N-1)/N S",
    .wins = "when bandwidth binds",
    .source = "Patarasuk and Yuan 2009, section 4",
    .collective = Collective::all_gather,
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
