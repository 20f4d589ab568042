// SPDX-License-Identifier: Apache-2.0
// Double tree: two binary trees, each with half of the buffer, laid so that nobody is inside both.
//
// - Steps: 2 floor(log2 N), of both trees at a time.
// - Bytes per rank: up to 2 S sent and received: 3/2 S in the tree that it is inside of, 1/2 S as a
//   leaf of the other.
// - Wins over one tree on all but the smallest buffers, and over the ring on many ranks: NCCL takes
//   it across nodes.
// - The second tree is the first one moved on by one position: every other position is a leaf of a
//   tree, so that a leaf of the one is inside the other. NCCL mirrors the tree instead when N is
//   even, and moves it when N is odd; there one rank may be inside both.
// - channels=r: the odd ones have the second tree. chunks=k: without it one piece per 256 KiB of a
//   channel, 1 to 64.
// - Source: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
//   and scan", Parallel Computing 35 (2009).
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {

extern const Algorithm tree_algorithm;  // what happens in each of the trees

namespace {

constexpr int32_t default_channel_count = 2;

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    if (arrangement.channel_count == 0) {
        schedule.channel_count = default_channel_count;
    }
    return tree_algorithm.plan(schedule, arrangement);
}

std::vector<int32_t> order(int32_t rank_count, int32_t channel) {
    std::vector<int32_t> places;
    for (int32_t position = 0; position < rank_count; ++position) {
        places.push_back(wrap(position + channel % 2, rank_count));
    }
    return places;
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    tree_algorithm.append_sends(schedule, step, position, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    tree_algorithm.append_receives(schedule, step, position, transfers);
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    return tree_algorithm.phase(schedule, step);
}

std::string explain(const Schedule& schedule, int32_t step) {
    return "In both trees: " + tree_algorithm.explain(schedule, step);
}

int64_t message_count(const Schedule& schedule) {
    return tree_algorithm.message_count(schedule);
}

// A rank inside the first trees, of which there may be one more, shares its port in among the two
// children and, with several pieces, the parent in each of them and the parent in each of the
// others. Each connection has its part of that at least: a bound from above.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int32_t n = schedule.position_count();
    const int64_t second_trees = schedule.channel_count / 2;
    const int64_t first_trees = schedule.channel_count - second_trees;
    if (second_trees == 0) {
        return tree_algorithm.closed_form_ps(schedule, bandwidth_bytes_per_s, latency_ps);
    }
    const int64_t inside = n <= 2 ? 1 : n == 3 || has_one_piece(schedule) ? 2 : 3;
    const int64_t connections = inside * first_trees + second_trees;
    const int64_t shared_ps = lane_wire_ps(schedule, connections, bandwidth_bytes_per_s);
    return pipeline_ps(schedule, schedule.step_count, shared_ps, latency_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    return schedule.channel_count == 1 && tree_algorithm.closed_form_exact(schedule);
}

}  // namespace

extern const Algorithm double_tree_algorithm;
const Algorithm double_tree_algorithm{
    .name = "double_tree",
    .summary = "two binary trees with half of the buffer each; nobody is inside both",
    .steps = "2 floor(log2 N)",
    .bytes_per_rank = "up to 2 S",
    .wins = "on many ranks, small and middling buffers; one port has no idle half as with one tree",
    .source = "Sanders, Speck and Traeff 2009",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
    .closed_form_exact = closed_form_exact,
    .order = order,
};

}  // namespace ringscope
