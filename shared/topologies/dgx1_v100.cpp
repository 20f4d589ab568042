// SPDX-License-Identifier: Apache-2.0
// DGX-1 with eight V100: a hybrid cube mesh of NVLinks, and beneath it a PCIe tree.
//
// Two quads of GPUs, 0 to 3 and 4 to 7, each with all of its six pairs joined, and four joints from
// quad to quad: 0-4, 1-5, 2-6, 3-7. Of a GPU's six NVLinks two go to each of two neighbours and one
// to each of the other two, as `nvidia-smi topo -m` prints it for this machine
// (gist.github.com/ashwin/e139748bdba15f5af63f0146d01ee4c3). GPUs that no NVLink joins, such as 0
// and 5, talk over PCIe: two GPUs beneath a switch, two switches beneath a CPU, two CPUs (NVIDIA
// DGX-1 System Architecture, WP-08437). GPUs do not pass on what is for others.
//
// Rates, from NCCL (parts.hpp): 20 GB/s a link of NVLink 2; PCIe 3 x16 12 GB/s, of which 10 are
// left for peers that talk through an Intel CPU (INTEL_P2P_OVERHEAD: 6 bytes for 5); 6 GB/s from
// socket to socket of a Broadwell, as its Xeon E5-2698 v4 is (BDW_QPI_BW). Latencies: parts.hpp.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

struct Joint {
    int32_t source;
    int32_t target;
    int32_t nvlink_count;
};

constexpr std::array<Joint, 16> joints{{{0, 1, 1},
                                        {0, 2, 1},
                                        {0, 3, 2},
                                        {0, 4, 2},
                                        {1, 2, 2},
                                        {1, 3, 1},
                                        {1, 5, 2},
                                        {2, 3, 2},
                                        {2, 6, 1},
                                        {3, 7, 1},
                                        {4, 5, 1},
                                        {4, 6, 1},
                                        {4, 7, 2},
                                        {5, 6, 2},
                                        {5, 7, 1},
                                        {6, 7, 2}}};

Result<Topology> build(const RunSpec& run) {
    auto topology = build_server(run,
                                 {.gpus_per_pcie_switch = 2,
                                  .gpus_per_cpu = 4,
                                  .pcie_bytes_per_s = 12 * gb_per_s,
                                  .cpu_bytes_per_s = 10 * gb_per_s,
                                  .socket_bytes_per_s = 6 * gb_per_s},
                                 false);
    if (!topology) {
        return topology.error();
    }
    for (const auto& [source, target, nvlink_count] : joints) {
        if (target < run.problem.rank_count) {
            topology->add_cable({.source_node = source,
                                 .target_node = target,
                                 .kind = LinkKind::nvlink,
                                 .bandwidth_bytes_per_s = nvlink_count * 20 * gb_per_s,
                                 .latency_ps = nvlink_latency_ps});
        }
    }
    return topology;
}

}  // namespace

extern const TopologyPreset dgx1_v100_topology;
const TopologyPreset dgx1_v100_topology{
    .name = "dgx1_v100",
    .summary = "DGX-1: up to 8 V100 in a hybrid cube mesh of NVLink 2, PCIe 3 beneath",
    .source =
        "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc; links of nvidia-smi "
        "topo -m",
    .build = build,
};

}  // namespace ringscope
