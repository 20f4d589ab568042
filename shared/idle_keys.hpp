// SPDX-License-Identifier: Apache-2.0
// Keys of a run line that change nothing in this run, and why: what a page greys out and a command
// warns of.
#pragma once

#include <string>
#include <string_view>

#include "shared/run_spec.hpp"

namespace ringscope {

// "the topology has no uplinks", or empty when the key counts. Only of a run that can be simulated.
std::string idle_reason(const RunSpec& run, std::string_view key);

}  // namespace ringscope
