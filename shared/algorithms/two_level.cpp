// SPDX-License-Identifier: Apache-2.0
// Two levels: a ring reduce-scatter inside each group, ring all-reduces across the groups, and a
// ring all-gather inside each group. Rank h g + i is rank i of group h.
//
// - Steps: 2(g-1) + 2(N/g - 1) with groups of g.
// - Bytes per rank: 2(N-1)/N S sent and received, as in one ring; but only 2(N/g - 1)/N S of it
// leave
//   the group.
// - Wins when a group is a machine whose ranks talk faster to each other than to others, and over
// one
//   ring on many ranks by its fewer steps.
// - group=g; without it a group is a machine of the topology, or what comes nearest to a square.
// - Source: Cho, Finkler, Kung and Hunter, "BlueConnect: decomposing all-reduce for deep learning
// on
//   heterogeneous network hierarchy", MLSys 2019, with two levels.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

// Positions h g + i: place i of group h. A lane is cut into g parts, one for each place, and each
// part into as many chunks as there are groups.
struct Groups {
    int32_t size = 1;
    int32_t count = 1;

    explicit Groups(const Schedule& schedule)
        : size(schedule.group_size), count(schedule.position_count() / schedule.group_size) {}

    int32_t across_begin() const { return size - 1; }
    int32_t gather_begin() const { return across_begin() + 2 * (count - 1); }
    int32_t step_count() const { return gather_begin() + size - 1; }

    bool is_inside(int32_t step) const { return step < across_begin() || step >= gather_begin(); }

    // To the right in its own group, or to the same place of the next group.
    int32_t neighbour(int32_t step, int32_t position, int32_t by) const {
        const int32_t group = position / size;
        const int32_t place = position % size;
        return is_inside(step) ? group * size + wrap(place + by, size)
                               : wrap(group + by, count) * size + place;
    }

    // Inside, a place reduces last the part that is its own, and gathers from there on. Across it
    // is the all-reduce of one ring, on that part.
    Transfer message(int32_t step, int32_t source) const {
        const int32_t group = source / size;
        const int32_t place = source % size;
        Transfer transfer{
            .step = step, .source_rank = source, .target_rank = neighbour(step, source, 1)};
        if (step < across_begin()) {
            transfer.action = Action::reduce;
            transfer.chunk_begin = wrap(place - 1 - step, size) * count;
            transfer.chunk_count = count;
        } else if (step < gather_begin()) {
            const int32_t turn = step - across_begin();
            transfer.action = turn < count - 1 ? Action::reduce : Action::copy;
            transfer.chunk_begin = place * count + wrap(group - turn, count);
            transfer.chunk_count = 1;
        } else {
            transfer.chunk_begin = wrap(place - (step - gather_begin()), size) * count;
            transfer.chunk_count = count;
        }
        return transfer;
    }
};

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    if (const Status chosen = choose_group_size(schedule, arrangement); !chosen) {
        return chosen;
    }
    schedule.step_count = Groups(schedule).step_count();
    schedule.lane_chunk_count = schedule.position_count();
    return Done{};
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    transfers.push_back(Groups(schedule).message(step, position));
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    const Groups groups(schedule);
    transfers.push_back(groups.message(step, groups.neighbour(step, position, -1)));
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    const Groups groups(schedule);
    return step < groups.across_begin()   ? "reduce-scatter inside"
           : step < groups.gather_begin() ? "all-reduce across"
                                          : "all-gather inside";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const Groups groups(schedule);
    if (step < groups.across_begin()) {
        return "Around the ring of its group, every rank passes on a part of the buffer, by now a "
               "sum over " +
               std::to_string(step + 1) + " of the group.";
    }
    if (step < groups.gather_begin()) {
        return step < groups.across_begin() + groups.count - 1
                   ? "The ranks with the same place in all groups add up their part of the buffer, "
                     "around a ring of their own."
                   : "The ranks with the same place in all groups hand the finished chunks of "
                     "their "
                     "part round.";
    }
    return "Around the ring of its group, every rank passes on a finished part of the buffer.";
}

int64_t message_count(const Schedule& schedule) {
    return int64_t{schedule.position_count()} * schedule.step_count;
}

bool is_one_ring(const Groups& groups) {
    return groups.size == 1 || groups.count == 1;
}

// All ports are alike, and none idles while any piece is not in the air: exact for one piece. So it
// is for one ring, where pieces follow each other on the same connections all the way.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const Groups groups(schedule);
    const int64_t pieces = schedule.piece_count;
    if (is_one_ring(groups)) {
        const int64_t chunk_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
        return pipelined_ring_ps(schedule, schedule.step_count, chunk_ps, latency_ps);
    }
    const int64_t inside_ps = wire_ps(schedule, pieces * groups.count, bandwidth_bytes_per_s);
    const int64_t across_ps = wire_ps(schedule, pieces, bandwidth_bytes_per_s);
    const int64_t total_inside_ps =
        sum_ps(schedule.step_count, latency_ps, 2 * (groups.size - 1), inside_ps);
    return sum_ps(1, total_inside_ps, 2 * (groups.count - 1), across_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    return has_one_piece(schedule) || is_one_ring(Groups(schedule));
}

}  // namespace

extern const Algorithm two_level_algorithm;
const Algorithm two_level_algorithm{
    .name = "two_level",
    .summary = "rings inside groups and rings across them; few bytes leave a group",
    .steps = "2(g-1) + 2(N/g-1)",
    .bytes_per_rank = "2(N-1)/N S",
    .wins =
        "when a group is a machine with a faster network inside; one slow ring no longer slows all",
    .source = "Cho et al. 2019",
    .uses_groups = true,
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
