// SPDX-License-Identifier: Apache-2.0
// HGX H100: eight GPUs at NVSwitch, and beneath them PCIe 5: each GPU at a switch of its own, which
// it shares with a network card, four of these at each of two CPUs.
//
// The four NVSwitch chips are drawn as one node, as NCCL does: every GPU stripes over all its 18
// links. They reduce and multicast (NVLink SHARP). `nvidia-smi topo -m` of such a machine shows
// NV18 between all GPUs, and PIX between a GPU and its own network card only (nccl issue 1453).
//
// Rates, from NCCL (parts.hpp): 18 x 20.6 GB/s of NVLink 4 (measured busbw of a ring: 363 to 369
// GB/s, nccl-tests); PCIe 5 x16 48 GB/s, of which 40 are left for peers that talk through an Intel
// CPU (INTEL_P2P_OVERHEAD); 22 GB/s from socket to socket of a Sapphire Rapids (SRP_QPI_BW).
// Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    return build_server(run, h100_server(), true);
}

}  // namespace

extern const TopologyPreset hgx_h100_topology;
const TopologyPreset hgx_h100_topology{
    .name = "hgx_h100",
    .summary = "HGX H100: up to 8 GPUs, 370.8 GB/s each at NVSwitch, PCIe 5 beneath",
    .source = "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc",
    .build = build,
};

}  // namespace ringscope
