// SPDX-License-Identifier: Apache-2.0
// What `ringscope simulate`, `run`, `sweep` and `list` do once their flags are read. Each returns the exit
// status: 0 done and right; 1 ran and was wrong, failed or timed out; 2 bad input; 3 not possible
// here.
#pragma once

#include <string>
#include <string_view>

#include "shared/result.hpp"

namespace ringscope {

struct RunOptions {
    std::string run_line;  // as the flags spell it
    std::string trace;     // file to write the trace to; "-" is standard output, empty is nowhere
    std::string deadline = "600s";
    bool json = false;
};

int simulate_command(const RunOptions& options);
int run_command(const RunOptions& options);
// Keys of the run line may have several values, "1MiB,1GiB" or "1MiB..1GiB", which doubles: a table
// with a row for each combination.
int sweep_command(const RunOptions& options);
int list_command(std::string_view what, bool json);

// Says what is wrong, on standard error and, for scripts, as JSON on standard output.
void tell_error(const Error& error, bool json);

}  // namespace ringscope
