// SPDX-License-Identifier: Apache-2.0
#include "shared/fit.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr int64_t point_time_ps_max = 1000 * ps_per_s;
constexpr size_t point_count_max = 128;  // the work grows with the cube

constexpr double slope_min = 1e12 / 1e15;  // ps per byte at bandwidth_bytes_per_s_max
constexpr double slope_max = 1e12;         // at 1 byte/s

// A point and a line as real numbers: T = latency + bytes * slope, in ps and ps per byte.
struct Sample {
    double bytes = 0;
    double time = 0;
};
struct Line {
    double latency = 0;
    double slope = slope_min;
};
using Lines = std::vector<Line>;

double magnitude(double value) {
    return value < 0 ? -value : value;
}

double at(const Line& line, double bytes) {
    return line.latency + bytes * line.slope;
}

size_t least_line(const Lines& lines, double bytes) {
    size_t best = 0;
    for (size_t i = 1; i < lines.size(); ++i) {
        if (at(lines[i], bytes) < at(lines[best], bytes)) {
            best = i;
        }
    }
    return best;
}

double error_sum(const Line& line, std::span<const Sample> samples) {
    double sum = 0;
    for (const Sample& sample : samples) {
        sum += magnitude(at(line, sample.bytes) / sample.time - 1);
    }
    return sum;
}

// The quantity that is minimised: the sum of relative errors of the minimum of the lines.
double error_sum(const Lines& lines, std::span<const Sample> samples) {
    double sum = 0;
    for (const Sample& sample : samples) {
        sum +=
            magnitude(at(lines[least_line(lines, sample.bytes)], sample.bytes) / sample.time - 1);
    }
    return sum;
}

// The line with the least sum of weight * (relative error)^2, latency and slope not negative.
Line weighted_squares(std::span<const Sample> samples, std::span<const double> weights) {
    // With u = 1/time and v = bytes/time the error is latency u + slope v - 1.
    double uu = 0;
    double uv = 0;
    double vv = 0;
    double u1 = 0;
    double v1 = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
        const double u = 1 / samples[i].time;
        const double v = samples[i].bytes / samples[i].time;
        uu += weights[i] * u * u;
        uv += weights[i] * u * v;
        vv += weights[i] * v * v;
        u1 += weights[i] * u;
        v1 += weights[i] * v;
    }
    const double determinant = uu * vv - uv * uv;
    Line line;
    if (determinant > 1e-12 * uu * vv) {
        line.latency = (u1 * vv - v1 * uv) / determinant;
        line.slope = (v1 * uu - u1 * uv) / determinant;
    }
    if (determinant <= 1e-12 * uu * vv || line.latency < 0) {  // through the origin
        line.latency = 0;
        line.slope = v1 / vv;
    }
    if (line.slope < slope_min) {
        line.slope = slope_min;
        line.latency = std::max(0.0, (u1 - slope_min * uv) / uu);
    }
    return line;
}

// The line with about the least sum of relative errors: squares, weighted again and again by one
// over the error that is left.
Line fit_one(std::span<const Sample> samples) {
    constexpr int round_count = 30;
    constexpr double error_floor = 1e-9;
    std::vector<double> weights(samples.size(), 1.0);
    Line best = weighted_squares(samples, weights);
    double best_sum = error_sum(best, samples);
    Line line = best;
    for (int round = 0; round < round_count; ++round) {
        for (size_t i = 0; i < samples.size(); ++i) {
            const double error = magnitude(at(line, samples[i].bytes) / samples[i].time - 1);
            weights[i] = 1 / std::max(error, error_floor);
        }
        line = weighted_squares(samples, weights);
        if (const double sum = error_sum(line, samples); sum < best_sum) {
            best = line;
            best_sum = sum;
        }
    }
    return best;
}

// The best lines when each covers one run of neighbouring sizes, by dynamic programming over where
// the runs end. Every run has at least two samples where there are enough.
Lines fit_runs(std::span<const Sample> samples, size_t line_count) {
    const size_t count = samples.size();
    const double never = std::numeric_limits<double>::infinity();
    struct Cell {
        double sum = 0;
        size_t begin = 0;  // of the last run
        Line line;
    };
    // [lines used][samples covered]
    std::vector<std::vector<Cell>> table(line_count + 1,
                                         std::vector<Cell>(count + 1, Cell{never, 0, {}}));
    table[0][0].sum = 0;
    for (size_t begin = 0; begin < count; ++begin) {
        for (size_t end = begin + std::min<size_t>(2, count); end <= count; ++end) {
            const std::span<const Sample> run = samples.subspan(begin, end - begin);
            const Line line = fit_one(run);
            const double sum = error_sum(line, run);
            for (size_t used = 0; used < line_count; ++used) {
                Cell& cell = table[used + 1][end];
                if (table[used][begin].sum + sum < cell.sum) {
                    cell = {table[used][begin].sum + sum, begin, line};
                }
            }
        }
    }
    Lines lines;
    size_t end = count;
    for (size_t used = line_count; used > 0; --used) {
        lines.insert(lines.begin(), table[used][end].line);
        end = table[used][end].begin;
    }
    return lines;
}

// Gives every sample to the line that is least there and fits each line again, as long as it helps.
Lines reassign(Lines lines, std::span<const Sample> samples) {
    constexpr int round_count = 20;
    double best_sum = error_sum(lines, samples);
    for (int round = 0; round < round_count; ++round) {
        Lines next = lines;
        for (size_t i = 0; i < lines.size(); ++i) {
            std::vector<Sample> own;
            std::copy_if(
                samples.begin(), samples.end(), std::back_inserter(own), [&](const Sample& s) {
                    return least_line(lines, s.bytes) == i;
                });
            if (own.size() >= 2) {
                next[i] = fit_one(own);
            }
        }
        const double sum = error_sum(next, samples);
        if (sum >= best_sum) {
            break;
        }
        lines = next;
        best_sum = sum;
    }
    return lines;
}

// Moves one number at a time by ever smaller steps, as long as it helps.
Lines polish(Lines lines, std::span<const Sample> samples) {
    constexpr std::array steps{0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001};
    constexpr int round_count = 50;
    double best_sum = error_sum(lines, samples);
    const auto try_number = [&](double& number, double factor) {
        const double before = number;
        number *= factor;
        const double sum = error_sum(lines, samples);
        if (sum < best_sum) {
            best_sum = sum;
            return true;
        }
        number = before;
        return false;
    };
    for (const double step : steps) {
        bool moved = true;
        for (int round = 0; moved && round < round_count; ++round) {
            moved = false;
            for (Line& line : lines) {
                for (const double factor : {1 + step, 1 / (1 + step)}) {
                    moved = try_number(line.latency, factor) || moved;
                    moved = try_number(line.slope, factor) || moved;
                }
            }
        }
    }
    return lines;
}

std::vector<FitLine> to_integers(const Lines& lines, std::span<const Sample> samples) {
    std::vector<FitLine> integers;
    for (size_t i = 0; i < lines.size(); ++i) {
        const bool wins = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
            return least_line(lines, sample.bytes) == i;
        });
        if (wins) {
            const double slope = std::clamp(lines[i].slope, slope_min, slope_max);
            integers.push_back({static_cast<int64_t>(lines[i].latency + 0.5),
                                static_cast<int64_t>(1e12 / slope + 0.5)});
        }
    }
    std::sort(integers.begin(), integers.end(), [](const FitLine& a, const FitLine& b) {
        return a.latency_ps < b.latency_ps;
    });
    return integers;
}

std::vector<FitLine> fit_sorted(std::span<const FitPoint> points, int32_t line_count) {
    std::vector<Sample> samples;
    for (const FitPoint& point : points) {
        samples.push_back({static_cast<double>(point.bytes), static_cast<double>(point.time_ps)});
    }
    const Lines runs = fit_runs(samples, static_cast<size_t>(line_count));
    return to_integers(polish(reassign(runs, samples), samples), samples);
}

size_t size_count_of(std::span<const FitPoint> sorted) {
    size_t count = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
        count += i == 0 || sorted[i].bytes != sorted[i - 1].bytes ? 1 : 0;
    }
    return count;
}

// The points of every second size, from the first size or from the second.
std::vector<FitPoint> every_second(std::span<const FitPoint> sorted, size_t first_size) {
    std::vector<FitPoint> chosen;
    size_t size = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
        size += i > 0 && sorted[i].bytes != sorted[i - 1].bytes ? 1 : 0;
        if (size % 2 == first_size) {
            chosen.push_back(sorted[i]);
        }
    }
    return chosen;
}

Status check_points(std::span<const FitPoint> sorted, int32_t line_count) {
    if (line_count < 1 || line_count > fit_line_count_max) {
        return invalid_field("line_count", std::to_string(line_count), "must be 1 to 3");
    }
    for (const FitPoint& point : sorted) {
        if (point.bytes < 1 || point.bytes > bytes_max) {
            return invalid_field("bytes", std::to_string(point.bytes), "must be 1 to 1TiB");
        }
        if (point.time_ps < 1 || point.time_ps > point_time_ps_max) {
            return invalid_field("time_ps", std::to_string(point.time_ps), "must be 1ps to 1000s");
        }
    }
    const size_t size_count = size_count_of(sorted);
    const size_t size_count_min = 2 * static_cast<size_t>(line_count);
    if (size_count < size_count_min || sorted.size() > point_count_max) {
        return invalid_field("points",
                             std::to_string(size_count) + " sizes",
                             "must be at least " + std::to_string(size_count_min) +
                                 " different sizes and at most " + std::to_string(point_count_max) +
                                 " points");
    }
    return Done{};
}

}  // namespace

Result<Fit> fit_lines(std::span<const FitPoint> points, int32_t line_count) {
    std::vector<FitPoint> sorted(points.begin(), points.end());
    std::sort(sorted.begin(), sorted.end(), [](const FitPoint& a, const FitPoint& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.time_ps < b.time_ps;
    });
    if (auto status = check_points(sorted, line_count); !status) {
        return status.error();
    }
    Fit fit;
    fit.lines = fit_sorted(sorted, line_count);
    const FitErrors errors = errors_of(fit.lines, sorted);
    fit.mean_error_fraction = errors.mean_fraction;
    fit.worst_error_fraction = errors.worst_fraction;
    if (size_count_of(sorted) >= 4 * static_cast<size_t>(line_count)) {
        const std::vector<FitLine> lines = fit_sorted(every_second(sorted, 0), line_count);
        fit.held_out_error_fraction = errors_of(lines, every_second(sorted, 1)).mean_fraction;
    }
    return fit;
}

int64_t predict_ps(std::span<const FitLine> lines, int64_t bytes) {
    RS_CHECK(!lines.empty() && bytes >= 0 && bytes <= bytes_max);
    int64_t best = time_ps_max;
    for (const FitLine& line : lines) {
        if (bytes / line.bytes_per_s < (time_ps_max - line.latency_ps) / ps_per_s) {
            best = std::min(best, line.latency_ps + transfer_ps(bytes, line.bytes_per_s));
        }
    }
    return best;
}

FitErrors errors_of(std::span<const FitLine> lines, std::span<const FitPoint> points) {
    RS_CHECK(!points.empty());
    FitErrors errors;
    for (const FitPoint& point : points) {
        const double error = magnitude(static_cast<double>(predict_ps(lines, point.bytes)) /
                                           static_cast<double>(point.time_ps) -
                                       1);
        errors.mean_fraction += error / static_cast<double>(points.size());
        errors.worst_fraction = std::max(errors.worst_fraction, error);
    }
    return errors;
}

}  // namespace ringscope
