// SPDX-License-Identifier: Apache-2.0
// RunSpec: everything that defines a run, and its one spelling
//
//     algorithm=ring&ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns&change=1ms:link.3-4.bandwidth:5GB/s
//
// which is the page's URL fragment, the daemon's job record, the command line's flags and the
// second line of a trace. A simulated run is its run line: equal lines give equal traces, byte for
// byte.
//
// Defaults are part of the spelling: what is left out has had the same value since version 1 for
// ever.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/problem.hpp"
#include "shared/result.hpp"

namespace ringscope {

inline constexpr size_t run_line_bytes_max = 65536;
inline constexpr size_t change_count_max = 1000;

// One detail that can be set, before the start or while the run goes on.
struct Knob {
    enum class Kind : uint8_t { bandwidth, latency, link_bandwidth, link_latency, rank_start };
    Kind kind = Kind::bandwidth;
    int32_t rank = 0;         // of rank_start; the link's source
    int32_t target_rank = 0;  // the link's target
    int64_t value = 0;        // bytes per second or picoseconds

    bool operator==(const Knob&) const = default;
};

// A knob turned while the run goes on.
struct Change {
    int64_t time_ps = 0;
    Knob knob;

    bool operator==(const Change&) const = default;
};

struct RunSpec {
    std::string algorithm = "ring";
    Problem problem{.rank_count = 8, .element_count = (int64_t{64} << 20) / 4};
    std::string topology = "uniform";
    int64_t bandwidth_bytes_per_s = 50'000'000'000;  // of every link and direction
    int64_t latency_ps = 500'000;                    // of every message
    std::string engine = "simulator";
    int64_t iterations = 1;
    int64_t seed = 1;             // of the input values
    std::vector<Knob> settings;   // before the start
    std::vector<Change> changes;  // in order of time

    bool operator==(const RunSpec&) const = default;
};

// A key of the run line, for help texts and flags.
struct RunKey {
    std::string_view name;
    std::string_view help;
    std::string_view example;
    bool repeatable = false;
};
std::span<const RunKey> run_keys();

// Reads a run line; a leading "v1&" is allowed. Errors name the key, the value and what is allowed.
Result<RunSpec> parse_run(std::string_view line);

// The canonical line: parse_run(print_run(run)) == run.
std::string print_run(const RunSpec& run);

// "bandwidth:25GB/s", "link.3-4.latency:2us": as in set=, and after the time in change=.
Result<Knob> parse_knob(std::string_view field, std::string_view text, const RunSpec& run);
std::string print_knob(const Knob& knob);

// Puts a change where its time belongs, after those of the same time.
void insert_change(RunSpec& run, const Change& change);

// True for a run whose times are the simulator's, false for one that a machine measures.
inline bool simulated(const RunSpec& run) {
    return run.engine == "simulator";
}

}  // namespace ringscope
