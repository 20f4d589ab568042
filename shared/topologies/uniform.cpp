// SPDX-License-Identifier: Apache-2.0
// Uniform: the network of the textbook formulas. Each rank has one port per direction, of the run's
// bandwidth, into a network without contention; a message from any rank to any other takes the
// run's latency. A rank that sends to several others at once shares its port among them; a rank
// that talks to one other has, in effect, a private link to it.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    Topology topology;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), 0);
    }
    const int32_t network = topology.add_node(NodeKind::network, "network0");
    topology.reducing_node = network;
    for (const int32_t node : topology.rank_nodes) {
        add_port(topology, run, node, network, LinkKind::ideal);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset uniform_topology;
const TopologyPreset uniform_topology{
    .name = "uniform",
    .summary = "one port per rank and direction, all alike, into a network without contention",
    .source = "",
    .build = build,
};

}  // namespace ringscope
