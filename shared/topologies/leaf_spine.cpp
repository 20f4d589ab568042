// SPDX-License-Identifier: Apache-2.0
// Leaf and spine: hosts with one rank each beneath leaf switches, and spines that join all leaves.
//
// Hosts per leaf: the smallest power of two whose square is at least the number of ranks, from 2 to
// 32, so that there are about as many leaves as hosts per leaf. Ranks follow each other leaf after
// leaf. Of uplinks a leaf has as many as hosts, each as wide as a host's port; oversubscription=4
// leaves it a quarter of them. Where they cannot be divided by it, what is left of the divisor
// makes each of them narrower: 4 hosts at 3 have four uplinks of a third.
//
// Bandwidth and latency are the run's: a port's rate, and what a message takes beneath one leaf;
// the way over a spine takes 0.6 us more (switch_latency_ps in parts.hpp, twice).
#include <numeric>

#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

int32_t hosts_per_leaf_for(int32_t rank_count) {
    int32_t hosts = 2;
    while (hosts < 32 && hosts * hosts < rank_count) {
        hosts *= 2;
    }
    return hosts;
}

void add_spines(Topology& topology,
                const RunSpec& run,
                const std::vector<int32_t>& leaves,
                int32_t hosts_per_leaf) {
    const int32_t common = std::gcd(hosts_per_leaf, run.oversubscription);
    const int32_t divisor = run.oversubscription / common;
    for (int32_t i = 0; i < hosts_per_leaf / common; ++i) {
        const int32_t spine =
            topology.add_node(NodeKind::network_switch, "spine" + std::to_string(i));
        for (const int32_t leaf : leaves) {
            topology.add_cable(
                {.source_node = leaf,
                 .target_node = spine,
                 .kind = LinkKind::network,
                 .bandwidth_bytes_per_s = narrowed(run.bandwidth_bytes_per_s, divisor),
                 .latency_ps = switch_latency_ps,
                 .follows_bandwidth = true,
                 .bandwidth_divisor = divisor});
        }
    }
}

Result<Topology> build(const RunSpec& run) {
    Topology topology;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), rank);
    }
    const int32_t hosts_per_leaf = hosts_per_leaf_for(run.problem.rank_count);
    std::vector<int32_t> leaves;
    for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
        if (rank % hosts_per_leaf == 0) {
            leaves.push_back(topology.add_node(NodeKind::network_switch,
                                               "leaf" + std::to_string(leaves.size())));
        }
        add_port(topology,
                 run,
                 topology.rank_nodes[static_cast<size_t>(rank)],
                 leaves.back(),
                 LinkKind::network);
    }
    if (leaves.size() > 1) {
        add_spines(topology, run, leaves, hosts_per_leaf);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset leaf_spine_topology;
const TopologyPreset leaf_spine_topology{
    .name = "leaf_spine",
    .summary =
        "hosts with one rank each beneath leaf switches, uplinks narrower by oversubscription",
    .source =
        "rates of the run; 300 ns from switch to switch: Spectrum-2, Linley Newsletter "
        "2017-07-31",
    .build = build,
};

}  // namespace ringscope
