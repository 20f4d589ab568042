// SPDX-License-Identifier: Apache-2.0
// DGX A100: eight GPUs at NVSwitch, and beneath them PCIe 4: two GPUs at a switch, two switches at
// each of two CPUs.
//
// The six NVSwitch chips are drawn as one node, as NCCL does: every GPU has two links to each of
// them and stripes over all twelve. These switches pass on, they neither reduce nor multicast.
// `nvidia-smi topo -m` of this machine shows NV12 between all GPUs and PXB between those of a pair;
// with four NUMA domains per socket it lists more CPUs than the two that there are.
//
// Rates, from NCCL (parts.hpp): 12 x 20 GB/s of NVLink 3 (measured busbw of a ring: 233 GB/s,
// nccl-tests); PCIe 4 x16 24 GB/s; 16 GB/s from socket to socket of an AMD Rome (AMD_ZEN12_BW).
// Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    return build_server(run,
                        {.gpus_per_pcie_switch = 2,
                         .gpus_per_cpu = 4,
                         .nvswitch_bytes_per_s = 12 * 20 * gb_per_s,
                         .pcie_bytes_per_s = 24 * gb_per_s,
                         .cpu_bytes_per_s = 24 * gb_per_s,
                         .socket_bytes_per_s = 16 * gb_per_s},
                        false);
}

}  // namespace

extern const TopologyPreset dgx_a100_topology;
const TopologyPreset dgx_a100_topology{
    .name = "dgx_a100",
    .summary = "DGX A100: up to 8 GPUs, 240 GB/s each at NVSwitch, PCIe 4 beneath",
    .source = "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc",
    .build = build,
};

}  // namespace ringscope
