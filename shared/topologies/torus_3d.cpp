// SPDX-License-Identifier: Apache-2.0
// Torus in three dimensions, as a TPU v4 pod is one: rows, columns and pillars that close to rings,
// torus.hpp. The first side is the smallest divisor of the number of ranks whose cube is at least
// that number, or the run's `group`; the rest is shared out as in torus_2d. 64 ranks are 4 x 4 x 4,
// 16 are 4 x 2 x 2.
#include "shared/topologies/torus.hpp"

namespace ringscope {
namespace {

Result<Topology> build(const RunSpec& run) {
    const int32_t rank_count = run.problem.rank_count;
    const int32_t row = run.group > 0 ? run.group : torus_side(rank_count, 3);
    if (rank_count % row != 0) {
        return invalid_field("group",
                             std::to_string(row),
                             "must divide ranks=" + std::to_string(rank_count) +
                                 " into the rows of topology=torus_3d");
    }
    const int32_t column = torus_side(rank_count / row, 2);
    return build_torus(run, {row, column, rank_count / row / column});
}

}  // namespace

extern const TopologyPreset torus_3d_topology;
const TopologyPreset torus_3d_topology{
    .name = "torus_3d",
    .summary = "a block of ranks whose rows, columns and pillars close to rings",
    .source = "",
    .build = build,
};

}  // namespace ringscope
