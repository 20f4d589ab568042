// SPDX-License-Identifier: Apache-2.0
// Ethernet: hosts with one rank each, a GPU or a CPU, at one switch that never blocks. Bandwidth
// and latency are the run's: the port's rate, and what a message takes from host to host. Say
// bandwidth=1.25GB/s for 10 Gb/s, and tens of microseconds where TCP carries it.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    Topology topology;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), rank);
    }
    const int32_t node = topology.add_node(NodeKind::network_switch, "switch0");
    for (const int32_t rank_node : topology.rank_nodes) {
        add_port(topology, run, rank_node, node, LinkKind::network);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset ethernet_topology;
const TopologyPreset ethernet_topology{
    .name = "ethernet",
    .summary = "hosts with one rank each at one Ethernet switch",
    .source = "",
    .build = build,
};

}  // namespace ringscope
