// SPDX-License-Identifier: Apache-2.0
// What the algorithms' files share: arithmetic on positions, and the closed forms of more than one.
#pragma once

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

// The time on the wire of the longest chunk of a piece, all channels of a port together: c / k.
int64_t piece_wire_ps(const Schedule& schedule, int64_t bandwidth_bytes_per_s);

// `steps` steps around a ring, of k pieces that follow each other. With w = c/k the wire time of a
// piece: max(steps c + alpha, steps (alpha + w) + (k-1) w). The first is a link that never idles.
int64_t pipelined_ring_ps(const Schedule& schedule,
                          int64_t steps,
                          int64_t bandwidth_bytes_per_s,
                          int64_t latency_ps);

}  // namespace ringscope
