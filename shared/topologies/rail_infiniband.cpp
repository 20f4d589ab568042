// SPDX-License-Identifier: Apache-2.0
// Rail-optimised InfiniBand: servers of hgx_h100, in each of which every GPU has a network card of
// 400 Gb/s beneath its own PCIe switch. The first GPUs of 32 servers hang at one leaf switch, the
// second ones at the next, and so on: a rail each. Eight leaves and their 32 servers are a scalable
// unit; spines join all leaves. So NVIDIA builds its SuperPODs (DGX SuperPOD reference
// architecture: 64 nodes have 16 leaves and 8 spines, 128 have 32 and 16, 256 have 64 and 32). 256
// servers, 2048 GPUs, are the most that two levels of 64-port switches join, hence the limit.
//
// Two GPUs on the same rail meet at their leaf; others go over a spine. Real NCCL would often hand
// such a message to the GPU of the right rail over NVLink first (PXN); GPUs do not pass on here.
//
// Rates: 48 GB/s for 400 Gb/s, from NCCL (NET_BW, 12 GB/s per 100 Gb/s). A leaf has 32 ports up,
// shared out evenly among the spines: 32 x 48 GB/s in all, so that nothing is oversubscribed.
// Latencies: 2.7 us along a rail (parts.hpp); leaf to spine and back 0.2 us each, an estimate of
// switch and cable.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

constexpr int32_t unit_server_count = 32;
constexpr int32_t rail_count = 8;
constexpr int64_t nic_bytes_per_s = 48 * gb_per_s;
constexpr int64_t spine_latency_ps = 200'000;

Link network_link(int32_t source, int32_t target, int64_t bytes_per_s, int64_t latency_ps) {
    return {.source_node = source,
            .target_node = target,
            .kind = LinkKind::network,
            .bandwidth_bytes_per_s = bytes_per_s,
            .latency_ps = latency_ps};
}

// Four spines per scalable unit, but never a number that 32 ports cannot be shared out among.
int32_t spine_count_for(int32_t unit_count) {
    int32_t count = 4;
    while (count < 4 * unit_count) {
        count *= 2;
    }
    return count;
}

// Returns the leaves, rail by rail within each unit.
std::vector<int32_t> add_leaves_and_spines(Topology& topology, int32_t unit_count) {
    std::vector<int32_t> leaves;
    for (int32_t i = 0; i < unit_count * rail_count; ++i) {
        leaves.push_back(topology.add_node(NodeKind::network_switch, "leaf" + std::to_string(i)));
    }
    const int32_t spine_count = spine_count_for(unit_count);
    const int64_t uplink_bytes_per_s = unit_server_count / spine_count * nic_bytes_per_s;
    for (int32_t i = 0; i < spine_count; ++i) {
        const int32_t spine =
            topology.add_node(NodeKind::network_switch, "spine" + std::to_string(i));
        for (const int32_t leaf : leaves) {
            topology.add_cable(network_link(leaf, spine, uplink_bytes_per_s, spine_latency_ps));
        }
    }
    return leaves;
}

void add_nics(Topology& topology,
              const Server& server,
              int32_t host,
              const std::vector<int32_t>& leaves) {
    for (int32_t rail = 0; rail < rail_count; ++rail) {
        const std::string number = std::to_string(host * rail_count + rail);
        const int32_t nic = topology.add_node(NodeKind::nic, "nic" + number, host);
        topology.add_cable({.source_node = server.pcie_switches[static_cast<size_t>(rail)],
                            .target_node = nic,
                            .kind = LinkKind::pcie,
                            .bandwidth_bytes_per_s = h100_server().pcie_bytes_per_s,
                            .latency_ps = pcie_latency_ps});
        const int32_t leaf =
            leaves[static_cast<size_t>(host / unit_server_count * rail_count + rail)];
        topology.add_cable(network_link(nic, leaf, nic_bytes_per_s, nic_latency_ps));
    }
}

Result<Topology> build(const RunSpec& run) {
    const auto server_count = count_servers(run);
    if (!server_count) {
        return server_count.error();
    }
    if (*server_count == 1) {
        return build_server(run, h100_server(), true);
    }
    Topology topology;
    std::vector<Server> servers;
    for (int32_t host = 0; host < *server_count; ++host) {
        servers.push_back(add_server(topology, h100_server(), host, server_gpu_count));
    }
    const int32_t unit_count = (*server_count + unit_server_count - 1) / unit_server_count;
    const std::vector<int32_t> leaves = add_leaves_and_spines(topology, unit_count);
    for (int32_t host = 0; host < *server_count; ++host) {
        add_nics(topology, servers[static_cast<size_t>(host)], host, leaves);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset rail_infiniband_topology;
const TopologyPreset rail_infiniband_topology{
    .name = "rail_infiniband",
    .summary = "servers of 8 H100 with 8 cards of 400 Gb/s each, a leaf switch per rail, spines",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; switches of NVIDIA's "
        "DGX SuperPOD reference architecture; the spines' latency is an estimate",
    .build = build,
};

}  // namespace ringscope
