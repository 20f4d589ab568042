// SPDX-License-Identifier: Apache-2.0
// Uniform: a private link from each rank to each other rank, all with the run's bandwidth and
// latency. The network of the textbook formulas; nothing is shared, so nothing queues behind
// another rank's bytes.
#include "shared/topology.hpp"

namespace ringscope {
namespace {

Topology build(const RunSpec& run) {
    Topology topology;
    topology.common = {.bandwidth_bytes_per_s = run.bandwidth_bytes_per_s,
                       .latency_ps = run.latency_ps};
    return topology;
}

}  // namespace

extern const TopologyPreset uniform_topology;
const TopologyPreset uniform_topology{
    .name = "uniform",
    .summary = "a private link from each rank to each other rank, all alike",
    .build = build,
};

}  // namespace ringscope
