// SPDX-License-Identifier: Apache-2.0
#include "shared/closed_forms.hpp"

#include <algorithm>
#include <string>

#include "shared/units.hpp"

namespace ringscope {
namespace {

int64_t product_ps(int64_t count, int64_t time_ps) {
    return count > 0 && time_ps > time_ps_max / count ? time_ps_max : count * time_ps;
}

int32_t largest_divisor_up_to_the_root(int32_t n) {
    int32_t largest = 1;
    for (int32_t divisor = 2; divisor * divisor <= n; ++divisor) {
        largest = n % divisor == 0 ? divisor : largest;
    }
    return largest;
}

}  // namespace

int32_t default_piece_count(const Schedule& schedule) {
    constexpr int64_t piece_bytes = 256 << 10;
    const int64_t channel_bytes = buffer_bytes(schedule.problem) / schedule.channel_count;
    const int64_t pieces = (channel_bytes + piece_bytes - 1) / piece_bytes;
    return static_cast<int32_t>(std::clamp<int64_t>(pieces, 1, 64));
}

Status choose_group_size(Schedule& schedule, const Arrangement& arrangement) {
    const int32_t n = schedule.position_count();
    if (arrangement.group_size == 0) {
        schedule.group_size = largest_divisor_up_to_the_root(n);
    } else if (n % arrangement.group_size != 0) {
        return invalid_field("group",
                             std::to_string(arrangement.group_size),
                             "must divide the number of ranks, " + std::to_string(n));
    }
    return Done{};
}

int64_t lane_wire_ps(const Schedule& schedule, int64_t chunk_count, int64_t bandwidth_bytes_per_s) {
    const int64_t chunk_bytes =
        schedule.chunk_element_count(0) * element_bytes(schedule.problem.element_type);
    const int64_t bytes = chunk_bytes * chunk_count;
    const bool longer_than_the_clock = bytes / bandwidth_bytes_per_s >= time_ps_max / ps_per_s;
    return longer_than_the_clock ? time_ps_max : transfer_ps(bytes, bandwidth_bytes_per_s);
}

int64_t wire_ps(const Schedule& schedule, int64_t chunk_count, int64_t bandwidth_bytes_per_s) {
    return lane_wire_ps(schedule, chunk_count * schedule.channel_count, bandwidth_bytes_per_s);
}

int64_t sum_ps(int64_t latency_count, int64_t latency_ps, int64_t wire_count, int64_t wire_ps) {
    const int64_t latencies_ps = product_ps(latency_count, latency_ps);
    const int64_t wires_ps = product_ps(wire_count, wire_ps);
    return latencies_ps > time_ps_max - wires_ps ? time_ps_max : latencies_ps + wires_ps;
}

int64_t pipelined_ring_ps(const Schedule& schedule,
                          int64_t steps,
                          int64_t wire_ps,
                          int64_t latency_ps) {
    if (steps == 0) {
        return 0;
    }
    return std::max(sum_ps(1, latency_ps, steps * schedule.piece_count, wire_ps),
                    pipeline_ps(schedule, steps, wire_ps, latency_ps));
}

int64_t pipeline_ps(const Schedule& schedule, int64_t hops, int64_t wire_ps, int64_t latency_ps) {
    return hops == 0 ? 0 : sum_ps(hops, latency_ps, hops + schedule.piece_count - 1, wire_ps);
}

}  // namespace ringscope
