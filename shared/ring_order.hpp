// SPDX-License-Identifier: Apache-2.0
// The best ring: the order of ranks whose 2(N-1) steps suffer least from the narrow links.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/result.hpp"
#include "shared/topology.hpp"

namespace ringscope {

// More ranks are not searched: all routes between them would have to be known.
inline constexpr int32_t best_ring_rank_count_max = 512;

// position -> rank, beginning with rank 0, of a ring in which every rank sends to the next one.
//
// Of two orders the better one has, in this order of importance, the lower bottleneck (the greatest
// number of the ring's hops on a link, divided by its bandwidth), the fewer crossings of the
// narrowest links (by bandwidth; then of the next narrowest, and so on), and the lower sum of
// latencies. Links that are down count as the slowest there are, and what was set for a pair of
// ranks as a link of theirs.
//
// Up to 9 ranks it is the best of all orders. With more it is the best that was found: the natural
// order, one that always goes to the nearest rank, one of nearest hops only where at most 2^15
// steps find it; then improved by turning pieces round and moving them, in at most 2^17 / N trials.
// Never worse than 0, 1, 2 ..., which stays where nothing is better. The same topology gives the
// same order.
//
// Errors: more than best_ring_rank_count_max ranks.
Result<std::vector<int32_t>> best_ring_order(const Topology& topology);

}  // namespace ringscope
