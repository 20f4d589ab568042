// SPDX-License-Identifier: Apache-2.0
// EFA: Amazon's p5.48xlarge, a server of hgx_h100 with 32 network cards of 100 Gb/s, four beneath
// each GPU's PCIe switch (Amazon EC2 user guide, "Maximize network bandwidth ... with multiple
// network cards").
//
// Four cards are drawn as one node: the plugin stripes a message over all four (aws-ofi-nccl, 4
// rails). Behind them lies an ideal network: the protocol, SRD, sprays packets over many paths, so
// that two flows do not meet on one. The p4d with A100 and four cards in all is not this preset.
//
// Rates, from NCCL: 4 x 12 GB/s (NET_BW per 100 Gb/s). Latency from GPU to GPU: 20 us, the network
// latency that aws-ofi-nccl reckons with for P5 (src/tuner/nccl_ofi_model.cpp, net_lat); 1 us of it
// are the PCIe links at both ends.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

constexpr int64_t efa_latency_ps = 20'000'000;

void add_nics(Topology& topology, const Server& server, int32_t host, int32_t network) {
    for (int32_t i = 0; i < server_gpu_count; ++i) {
        const std::string number = std::to_string(host * server_gpu_count + i);
        const int32_t nic = topology.add_node(NodeKind::nic, "nic" + number, host);
        topology.add_cable({.source_node = server.pcie_switches[static_cast<size_t>(i)],
                            .target_node = nic,
                            .kind = LinkKind::pcie,
                            .bandwidth_bytes_per_s = h100_server().pcie_bytes_per_s,
                            .latency_ps = pcie_latency_ps});
        topology.add_cable({.source_node = nic,
                            .target_node = network,
                            .kind = LinkKind::network,
                            .bandwidth_bytes_per_s = 4 * 12 * gb_per_s,
                            .latency_ps = efa_latency_ps / 2 - 2 * pcie_latency_ps});
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
    const int32_t network = topology.add_node(NodeKind::network, "network0");
    for (int32_t host = 0; host < *server_count; ++host) {
        const Server server = add_server(topology, h100_server(), host, server_gpu_count);
        add_nics(topology, server, host, network);
    }
    return topology;
}

}  // namespace

extern const TopologyPreset efa_topology;
const TopologyPreset efa_topology{
    .name = "efa",
    .summary = "Amazon p5: servers of 8 H100 with 32 cards of 100 Gb/s each",
    .source = "rates of NCCL 2.30, graph/topo.h; latency of aws-ofi-nccl's tuner for P5",
    .build = build,
};

}  // namespace ringscope
