// SPDX-License-Identifier: Apache-2.0
// What the tests of shared/ have in common: short ways to make a run, and the sizes worth trying.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "shared/run_spec.hpp"
#include "shared/simulator.hpp"
#include "shared/trace.hpp"

namespace ringscope {

// A run line that is known to be right.
inline RunSpec run_of(std::string_view line) {
    auto run = parse_run(line);
    EXPECT_TRUE(run) << line << ": " << run.error().message;
    return run ? *run : RunSpec{};
}

inline RunSpec small_run(int32_t rank_count, int64_t element_count) {
    RunSpec run;
    run.problem.rank_count = rank_count;
    run.problem.element_count = element_count;
    return run;
}

inline Trace trace_of(const RunSpec& run) {
    auto trace = simulate(run);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? *trace : Trace{};
}

inline int64_t end_ps(const Trace& trace) {
    int64_t end = 0;
    for (const Event& event : trace.events) {
        end = std::max(end, event.end_ps);
    }
    return end;
}

// Fewer elements than ranks, one too few, one too many, primes, and a size that is cut evenly.
inline std::vector<int64_t> awkward_element_counts(int32_t rank_count) {
    return {
        0, 1, 2, rank_count - 1, rank_count, rank_count + 1, 97, 1009, int64_t{64} * rank_count};
}

// A small generator of our own: std::uniform_int_distribution differs between standard libraries.
class Dice {
  public:
    explicit Dice(uint64_t seed) : state_(seed) {}
    // From 0 to `limit` - 1.
    int64_t below(int64_t limit) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;  // Knuth, TAOCP 2, 3.3.4
        return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(limit));
    }

  private:
    uint64_t state_;
};

}  // namespace ringscope
