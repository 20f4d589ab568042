// SPDX-License-Identifier: Apache-2.0
// Cost models other than the plain one: a network on which the run's algorithm takes the time that
// a formula for whole collectives says.
//
// Both give T(S) = a + S/b. The network then has one port per rank, as uniform has, on which each
// step's message takes a / steps and a port carries its bytes at b x (bytes of a port) / S. A ring
// takes exactly the formula's time on it; an algorithm that pipelines takes that and the filling of
// its pipe. Which links a message really crosses is not part of these models.
#pragma once

#include <string>

#include "shared/run_spec.hpp"
#include "shared/topology.hpp"

namespace ringscope {

// Of a run whose cost is not plain; `real` is its topology's own graph. Errors: a cost that does
// not know the topology or the algorithm, a fit without lines.
Result<Topology> build_cost_topology(const RunSpec& run, const Topology& real);

// "NCCL 2.30: Ring with LL128" or "line 2 of the fit": what was taken, for people; empty for the
// plain cost.
std::string cost_choice(const RunSpec& run);

}  // namespace ringscope
