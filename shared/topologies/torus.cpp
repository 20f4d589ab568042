// SPDX-License-Identifier: Apache-2.0
#include "shared/topologies/torus.hpp"

#include "shared/units.hpp"

namespace ringscope {

int32_t torus_side(int32_t count, int32_t power) {
    for (int32_t side = 1;; ++side) {
        const int64_t reached = power == 2 ? int64_t{side} * side : int64_t{side} * side * side;
        if (count % side == 0 && reached >= count) {
            return side;
        }
    }
}

Topology build_torus(const RunSpec& run, const TorusShape& shape) {
    Topology topology;
    const int32_t rank_count = run.problem.rank_count;
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank));
    }
    std::vector<int32_t> routers;
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        routers.push_back(
            topology.add_node(NodeKind::network_switch, "router" + std::to_string(rank)));
        topology.add_cable({.source_node = topology.rank_nodes[static_cast<size_t>(rank)],
                            .target_node = routers.back(),
                            .bandwidth_bytes_per_s = bandwidth_bytes_per_s_max});
    }
    int32_t stride = 1;
    for (const int32_t length : shape) {
        for (int32_t rank = 0; rank < rank_count; ++rank) {
            const int32_t place = rank / stride % length;
            const bool last = place == length - 1;
            if (length == 1 || (last && length == 2)) {
                continue;
            }
            const int32_t next = rank + (last ? -place : 1) * stride;
            topology.add_cable(run_link(run,
                                        routers[static_cast<size_t>(rank)],
                                        routers[static_cast<size_t>(next)],
                                        LinkKind::network));
        }
        stride *= length;
    }
    return topology;
}

}  // namespace ringscope
