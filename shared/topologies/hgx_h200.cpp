// SPDX-License-Identifier: Apache-2.0
// HGX H200: in its links the same as hgx_h100. The H200 is an H100 with more and faster memory, on
// the same board with the same NVLink 4; measured rings agree (busbw 366 and 368 GB/s with NVLink
// SHARP off, ml-engineering, network/benchmarks). It has a name of its own because people look for
// it.
#include "shared/topologies/parts.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    return build_server(run, h100_server(), true);
}

}  // namespace

extern const TopologyPreset hgx_h200_topology;
const TopologyPreset hgx_h200_topology{
    .name = "hgx_h200",
    .summary = "HGX H200: the links of hgx_h100",
    .source = "rates and latencies of NCCL 2.30, graph/topo.h and tuning.cc",
    .build = build,
};

}  // namespace ringscope
