// SPDX-License-Identifier: Apache-2.0
// Bidirectional ring all-reduce: two rings through the same ranks, one each way round, with half of
// the buffer on each.
//
// - Steps: 2(N-1), one message per rank and direction in each.
// - Bytes per rank: 2(N-1)/N S sent and as many received, as with one ring.
// - Wins where the links to the left and to the right are wires of their own, as in a torus: each
//   carries half of the bytes. Where both directions leave by one port it is as fast as one ring.
// - channels=r: the odd ones run the other way. r may be odd as well; then one ring more runs to
//   the right, and channels=1 is the plain ring. chunks=k as there.
// - Source: Jain and Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus
//   interconnects", ICS 2010, which uses all directions of a torus at once.
#include <algorithm>
#include <numeric>
#include <string>

#include "shared/algorithm.hpp"

namespace ringscope {

extern const Algorithm ring_algorithm;  // what happens in each of the rings

namespace {

constexpr int32_t default_channel_count = 2;

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    if (arrangement.channel_count == 0) {
        schedule.channel_count = default_channel_count;
    }
    return ring_algorithm.plan(schedule, arrangement);
}

std::vector<int32_t> order(int32_t rank_count, int32_t channel) {
    std::vector<int32_t> places(static_cast<size_t>(rank_count));
    std::iota(places.begin(), places.end(), 0);
    if (channel % 2 == 1) {
        std::reverse(places.begin(), places.end());
    }
    return places;
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    ring_algorithm.append_sends(schedule, step, position, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    ring_algorithm.append_receives(schedule, step, position, transfers);
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    return ring_algorithm.phase(schedule, step);
}

std::string explain(const Schedule& schedule, int32_t step) {
    const int32_t half = schedule.position_count() - 1;
    if (step == 0) {
        return "Every rank sends its own input of one chunk to each of its neighbours, which add "
               "it in.";
    }
    if (step < half) {
        return "In both directions every rank passes on the chunk it has just added to, by now a "
               "sum over " +
               std::to_string(step + 1) + " ranks.";
    }
    if (step == half) {
        return "The reduce-scatter is done: every rank owns one finished chunk of each ring. Now "
               "the finished chunks go round.";
    }
    return "In both directions every rank passes on the finished chunk it has just received.";
}

int64_t message_count(const Schedule& schedule) {
    return ring_algorithm.message_count(schedule);
}

// Every port has as many messages one way as every other port, so that all rings keep in step.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    return ring_algorithm.closed_form_ps(schedule, bandwidth_bytes_per_s, latency_ps);
}

}  // namespace

extern const Algorithm ring_bidirectional_algorithm;
const Algorithm ring_bidirectional_algorithm{
    .name = "ring_bidirectional",
    .summary = "two rings, one each way round; uses the links to both neighbours",
    .steps = "2(N-1)",
    .bytes_per_rank = "2(N-1)/N S",
    .wins = "where left and right are wires of their own; on one port it is no faster than a ring",
    .source = "Jain and Sabharwal 2010",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
    .order = order,
};

}  // namespace ringscope
