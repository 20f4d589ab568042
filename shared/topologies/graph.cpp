// SPDX-License-Identifier: Apache-2.0
// Graph: the one that the run line describes, in the compact form of topology_text.hpp.
#include "shared/topology_text.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    if (run.graph.empty()) {
        return invalid_field(
            "graph",
            "",
            "must describe the links of topology=graph, such as "
            "node,a,gpu;node,b,gpu;link,a,b,25GB/s,1us,network;rank,0,a;rank,1,b; on the command "
            "line --topology-file FILE makes it from a file");
    }
    auto topology = parse_topology("graph", run.graph, TopologyForm::compact, run);
    if (!topology) {
        return topology.error();
    }
    if (std::ssize(topology->rank_nodes) != run.problem.rank_count) {
        return invalid_field("ranks",
                             std::to_string(run.problem.rank_count),
                             "must be " + std::to_string(topology->rank_nodes.size()) +
                                 ", the number of ranks in the graph");
    }
    return topology;
}

}  // namespace

extern const TopologyPreset graph_topology;
const TopologyPreset graph_topology{
    .name = "graph",
    .summary = "a graph of your own, see --topology-file",
    .source = "as the graph says",
    .build = build,
};

}  // namespace ringscope
