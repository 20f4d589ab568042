// SPDX-License-Identifier: Apache-2.0
// How a finished run is told: as JSON fields, the same for `ringscope run --json` and the daemon,
// and as a table for people.
#pragma once

#include <cstdint>
#include <string>

#include "shared/json.hpp"
#include "shared/report.hpp"
#include "shared/trace.hpp"

namespace ringscope {

struct RunResult {
    RunSpec run;
    Report report;
    Outcome outcome;
    std::string trace_hash;
    int64_t cpu_us = 0;  // user and system time; of the worker where there is one
    int64_t peak_rss_bytes = 0;
    std::vector<Note> notes = {};  // what befell a simulated run
};

// Appends to an open object: run, engine, clock, trace_hash, report, outcome; of a measured run
// also iterations, median_ps and min_ps.
void append_result(JsonWriter& json, const RunResult& result);

// One object, with what the run cost this machine.
std::string result_json(const RunResult& result);

// An aligned table, one fact a line.
std::string result_table(const RunResult& result);

// Our own mistake, if there is one: a simulated all-reduce faster than any can be. Empty when not.
std::string impossible(const RunResult& result);

}  // namespace ringscope
