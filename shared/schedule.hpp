// SPDX-License-Identifier: Apache-2.0
// Schedule: a collective as data. Who sends which chunks to whom in which step, copied or reduced.
//
// A Schedule knows nothing of time, links or devices; the simulator, the engines and the pictures
// all read the same one. It is enumerated, never stored: a ring over 4096 ranks has 33.5 million
// transfers. Ranks, steps and chunks count from 0; ranges are half-open.
//
//     Result<Schedule> schedule = build_schedule("ring", problem);
//     std::vector<Transfer> sends;
//     schedule->append_sends(/*step=*/3, /*rank=*/0, sends);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/problem.hpp"
#include "shared/result.hpp"

namespace ringscope {

struct Algorithm;

enum class Action : uint8_t { copy, reduce };

// The atom: one message. It carries chunks, not bare elements, so that an empty chunk (fewer
// elements than ranks) still has a name; Schedule turns chunks into elements.
struct Transfer {
    int32_t step = 0;
    int32_t channel = 0;
    int32_t source_rank = 0;
    int32_t target_rank = 0;
    Action action = Action::copy;
    int32_t chunk_begin = 0;
    int32_t chunk_count = 0;

    bool operator==(const Transfer&) const = default;
};

struct Schedule {
    const Algorithm* algorithm = nullptr;
    Problem problem;
    int32_t step_count = 0;
    int32_t chunk_count = 1;

    // The buffer is cut into chunk_count runs as equal as can be: the first element_count %
    // chunk_count of them hold one element more.
    int64_t chunk_element_begin(int32_t chunk) const;
    int64_t chunk_element_count(int32_t chunk) const;
    int64_t bytes(const Transfer& transfer) const;

    // Appends what `rank` sends (or receives) in `step`, in a fixed order.
    void append_sends(int32_t step, int32_t rank, std::vector<Transfer>& transfers) const;
    void append_receives(int32_t step, int32_t rank, std::vector<Transfer>& transfers) const;
};

// Errors: unknown algorithm; a problem that the algorithm cannot do.
Result<Schedule> build_schedule(std::string_view algorithm, const Problem& problem);

// What a correct schedule moves: found by enumeration, to be held against closed forms.
struct Proof {
    int64_t message_count = 0;
    std::vector<int64_t> sent_bytes;  // [rank]
};

// Proves, symbolically, that after the last step every rank holds each rank's input exactly once in
// every chunk; the error names the step, rank and chunk where that breaks.
// Cost: O(rank_count^2 x chunk_count / 64) memory and that times rank_count time; meant for tests.
Result<Proof> verify(const Schedule& schedule);

// Before a hop may start, `rank` must have finished its first `hop_count` hops.
struct Dependency {
    int32_t rank = 0;
    int32_t hop_count = 0;
};

// A transfer as its receiver carries it out, reading from the source's buffer.
struct Hop {
    Transfer transfer;
    std::vector<Dependency> dependencies;
};

// For engines: each rank's hops in order [rank][hop]. A rank does its hops one after the other; the
// dependencies on other ranks are derived from who last wrote and who still reads a chunk, so that
// a new algorithm cannot get them wrong. Errors: a rank would have to read and overwrite one chunk
// in the same step (needs a second buffer).
Result<std::vector<std::vector<Hop>>> derive_hops(const Schedule& schedule);

}  // namespace ringscope
