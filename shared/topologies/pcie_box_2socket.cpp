// SPDX-License-Identifier: Apache-2.0
// PCIe box with two sockets: eight GPUs without NVLink, two at a PCIe 3 switch, two switches at
// each of two CPUs. Ring orders matter here: each crossing of the socket link costs, and it is
// narrow.
//
// The machine is a pattern, not a product: so were V100 PCIe, T4 and RTX servers with two Xeons of
// the Skylake family built. Rates, from NCCL (parts.hpp): PCIe 3 x16 12 GB/s, of which 10 are left
// for peers that talk through an Intel CPU (INTEL_P2P_OVERHEAD); 10 GB/s from socket to socket
// (SKL_QPI_BW). Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    return build_server(run,
                        {.gpus_per_pcie_switch = 2,
                         .gpus_per_cpu = 4,
                         .pcie_bytes_per_s = 12 * gb_per_s,
                         .cpu_bytes_per_s = 10 * gb_per_s,
                         .socket_bytes_per_s = 10 * gb_per_s},
                        false);
}

}  // namespace

extern const TopologyPreset pcie_box_2socket_topology;
const TopologyPreset pcie_box_2socket_topology{
    .name = "pcie_box_2socket",
    .summary = "up to 8 GPUs without NVLink, two at a PCIe 3 switch, two sockets",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; the layout is typical, "
        "of no product",
    .build = build,
};

}  // namespace ringscope
