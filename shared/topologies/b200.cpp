// SPDX-License-Identifier: Apache-2.0
// B200: a DGX or HGX server with eight GPUs at NVSwitch, and beneath them PCIe 5, as in hgx_h100.
//
// The two NVSwitch chips are drawn as one node, as NCCL does: every GPU stripes over all its 18
// links. They reduce and multicast (NVLink SHARP). That every GPU has a PCIe switch of its own is
// taken over from the H100 board: an estimate, as `nvidia-smi topo -m` of some B200 servers shows
// pairs of GPUs beneath one.
//
// Rates, from NCCL (parts.hpp): 18 x 40.1 GB/s of NVLink 5 (measured busbw of a ring: 673 to 682
// GB/s, ml-engineering); PCIe 5 x16 48 GB/s, of which 40 are left for peers that talk through an
// Intel CPU (INTEL_P2P_OVERHEAD); 40 GB/s from socket to socket of an Emerald Rapids, as DGX B200's
// Xeon 8570 is (ERP_QPI_BW). Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    ServerModel model = h100_server();
    model.nvswitch_bytes_per_s = 18 * (401 * gb_per_s / 10);
    model.socket_bytes_per_s = 40 * gb_per_s;
    return build_server(run, model, true);
}

}  // namespace

extern const TopologyPreset b200_topology;
const TopologyPreset b200_topology{
    .name = "b200",
    .summary = "DGX B200: up to 8 GPUs, 721.8 GB/s each at NVSwitch, PCIe 5 beneath",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; its PCIe switches are "
        "an estimate",
    .build = build,
};

}  // namespace ringscope
