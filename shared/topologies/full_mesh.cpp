// SPDX-License-Identifier: Apache-2.0
// Full mesh: from each rank a private link to each other rank, of the run's bandwidth and latency.
// A rank that sends to several others at once sends to each of them at the full rate, which no port
// of a real machine does; it shows what an algorithm could do if ports were no limit. At most 256
// ranks, which have 65280 links.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    if (const Status status = check_rank_count(run, 256); !status) {
        return status.error();
    }
    Topology topology;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), 0);
    }
    for (const int32_t source : topology.rank_nodes) {
        for (const int32_t target : topology.rank_nodes) {
            if (source < target) {
                topology.add_cable(run_link(run, source, target, LinkKind::ideal));
            }
        }
    }
    return topology;
}

}  // namespace

extern const TopologyPreset full_mesh_topology;
const TopologyPreset full_mesh_topology{
    .name = "full_mesh",
    .summary = "a private link from each rank to each other rank, up to 256 ranks",
    .source = "",
    .build = build,
};

}  // namespace ringscope
