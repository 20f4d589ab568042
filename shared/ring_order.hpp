// SPDX-License-Identifier: Apache-2.0
// The best ring: the order of ranks whose 2(N-1) steps suffer least from the narrow links.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/result.hpp"
#include "shared/topology.hpp"

namespace ringscope {

// position -> rank, beginning with rank 0.
Result<std::vector<int32_t>> best_ring_order(const Topology& topology);

}  // namespace ringscope
