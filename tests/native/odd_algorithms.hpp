// SPDX-License-Identifier: Apache-2.0
// Algorithms that nobody would use, but that ask of an engine all that a schedule can ask: every
// collective, sends and receives of one chunk in one step, a switch that takes part.
#pragma once

#include "shared/algorithm.hpp"

namespace ringscope::testing {

// Everybody sends all that is needed straight to whom it is needed by, all in one step. Of an
// all-reduce every chunk is sent and added to at once, and so has to be staged.
const Algorithm& direct(Collective collective);

// The buffers go once round the ring, a rank further in each step, and home again; then everybody
// adds everybody else's. Stages copies and sums, of two chunks a message.
extern const Algorithm merry_go_round;

// A switch adds up and sends the sum back. As it takes the inputs in it also sends what it has,
// nothing, and all add that: so its own buffer is staged too, and has to be zero at the start.
extern const Algorithm hasty_switch;

// As build_schedule() does for a registered one; `algorithm` has to outlive the schedule.
Schedule lay_out(const Algorithm& algorithm,
                 const Problem& problem,
                 const Arrangement& arrangement = {});

}  // namespace ringscope::testing
