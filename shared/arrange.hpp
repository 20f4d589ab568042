// SPDX-License-Identifier: Apache-2.0
// From a run to its schedule: how the algorithm is laid over the ranks of the run's topology.
#pragma once

#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/topology.hpp"

namespace ringscope {

// Channels, pieces, groups and orders: what the run says, and where it says nothing what the
// topology suggests. Without a word about it, a group is a host, and each channel goes through the
// hosts one after the other, entering each at another rank, so that every channel has its own way
// out. Errors name the key.
Result<Arrangement> arrange(const RunSpec& run, const Topology& topology);

// With `members`, sorted, only those ranks take part. Errors: as parse_run, build_topology, arrange
// and build_schedule for an algorithm.
Result<Schedule> build_schedule(const RunSpec& run,
                                const Topology& topology,
                                const std::vector<int32_t>& members = {});
Result<Schedule> build_schedule(const RunSpec& run);

}  // namespace ringscope
