// SPDX-License-Identifier: Apache-2.0
// Halving and doubling, Rabenseifner's all-reduce: a reduce-scatter by recursive halving of the
// buffer, then an all-gather that goes the same way back.
//
// - Steps: 2 log2 N for a power of two; otherwise 2 floor(log2 N) + 2, as the ranks above the
//   largest power of two hand in their input before and get the result after (fold.hpp).
// - Bytes per rank: 2(N-1)/N S sent and as many received, the least there is; a rank that another
//   was folded into receives and sends S more.
// - The halves are swapped with the rank 1 away first and with the farthest last, so that the
//   longest messages stay near.
// - Wins over the ring on many ranks, with as few bytes in far fewer steps. Loses where messages
//   over many links get in each other's way, and when N is no power of two.
// - Source: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004, LNCS 3036.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/algorithms/fold.hpp"

namespace ringscope {
namespace {

// What a rank of the core is left with after `halvings` of them: bit i of its number says which
// half it kept in halving i.
struct Block {
    int32_t begin = 0;
    int32_t count = 0;
};

Fold fold_of(const Schedule& schedule) {
    return {schedule, 2};
}

// Whether a step of the core is of its first half, and which bit of their numbers partners differ
// in.
struct Round {
    bool halves = true;
    int32_t bit = 0;
};

Round round_of(const Fold& fold, int32_t step) {
    const int32_t core_step = step - fold.steps_before();
    const bool halves = 2 * core_step < fold.core_step_count;
    return {halves, halves ? core_step : fold.core_step_count - 1 - core_step};
}

Block block(const Fold& fold, int32_t core_index, int32_t halvings) {
    Block left{0, fold.core_count};
    for (int32_t i = 0; i < halvings; ++i) {
        left.count /= 2;
        left.begin += ((core_index >> i) & 1) * left.count;
    }
    return left;
}

// In halving i a rank sends the half that its partner keeps. On the way back it sends what it has.
Transfer core_transfer(const Fold& fold, int32_t step, int32_t source) {
    const Round round = round_of(fold, step);
    const int32_t index = fold.core_index(source);
    const int32_t partner = index ^ (int32_t{1} << round.bit);
    const Block sent = block(fold, round.halves ? partner : index, round.bit + 1);
    return {.step = step,
            .source_rank = source,
            .target_rank = fold.core_position(partner),
            .action = round.halves ? Action::reduce : Action::copy,
            .chunk_begin = sent.begin,
            .chunk_count = sent.count};
}

Status plan(Schedule& schedule, const Arrangement&) {
    const Fold fold = fold_of(schedule);
    schedule.step_count = fold.step_count();
    schedule.lane_chunk_count = fold.core_count;
    return Done{};
}

void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool sends,
            std::vector<Transfer>& transfers) {
    const Fold fold = fold_of(schedule);
    if (fold.append_outside(step, position, sends, fold.core_count, transfers)) {
        return;
    }
    const Transfer own = core_transfer(fold, step, position);
    transfers.push_back(sends ? own : core_transfer(fold, step, own.target_rank));
}

void append_sends(const Schedule& schedule,
                  int32_t step,
                  int32_t position,
                  std::vector<Transfer>& transfers) {
    append(schedule, step, position, true, transfers);
}

void append_receives(const Schedule& schedule,
                     int32_t step,
                     int32_t position,
                     std::vector<Transfer>& transfers) {
    append(schedule, step, position, false, transfers);
}

std::string_view phase(const Schedule& schedule, int32_t step) {
    const Fold fold = fold_of(schedule);
    if (const std::string_view outside = fold.phase_outside(step); !outside.empty()) {
        return outside;
    }
    return round_of(fold, step).halves ? "reduce-scatter" : "all-gather";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const Fold fold = fold_of(schedule);
    if (std::string outside = fold.explain_outside(step); !outside.empty()) {
        return outside;
    }
    const Round round = round_of(fold, step);
    const std::string distance = std::to_string(int32_t{1} << round.bit);
    if (round.halves) {
        return "Every rank hands half of what it still works on to the rank " + distance +
               " away, and adds to the other half what it gets from there.";
    }
    return "Every rank swaps all its finished chunks with the rank " + distance +
           " away, and has twice as many.";
}

int64_t message_count(const Schedule& schedule) {
    const Fold fold = fold_of(schedule);
    return int64_t{fold.core_count} * fold.core_step_count + 2 * int64_t{fold.extra_count};
}

// Chunks that a port carries one way in the core's steps: 2(N-1) in all.
int64_t core_wires_ps(const Schedule& schedule, int64_t bandwidth_bytes_per_s) {
    const Fold fold = fold_of(schedule);
    int64_t total_ps = 0;
    for (int64_t count = fold.core_count / 2; count > 0; count /= 2) {
        const int64_t chunks = count * schedule.piece_count;
        total_ps = sum_ps(1, total_ps, 2, wire_ps(schedule, chunks, bandwidth_bytes_per_s));
    }
    return total_ps;
}

// Where ranks are folded in, those without a partner to wait for run ahead, and messages of several
// steps meet at a port. How many chunks may have to pass before a step is through everywhere, when
// all before it are, with L halvings:
// - The fold: what its port gets in the whole run.
// - Halving i: at most L + 1 connections share a port. Before the k messages on one of them there
//   may be those of k - 1 pieces that are on their way back already.
// - On the way back: only those of the i + 2 connections that still have something to carry.
int64_t folded_chunk_count(const Schedule& schedule) {
    const Fold fold = fold_of(schedule);
    const int64_t core = fold.core_count;
    const int64_t pieces = schedule.piece_count;
    const int64_t connections = fold.core_step_count / 2 + 1;
    int64_t back = 0;
    for (int32_t i = 0; 2 * i < fold.core_step_count; ++i) {
        back += (i + 2) * (core >> (i + 1));
    }
    const int64_t in_and_out = (core + 2 * (core - 1)) + core;
    return pieces * (in_and_out + back) + (2 * pieces - 1) * connections * (core - 1);
}

// A power of two: all ports are alike, and none idles while any piece is not in the air.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    if (fold_of(schedule).extra_count == 0) {
        return sum_ps(
            schedule.step_count, latency_ps, 1, core_wires_ps(schedule, bandwidth_bytes_per_s));
    }
    const int64_t chunk_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    return sum_ps(schedule.step_count, latency_ps, folded_chunk_count(schedule), chunk_ps);
}

bool closed_form_exact(const Schedule& schedule) {
    return has_one_piece(schedule) && fold_of(schedule).extra_count == 0;
}

}  // namespace

extern const Algorithm halving_doubling_algorithm;
const Algorithm halving_doubling_algorithm{
    .name = "halving_doubling",
    .summary = "reduce-scatter by halving, all-gather by doubling; as few bytes as a ring",
    .steps = "2 log2 N",
    .bytes_per_rank = "2(N-1)/N S",
    .wins = "on many ranks of a good network; loses when N is no power of two",
    .source = "Rabenseifner 2004",
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
