// SPDX-License-Identifier: Apache-2.0
// Direct all-reduce: everybody sends everybody its chunk, adds up its own, and sends everybody
// that.
//
// - Steps: 2, with N-1 messages per rank in each.
// - Bytes per rank: 2(N-1)/N S sent and as many received, as little as a ring.
// - Wins on small buffers among ranks that are all joined directly, as by an NVSwitch: the latency
//   is there twice. Loses on many ranks, whose messages get short, and where they share links.
// - Source: Cowan et al., "MSCCLang: Microsoft collective communication language", ASPLOS 2023, as
//   all pairs. Its first half is the pairwise exchange of Thakur, Rabenseifner and Gropp 2005, with
//   all the exchanges at once.
#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

// Chunk p is position p's to add up.
Transfer message(int32_t step, int32_t source, int32_t target) {
    const bool first = step == 0;
    return {.step = step,
            .source_rank = source,
            .target_rank = target,
            .action = first ? Action::reduce : Action::copy,
            .chunk_begin = first ? target : source,
            .chunk_count = 1};
}

Status plan(Schedule& schedule, const Arrangement&) {
    schedule.step_count = schedule.position_count() > 1 ? 2 : 0;
    schedule.lane_chunk_count = schedule.position_count();
    return Done{};
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    const int32_t n = schedule.position_count();
    for (int32_t i = 1; i < n; ++i) {
        transfers.push_back(message(step, position, wrap(position + i, n)));
    }
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    const int32_t n = schedule.position_count();
    for (int32_t i = 1; i < n; ++i) {
        transfers.push_back(message(step, wrap(position - i, n), position));
    }
}

std::string_view phase(const Schedule&, int32_t step) {
    return step == 0 ? "reduce-scatter" : "all-gather";
}

std::string explain(const Schedule&, int32_t step) {
    return step == 0 ? "Every rank sends every other one that one's chunk, and adds up its own."
                     : "Every rank sends its own chunk, now finished, to every other one.";
}

int64_t message_count(const Schedule& schedule) {
    const int64_t n = schedule.position_count();
    return 2 * n * (n - 1);
}

// All ports are alike; the second step of a piece follows the first step of all pieces on the same
// connections, as in a ring of two steps.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t others = int64_t{schedule.position_count()} - 1;
    const int64_t step_ps = wire_ps(schedule, others, bandwidth_bytes_per_s);
    return pipelined_ring_ps(schedule, schedule.step_count, step_ps, latency_ps);
}

}  // namespace

extern const Algorithm direct_algorithm;
const Algorithm direct_algorithm{
    .name = "direct",
    .summary = "everybody to everybody, twice: as few bytes as a ring, in two steps",
    .steps = "2",
    .bytes_per_rank = "2(N-1)/N S",
    .wins = "on small buffers among ranks joined directly; loses where messages share links",
    .source = "Cowan et al. 2023, all pairs",
    .plan = plan,
    .append_sends = append_sends,
    .append_receives = append_receives,
    .phase = phase,
    .explain = explain,
    .message_count = message_count,
    .closed_form_ps = closed_form_ps,
};

}  // namespace ringscope
