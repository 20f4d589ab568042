// SPDX-License-Identifier: Apache-2.0
// Fits T(S) = min over up to three lines (latency + S / rate) to measured times of an all-reduce.
//
//     Result<Fit> fit = fit_lines(points, 3);
//     if (!fit) return fit.error();
//     int64_t duration_ps = predict_ps(fit->lines, bytes);
//
// A library picks the fastest of a few ways to do the work, and each way costs about a fixed time
// and a time per byte; that is why the minimum of a few lines fits what nccl-tests prints. It knows
// nothing of ranks or algorithms and says nothing about another machine.
//
// Deterministic: only + - * / and comparisons, in one order. The lines are integers, and the errors
// are those of the integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/result.hpp"

namespace ringscope {

inline constexpr int32_t fit_line_count_max = 3;

struct FitPoint {
    int64_t bytes = 0;    // 1 to bytes_max
    int64_t time_ps = 0;  // 1 ps to 1000 s
};

struct FitLine {
    int64_t latency_ps = 0;   // >= 0
    int64_t bytes_per_s = 0;  // >= 1; bandwidth_bytes_per_s_max when the size does not matter

    bool operator==(const FitLine&) const = default;
};

// Errors are |predicted / measured - 1|.
struct Fit {
    std::vector<FitLine> lines;  // by rising latency
    double mean_error_fraction = 0;
    double worst_error_fraction = 0;
    // Mean over every second size when only the others were fitted; none with fewer than
    // 4 * line_count sizes.
    std::optional<double> held_out_error_fraction;
};

// Minimises the mean error. Points come in any order; sizes may repeat. Lines that never win are
// left out. Errors: line_count outside 1 to 3, fewer than 2 * line_count sizes, numbers outside
// their range.
Result<Fit> fit_lines(std::span<const FitPoint> points, int32_t line_count);

// The least of the lines; saturates at time_ps_max. At least one line.
int64_t predict_ps(std::span<const FitLine> lines, int64_t bytes);

struct FitErrors {
    double mean_fraction = 0;
    double worst_fraction = 0;
};

// How far the lines are from points that they may never have seen. At least one of each.
FitErrors errors_of(std::span<const FitLine> lines, std::span<const FitPoint> points);

}  // namespace ringscope
