// SPDX-License-Identifier: Apache-2.0
// Torus in two dimensions: rows and columns that close to rings, torus.hpp. A row has the run's
// `group` of ranks, or without a word about it the smallest divisor of the number of ranks that is
// at least its square root: 16 ranks are 4 x 4, 8 are two rows of 4, and a prime is one row.
#include "shared/topologies/torus.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    const int32_t rank_count = run.problem.rank_count;
    const int32_t row = run.group > 0 ? run.group : torus_side(rank_count, 2);
    if (rank_count % row != 0) {
        return invalid_field("group",
                             std::to_string(row),
                             "must divide ranks=" + std::to_string(rank_count) +
                                 " into the rows of topology=torus_2d");
    }
    return build_torus(run, {row, rank_count / row, 1});
}

}  // namespace

extern const TopologyPreset torus_2d_topology;
const TopologyPreset torus_2d_topology{
    .name = "torus_2d",
    .summary = "a grid of ranks whose rows and columns close to rings",
    .source = "",
    .build = build,
};

}  // namespace ringscope
