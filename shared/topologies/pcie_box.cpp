// SPDX-License-Identifier: Apache-2.0
// PCIe box: GPUs without NVLink in a server with one CPU. Four GPUs at a PCIe 4 switch, which has
// one x16 link to the CPU that they share; up to four GPUs need one switch, up to eight need two.
//
// The machine is a pattern, not a product: so are L20, L40S or A100 PCIe servers built, give or
// take a switch. Rates, from NCCL (parts.hpp): PCIe 4 x16 24 GB/s, through the CPU as well, which
// is AMD's (the 6 bytes for 5 are Intel's). Peers are taken to reach each other directly; where
// that is off and a message goes through memory, it is far slower. Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    return build_server(run,
                        {.gpus_per_pcie_switch = 4,
                         .gpus_per_cpu = 8,
                         .pcie_bytes_per_s = 24 * gb_per_s,
                         .cpu_bytes_per_s = 24 * gb_per_s},
                        false);
}

}  // namespace

extern const TopologyPreset pcie_box_topology;
const TopologyPreset pcie_box_topology{
    .name = "pcie_box",
    .summary = "up to 8 GPUs without NVLink, four at a PCIe 4 switch, one socket",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; the layout is typical, "
        "of no product",
    .build = build,
};

}  // namespace ringscope
