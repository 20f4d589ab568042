// SPDX-License-Identifier: Apache-2.0
// Sweep: one simulation for each combination of some keys' values; its result is a table. Pulled
// one point at a time, so that whoever shows it can show progress and stop.
//
//     auto sweep = Sweep::create("topology=hgx_h100", {"bytes=1MiB..1GiB", "algorithm=ring,tree"});
//     while (!sweep->done()) rows.push_back(sweep->step());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/result.hpp"
#include "shared/trace.hpp"

namespace ringscope {

struct SweepRow {
    std::vector<std::string> values;  // [axis]
    std::string run_line;
    int64_t duration_ps = 0;
    int64_t algbw_bytes_per_s = 0;
    int64_t busbw_bytes_per_s = 0;
    int64_t lower_bound_ps = 0;
    Outcome outcome;  // failed, with the reason, also when this point cannot be simulated
};

class Sweep {
  public:
    // Each axis is KEY=VALUE,VALUE,... or KEY=FIRST..LAST, which doubles from the first to the
    // last; the last axis changes fastest. Errors: a bad axis, a key given twice, more than
    // sweep_point_count_max points.
    static Result<Sweep> create(std::string_view base_line, const std::vector<std::string>& axes);

    const std::vector<std::string>& keys() const { return keys_; }
    int64_t size() const { return size_; }
    int64_t position() const { return next_; }
    bool done() const { return next_ == size_; }
    SweepRow step();

  private:
    std::string base_line_;
    std::vector<std::string> keys_;
    std::vector<std::vector<std::string>> values_;  // [axis]
    int64_t size_ = 1;
    int64_t next_ = 0;
};

inline constexpr int64_t sweep_point_count_max = 10'000;

}  // namespace ringscope
