// SPDX-License-Identifier: Apache-2.0
// Tree: up a binary tree, where every rank adds what its children send to its own, and down again;
// piece after piece.
//
// - Steps: 2 floor(log2 N).
// - Bytes per rank: up to 3 S sent and received, as a rank with two children hears from three; S
//   each way at the leaves, which are half of the ranks.
// - Wins on small and middling buffers on many ranks, where the ring's 2(N-1) latencies count.
// Loses
//   on large ones: the ports of the inner ranks are busy and those of the leaves are not.
// - The tree is in order: the ranks below a rank are next to it on both sides, and every other
//   position is a leaf, which double_tree turns to account.
// - chunks=k: without it one piece per 256 KiB of a channel, 1 to 64.
// - The textbooks' pipelined tree has one latency per piece; here it is there once per hop, as
//   messages of a connection follow each other at once. But two children share their parent's port.
// - Source: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
//   and scan", Parallel Computing 35 (2009), of which this is one tree.
#include <string>

#include "shared/algorithm.hpp"
#include "shared/closed_forms.hpp"

namespace ringscope {
namespace {

// Position p is number p + 1. The number of trailing zeros of a number is its height in the tree:
// odd numbers are leaves, and the root is the largest power of two there is.
int32_t height(int32_t number) {
    return std::countr_zero(static_cast<uint32_t>(number));
}

int32_t root_height(const Schedule& schedule) {
    return floor_log2(schedule.position_count());
}

// In the full tree the parent differs in the lowest two bits that count. Where it is beyond the
// last number, its own parents take over, up to the first that is there.
int32_t parent(const Schedule& schedule, int32_t number) {
    const int32_t bit = number & -number;
    const int32_t above = (number & ~bit) | (2 * bit);
    return above <= schedule.position_count() ? above : number & ~bit;
}

// The child of that height, or 0. On the left is one of the height below. On the right it may be
// lower, where the tree is not full.
int32_t left_child(int32_t number, int32_t child_height) {
    return child_height == height(number) - 1 ? number - (int32_t{1} << child_height) : 0;
}

int32_t right_child(const Schedule& schedule, int32_t number, int32_t child_height) {
    const int32_t child = number + (int32_t{1} << child_height);
    const bool there = child_height < height(number) && child <= schedule.position_count();
    return there && parent(schedule, child) == number ? child : 0;
}

// All messages to and from the ranks of one height are in one step up and one step down.
int32_t child_height(const Schedule& schedule, int32_t step) {
    const int32_t half = root_height(schedule);
    return step < half ? step : 2 * half - 1 - step;
}

Status plan(Schedule& schedule, const Arrangement& arrangement) {
    schedule.step_count = 2 * root_height(schedule);
    schedule.lane_chunk_count = 1;
    if (arrangement.piece_count == 0) {
        schedule.piece_count = default_piece_count(schedule);
    }
    return Done{};
}

void append(const Schedule& schedule,
            int32_t step,
            int32_t position,
            bool sends,
            std::vector<Transfer>& transfers) {
    const bool up = step < root_height(schedule);
    const int32_t low = child_height(schedule, step);
    const auto add = [&](int32_t above, int32_t below) {
        transfers.push_back({.step = step,
                             .source_rank = (up ? below : above) - 1,
                             .target_rank = (up ? above : below) - 1,
                             .action = up ? Action::reduce : Action::copy,
                             .chunk_begin = 0,
                             .chunk_count = 1});
    };
    const int32_t number = position + 1;
    if (up == sends) {
        if (height(number) == low) {
            add(parent(schedule, number), number);
        }
        return;
    }
    if (const int32_t left = left_child(number, low); left != 0) {
        add(number, left);
    }
    if (const int32_t right = right_child(schedule, number, low); right != 0) {
        add(number, right);
    }
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
    return step < root_height(schedule) ? "reduce" : "broadcast";
}

std::string explain(const Schedule& schedule, int32_t step) {
    const std::string low = std::to_string(child_height(schedule, step));
    if (step == 0) {
        return "The leaves of the tree send their input to their parents, which add it in.";
    }
    if (step < root_height(schedule)) {
        return "The ranks " + low +
               " above the leaves send the sum of all below them to their "
               "parents, which add it in.";
    }
    if (step == root_height(schedule)) {
        return "The root has the result and sends it to its children.";
    }
    return "The result reaches the ranks " + low + " above the leaves.";
}

int64_t message_count(const Schedule& schedule) {
    return 2 * (int64_t{schedule.position_count()} - 1);
}

// How many connections share the busiest port: those of two children, and with several pieces the
// parent's, whose pieces come down while others go up.
int64_t busiest_port(const Schedule& schedule) {
    const int32_t n = schedule.position_count();
    return n <= 2 ? 1 : n == 3 || has_one_piece(schedule) ? 2 : 3;
}

// Each connection has its part of the busiest port at least. A power of two has a root with one
// child, which has the port to itself.
int64_t closed_form_ps(const Schedule& schedule,
                       int64_t bandwidth_bytes_per_s,
                       int64_t latency_ps) {
    const int64_t hops = schedule.step_count;
    const int64_t piece_ps = wire_ps(schedule, 1, bandwidth_bytes_per_s);
    const int64_t shared_ps = wire_ps(schedule, busiest_port(schedule), bandwidth_bytes_per_s);
    const int32_t n = schedule.position_count();
    if (n > 2 && n == floor_power_of_two(n) && has_one_piece(schedule)) {
        return sum_ps(1, sum_ps(hops, latency_ps, hops - 2, shared_ps), 2, piece_ps);
    }
    return pipeline_ps(schedule, hops, shared_ps, latency_ps);
}

// In a full tree and in one with a root on top, as long as no piece meets another.
bool closed_form_exact(const Schedule& schedule) {
    const int32_t n = schedule.position_count();
    const bool full = n == floor_power_of_two(n) || n + 1 == floor_power_of_two(n + 1);
    return n <= 3 || (full && has_one_piece(schedule));
}

}  // namespace

extern const Algorithm tree_algorithm;
const Algorithm tree_algorithm{
    .name = "tree",
    .summary = "up a binary tree and down again, piece after piece",
    .steps = "2 floor(log2 N)",
    .bytes_per_rank = "up to 3 S",
    .wins = "on small and middling buffers and many ranks; on large ones its leaves are idle",
    .source = "Sanders, Speck and Traeff 2009, one tree",
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
