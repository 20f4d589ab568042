// SPDX-License-Identifier: Apache-2.0
// What torus_2d and torus_3d share.
//
// Each rank has a router of its own beside it, as a TPU has, and the routers are joined in a grid
// whose rows close to rings. The link from a rank to its router is ideal: without latency and of
// the greatest rate there is, so that a rank can use all of its directions at once. The links
// between routers have the run's rates: a message takes the run's latency per hop, so much between
// neighbours. Where a row has two places only, one cable joins them, not two.
#pragma once

#include "shared/topologies/parts.hpp"

namespace ringscope {

// Ranks along each dimension, the fastest first: rank = x + length[0] * (y + length[1] * z).
using TorusShape = std::array<int32_t, 3>;

Topology build_torus(const RunSpec& run, const TorusShape& shape);

// The smallest divisor of `count` whose power (2 or 3) reaches `count`: the longest side of the
// shape that is nearest to a square or a cube.
int32_t torus_side(int32_t count, int32_t power);

}  // namespace ringscope
