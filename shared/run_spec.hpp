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

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/fit.hpp"
#include "shared/knob.hpp"
#include "shared/problem.hpp"
#include "shared/result.hpp"

namespace ringscope {

inline constexpr size_t run_line_bytes_max = 65536;
inline constexpr size_t change_count_max = 1000;

// Cut-through: a message flows over all links of its route at once. Store-and-forward: each node on
// the way takes it in whole before it sends it on.
enum class Forwarding : uint8_t { cut_through, store_and_forward };

// What happens when nothing has moved for RunSpec::timeout_ps.
enum class Recovery : uint8_t {
    none,     // the run ends there and says who waited for whom
    restart,  // all ranks begin again, the dead ones replaced
    shrink,   // the others begin again without the dead ones
    resume,   // the others go on with what they have, where the sums allow it
};

// plain: bandwidth, latency and reduce as given (alpha, beta, gamma). nccl: NCCL's own constants
// for the topology's hardware. fitted: lines of the run's `fit`.
enum class Cost : uint8_t { plain, nccl, fitted };

enum class Protocol : uint8_t { automatic, ll, ll128, simple };

inline constexpr std::array<std::string_view, 2> forwarding_names{"cut-through",
                                                                  "store-and-forward"};
inline constexpr std::array<std::string_view, 4> recovery_names{
    "none", "restart", "shrink", "resume"};
inline constexpr std::array<std::string_view, 3> cost_names{"plain", "nccl", "fitted"};
inline constexpr std::array<std::string_view, 4> protocol_names{"auto", "ll", "ll128", "simple"};

struct RunSpec {
    std::string algorithm = "ring";
    Problem problem{.rank_count = 8, .element_count = (int64_t{64} << 20) / 4};
    int32_t channels = 0;       // 0: the algorithm's own choice, as in the next three
    int32_t chunks = 0;         // pieces of each channel that follow each other
    int64_t segment_bytes = 0;  // cuts messages down to this size; instead of `chunks`
    int32_t group = 0;          // ranks of a node or of a torus row
    std::vector<int32_t> ring;  // the order of the ranks; empty: the topology's own
    bool best_ring = false;     // search for the order instead
    std::string topology = "uniform";
    std::string graph;                               // of topology=graph, see topology_text.hpp
    int32_t oversubscription = 1;                    // of the topologies that have uplinks
    int64_t bandwidth_bytes_per_s = 50'000'000'000;  // of every link and direction
    int64_t latency_ps = 500'000;                    // of every message
    Forwarding forwarding = Forwarding::cut_through;
    Cost cost = Cost::plain;
    Protocol protocol = Protocol::automatic;  // of cost=nccl
    std::vector<FitLine> fit;                 // of cost=fitted
    int64_t reduce_bytes_per_s = 0;           // 1 / gamma of each rank; 0: reducing is free
    int64_t launch_ps = 0;                    // before any rank does anything
    int32_t slots = 0;  // messages under way on a connection before one is taken in; 0: any number
    std::string engine = "simulator";
    int64_t iterations = 1;
    Recovery recovery = Recovery::none;
    int64_t timeout_ps = 1'000'000'000'000;  // without any movement, until somebody acts
    int64_t seed = 1;                        // of the input values
    std::vector<Knob> settings;              // before the start
    std::vector<Change> changes;             // in order of time

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

// Puts a change where its time belongs, after those of the same time.
void insert_change(RunSpec& run, const Change& change);

// True for a run whose times are the simulator's, false for one that a machine measures.
inline bool simulated(const RunSpec& run) {
    return run.engine == "simulator";
}

}  // namespace ringscope
