// SPDX-License-Identifier: Apache-2.0
// Fat tree: three levels of switches with k ports each (Al-Fares, Loukissas and Vahdat, SIGCOMM
// 2008). k pods of k/2 edge and k/2 aggregation switches; each edge switch has k/2 hosts, each
// aggregation switch k/2 of the (k/2)^2 cores: k^3/4 hosts in all, and as much rate at every level.
//
// k is the smallest even number from 4 on that has room for the ranks; they fill edge after edge,
// and switches with no rank beneath them are left out, as are levels that nothing would need.
// Bandwidth and latency are the run's: the rate of every link, and what a message takes beneath one
// edge switch; each link from switch to switch takes 0.3 us more (switch_latency_ps in parts.hpp).
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

int32_t port_count_for(int32_t rank_count) {
    int32_t ports = 4;
    while (ports * ports * ports / 4 < rank_count) {
        ports += 2;
    }
    return ports;
}

std::vector<int32_t> add_switches(Topology& topology, const std::string& name, int32_t count) {
    std::vector<int32_t> switches;
    for (int32_t i = 0; i < count; ++i) {
        switches.push_back(topology.add_node(NodeKind::network_switch, name + std::to_string(i)));
    }
    return switches;
}

void add_uplink(Topology& topology, const RunSpec& run, int32_t lower, int32_t upper) {
    topology.add_cable({.source_node = lower,
                        .target_node = upper,
                        .kind = LinkKind::network,
                        .bandwidth_bytes_per_s = run.bandwidth_bytes_per_s,
                        .latency_ps = switch_latency_ps,
                        .follows_bandwidth = true});
}

int32_t divide_up(int32_t a, int32_t b) {
    return (a + b - 1) / b;
}

// The two upper levels. `half` is k/2.
void add_upper_levels(Topology& topology,
                      const RunSpec& run,
                      const std::vector<int32_t>& edges,
                      int32_t half) {
    const int32_t pod_count = divide_up(static_cast<int32_t>(edges.size()), half);
    const auto aggregations = add_switches(topology, "aggregation", pod_count * half);
    for (size_t edge = 0; edge < edges.size(); ++edge) {
        const size_t pod = edge / static_cast<size_t>(half);
        for (int32_t i = 0; i < half; ++i) {
            const size_t upper = pod * static_cast<size_t>(half) + static_cast<size_t>(i);
            add_uplink(topology, run, edges[edge], aggregations[upper]);
        }
    }
    if (pod_count == 1) {
        return;
    }
    const auto cores = add_switches(topology, "core", half * half);
    for (size_t i = 0; i < aggregations.size(); ++i) {
        const size_t first = i % static_cast<size_t>(half) * static_cast<size_t>(half);
        for (size_t core = first; core < first + static_cast<size_t>(half); ++core) {
            add_uplink(topology, run, aggregations[i], cores[core]);
        }
    }
}

Result<Topology> build(const RunSpec& run) {
    Topology topology;
    const int32_t rank_count = run.problem.rank_count;
    const int32_t half = port_count_for(rank_count) / 2;
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), rank);
    }
    const auto edges = add_switches(topology, "edge", divide_up(rank_count, half));
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        add_port(topology,
                 run,
                 topology.rank_nodes[static_cast<size_t>(rank)],
                 edges[static_cast<size_t>(rank / half)],
                 LinkKind::network);
    }
    if (edges.size() > 1) {
        add_upper_levels(topology, run, edges, half);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset fat_tree_topology;
const TopologyPreset fat_tree_topology{
    .name = "fat_tree",
    .summary = "hosts with one rank each beneath three levels of equal switches, nothing narrowed",
    .source =
        "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008; rates of the run; 300 ns from switch to "
        "switch: Spectrum-2, Linley Newsletter 2017-07-31",
    .build = build,
};

}  // namespace ringscope
