// SPDX-License-Identifier: Apache-2.0
// Torus: ranks in rows and columns, each of which is a ring. A reduce-scatter along the row, then
// along the column, and all-gathers along the column and the row.
//
// - Steps: 2(g-1) + 2(N/g - 1) with rows of g.
// - Bytes per rank: 2(N-1)/N S sent and received.
// - Wins on a torus, where rows and columns have links of their own, by its 2(g-1) + 2(N/g-1) steps
//   instead of the 2(N-1) of one ring. Its links along the column carry but 1/g of the bytes.
// - The messages are those of two_level with a row for a group. A torus joins neighbours in both
//   directions, so that there are two channels unless channels=r says otherwise; the odd ones go
//   through rows and columns the other way.
// - group=g is the length of a row; without it what comes nearest to a square.
// - Source: Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training in a flash",
//   arXiv:1811.05233 (2018), on 2D-torus all-reduce.
#include <algorithm>
#include <numeric>
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {

extern const Algorithm two_level_algorithm;  // what happens in each channel

namespace {

constexpr int32_t default_channel_count = 2;

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    if (arrangement.channel_count == 0) {
        schedule.channel_count = default_channel_count;
    }
    return two_level_algorithm.plan(schedule, arrangement);
}

// Backwards, the last row comes first and is gone through from its end.
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
    two_level_algorithm.append_sends(schedule, step, position, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    two_level_algorithm.append_receives(schedule, step, position, transfers);
}

// The all-reduce across groups is the second half of the one and the first half of the other.
int32_t turning_point(const Schedule& schedule) {
    return schedule.step_count / 2;
}

bool is_along_row(const Schedule& schedule, int32_t step) {
    const int32_t row_steps = schedule.group_size - 1;
    return step < row_steps || step >= schedule.step_count - row_steps;
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    const bool row = is_along_row(schedule, step);
    if (step < turning_point(schedule)) {
        return row ? "reduce-scatter, row" : "reduce-scatter, column";
    }
    return row ? "all-gather, row" : "all-gather, column";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const std::string along = is_along_row(schedule, step) ? "row" : "column";
    if (step < turning_point(schedule)) {
        return "Along its " + along +
               ", in both directions, every rank passes on the part of the buffer that it has just "
               "added to.";
    }
    return "Along its " + along +
           ", in both directions, every rank passes on the finished part of the buffer that it "
           "received last.";
}

int64_t message_count(const Schedule& schedule) {
    return two_level_algorithm.message_count(schedule);
}

int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    return two_level_algorithm.closed_form_ps(schedule, bandwidth_bytes_per_s, latency_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    return two_level_algorithm.closed_form_exact(schedule);
}

}  // namespace

extern const Algorithm torus_algorithm;
const Algorithm torus_algorithm{
    .name = "torus",
    .summary = "rings along the rows and the columns of a torus, both ways round",
    .steps = "2(g-1) + 2(N/g-1)",
    .bytes_per_rank = "2(N-1)/N S",
    .wins = "on a torus, by far fewer steps than one ring through all ranks",
    .source = "Mikami et al. 2018",
    .uses_groups = true,
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
