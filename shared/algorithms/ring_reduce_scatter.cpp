// SPDX-License-Identifier: Apache-2.0
// Ring reduce-scatter: once around the ring, after which every rank has the sum of its own chunk.
//
// - Steps: N-1, one message per rank in each.
// - Bytes per rank: (N-1)/N S sent and as many received, the least there is.
// - Wins when bandwidth binds; loses to halving when latency does. It is the first half of the ring
//   all-reduce, turned by one so that rank r ends with chunk r.
// - chunks=k and channels=r as there.
// - Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//   workstations", JPDC 69 (2009), section 4.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

// In step s position p sends chunk p - 1 - s to position p + 1. The last one it adds to is p.
Transfer message(const Schedule& schedule, int32_t step, int32_t source) {
    const int32_t n = schedule.position_count();
    return {.step = step,
            .source_rank = source,
            .target_rank = wrap(source + 1, n),
            .action = Action::reduce,
            .chunk_begin = wrap(source - 1 - step, n),
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
    return "reduce-scatter";
}

std::string explain(const Schedule&, int32_t step) {
    if (step == 0) {
        return "Every rank sends its own input of its left-hand neighbour's chunk to the right, "
               "where it is added in; it will come by all others on its way there.";
    }
    return "Every rank passes on the chunk it has just added to, by now a sum over " +
           std::to_string(step + 1) + " ranks.";
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

extern const Algorithm ring_reduce_scatter_algorithm;
const Algorithm ring_reduce_scatter_algorithm{
    .name = "ring_reduce_scatter",
    .summary = "once around a ring; every rank ends with the sum of its own chunk",
    .steps = "N-1",
    .bytes_per_rank = "(N-1)/N S",
    .wins = "when bandwidth binds",
    .source = "Patarasuk and Yuan 2009, section 4",
    .collective = Collective::reduce_scatter,
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
