// SPDX-License-Identifier: Apache-2.0
// Parameter server: everybody sends its input to position 0, which adds up and sends everybody the
// result.
//
// - Steps: 2.
// - Bytes per rank: S out and S in, but (N-1) S each way at position 0.
// - Wins on two ranks, and where one rank has a port as wide as all others together. Otherwise the
//   one port makes it N-1 times as long as a message, and that is why rings came up.
// - The textbooks' form, 2(N-1)(alpha + S/B), has one message after the other; here they are on
//   their way at the same time and the latency is there twice.
// - Source: Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014,
//   with one server, which is a worker too.
#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

constexpr int32_t root = 0;

Transfer message(int32_t step, int32_t worker) {
    const bool up = step == 0;
    return {.step = step,
            .source_rank = up ? worker : root,
            .target_rank = up ? root : worker,
            .action = up ? Action::reduce : Action::copy,
            .chunk_begin = 0,
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = schedule.position_count() > 1 ? 2 : 0;
    schedule.lane_chunk_count = 1;
    return Done{};
}

// Position 0 has to do with everybody else, who have to do with it alone.
void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool at_root,
            std::vector<Transfer>& transfers) {
    if (at_root != (position == root)) {
        return;
    }
    if (!at_root) {
        transfers.push_back(message(step, position));
        return;
    }
    for (int32_t worker = 1; worker < schedule.position_count(); ++worker) {
        transfers.push_back(message(step, worker));
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
    return step == 0 ? "gather" : "broadcast";
}

std::string explain(const Schedule&, int32_t step) {
    return step == 0 ? "Everybody sends its whole input to one rank, which adds it all up."
                     : "The one rank sends the result to everybody.";
}

int64_t message_count(const Schedule& schedule) {
    return 2 * (int64_t{schedule.position_count()} - 1);
}

// Position 0's two ports are what everybody waits for; the way in and the way out overlap from
// piece to piece.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t workers = int64_t{schedule.position_count()} - 1;
    const int64_t all_ps = wire_ps(schedule, workers, bandwidth_bytes_per_s);
    return pipeline_ps(schedule, schedule.step_count, all_ps, latency_ps);
}

}  // namespace

extern const Algorithm parameter_server_algorithm;
const Algorithm parameter_server_algorithm{
    .name = "parameter_server",
    .summary = "all send to one rank, which adds up and sends the result to all",
    .steps = "2",
    .bytes_per_rank = "S, and (N-1) S at the one rank",
    .wins = "on two ranks; loses to everything else, as one port carries all bytes",
    .source = "Li et al. 2014",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
