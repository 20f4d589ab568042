// SPDX-License-Identifier: Apache-2.0
// One card a server: servers of hgx_h100 that have a single network card of 200 Gb/s at the first
// CPU, all at one switch that never blocks. What eight GPUs want to send out of a server shares 24
// GB/s, a fifteenth of what one of them has at NVSwitch.
//
// Rates, from NCCL: 24 GB/s for 200 Gb/s (NET_BW, 12 GB/s per 100 Gb/s), and PCIe 4 x16 behind it
// 24 GB/s; what comes from the second CPU has to pass the 22 GB/s between the sockets. Latencies
// (parts.hpp): from server to server 3.2 us, that is 2.7 us and two PCIe links more, since the way
// leads through the CPUs; 0.05 us more for each GPU at a second CPU.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

void add_nic(Topology& topology, const Server& server, int32_t host, int32_t network_switch) {
    const int32_t nic = topology.add_node(NodeKind::nic, "nic" + std::to_string(host), host);
    topology.add_cable({.source_node = server.cpus[0],
                        .target_node = nic,
                        .kind = LinkKind::pcie,
                        .bandwidth_bytes_per_s = 24 * gb_per_s,
                        .latency_ps = pcie_latency_ps});
    topology.add_cable({.source_node = nic,
                        .target_node = network_switch,
                        .kind = LinkKind::network,
                        .bandwidth_bytes_per_s = 24 * gb_per_s,
                        .latency_ps = nic_latency_ps});
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
    const int32_t network_switch = topology.add_node(NodeKind::network_switch, "switch0");
    for (int32_t host = 0; host < *server_count; ++host) {
        const Server server = add_server(topology, h100_server(), host, server_gpu_count);
        add_nic(topology, server, host, network_switch);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset one_nic_topology;
const TopologyPreset one_nic_topology{
    .name = "one_nic",
    .summary = "servers of 8 H100 with one card of 200 Gb/s each, at one switch",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; the layout is typical, "
        "of no product",
    .build = build,
};

}  // namespace ringscope
