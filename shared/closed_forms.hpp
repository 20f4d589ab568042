// SPDX-License-Identifier: Apache-2.0
// What the algorithms' files share: arithmetic on positions, the default number of pieces, and the
// parts that closed forms are made of.
//
// The network of the closed forms is topology=uniform. Each rank has one port out and one port in
// of bandwidth B, which the messages that are on it at a time share. A message is on its ports for
// bytes / rate and arrives a latency alpha later. Messages from one rank to another on one channel
// follow each other; those to different ranks go at the same time. A port that n of them want gives
// each at least B / n, and that is where the bounds from above come from.
#pragma once

#include <bit>
#include <cstdint>

#include "shared/schedule.hpp"

namespace ringscope {

// value mod n, from 0 to n-1, for a value from -2n to 2n: without a division, as it is done for
// every message.
constexpr int32_t wrap(int32_t value, int32_t n) {
    value += value < 0 ? n : 0;
    value += value < 0 ? n : 0;
    value -= value >= n ? n : 0;
    return value - (value >= n ? n : 0);
}

// log2 n rounded down or up, for n >= 1.
constexpr int32_t floor_log2(int32_t n) {
    return static_cast<int32_t>(std::bit_width(static_cast<uint32_t>(n))) - 1;
}
constexpr int32_t ceil_log2(int32_t n) {
    return static_cast<int32_t>(std::bit_width(static_cast<uint32_t>(n) - 1));
}
constexpr int32_t floor_power_of_two(int32_t n) {
    return int32_t{1} << floor_log2(n);
}

// For a pipelined algorithm whose run does not say: one piece per 256 KiB of the channel's part of
// the buffer, 1 to 64 of them. By the size only, so that it is the same on every network.
int32_t default_piece_count(const Schedule& schedule);

// For an algorithm of groups whose run does not say: as square as can be, the largest divisor of
// the ranks that is not above their root. Errors: a group that does not divide the ranks.
Status choose_group_size(Schedule& schedule, const Arrangement& arrangement);

// How long `chunk_count` of the longest chunks occupy a port that they have to themselves; and
// together with as many of every other channel.
int64_t lane_wire_ps(const Schedule& schedule, int64_t chunk_count, int64_t bandwidth_bytes_per_s);
int64_t wire_ps(const Schedule& schedule, int64_t chunk_count, int64_t bandwidth_bytes_per_s);

// a x alpha + b x w; like all of these it stops at the end of the clock.
int64_t sum_ps(int64_t latency_count, int64_t latency_ps, int64_t wire_count, int64_t wire_ps);

// `steps` steps of wire time w each, in which everybody sends at once, of k pieces that follow each
// other on the same connections: max(steps k w + alpha, steps (alpha + w) + (k-1) w). The first is
// a port that never idles.
int64_t pipelined_ring_ps(const Schedule& schedule,
                          int64_t steps,
                          int64_t wire_ps,
                          int64_t latency_ps);

// k pieces through `hops` hops, none of which keeps one longer than w: hops (alpha + w) + (k-1) w.
// The latency is there once per hop and not once per piece, as in the textbooks: on a connection
// the next message leaves while the last is still in the air.
int64_t pipeline_ps(const Schedule& schedule, int64_t hops, int64_t wire_ps, int64_t latency_ps);

// Of closed forms that are exact as long as pieces cannot get in each other's way.
inline bool has_one_piece(const Schedule& schedule) {
    return schedule.piece_count == 1;
}

}  // namespace ringscope
