// SPDX-License-Identifier: Apache-2.0
#include "shared/closed_forms.hpp"

#include <algorithm>

#include "shared/units.hpp"

namespace ringscope {

int64_t piece_wire_ps(const Schedule& schedule, int64_t bandwidth_bytes_per_s) {
    const int64_t chunk_bytes =
        schedule.chunk_element_count(0) * element_bytes(schedule.problem.element_type);
    return transfer_ps(chunk_bytes * schedule.channel_count, bandwidth_bytes_per_s);
}

int64_t pipelined_ring_ps(const Schedule& schedule,
                          int64_t steps,
                          int64_t bandwidth_bytes_per_s,
                          int64_t latency_ps) {
    if (steps == 0) {
        return 0;
    }
    const int64_t pieces = schedule.piece_count;
    const int64_t wire_ps = piece_wire_ps(schedule, bandwidth_bytes_per_s);
    return std::max(steps * pieces * wire_ps + latency_ps,
                    steps * (latency_ps + wire_ps) + (pieces - 1) * wire_ps);
}

}  // namespace ringscope
