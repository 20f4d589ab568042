// SPDX-License-Identifier: Apache-2.0
// Single switch: one host whose ranks hang at one switch, each with a port of the run's bandwidth
// per direction. A message takes the run's latency. It differs from uniform where a switch differs
// from an ideal network: with forwarding=store-and-forward it takes a message in before it passes
// it on, and it does not reduce.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    Topology topology;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), 0);
    }
    const int32_t node = topology.add_node(NodeKind::network_switch, "switch0", 0);
    for (const int32_t rank_node : topology.rank_nodes) {
        add_port(topology, run, rank_node, node, LinkKind::ideal);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset single_switch_topology;
const TopologyPreset single_switch_topology{
    .name = "single_switch",
    .summary = "all ranks of one host at one switch",
    .source = "",
    .build = build,
};

}  // namespace ringscope
