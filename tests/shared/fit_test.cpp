// SPDX-License-Identifier: Apache-2.0
#include "shared/fit.hpp"

#include <gtest/gtest.h>

#include "shared/units.hpp"
#include "tests/shared/tables.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

std::vector<FitPoint> points_on(const std::vector<FitLine>& lines) {
    std::vector<FitPoint> points;
    for (int64_t bytes = 1024; bytes <= int64_t{8} << 30; bytes *= 2) {
        points.push_back({bytes, predict_ps(lines, bytes)});
    }
    return points;
}

void expect_recovered(const std::vector<FitLine>& lines) {
    const auto fit = fit_lines(points_on(lines), static_cast<int32_t>(lines.size()));
    ASSERT_TRUE(fit) << fit.error().message;
    ASSERT_EQ(fit->lines.size(), lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
        const auto latency = static_cast<double>(lines[i].latency_ps);
        const auto rate = static_cast<double>(lines[i].bytes_per_s);
        EXPECT_NEAR(static_cast<double>(fit->lines[i].latency_ps), latency, 1e-6 * latency);
        EXPECT_NEAR(static_cast<double>(fit->lines[i].bytes_per_s), rate, 1e-6 * rate);
    }
    EXPECT_LT(fit->mean_error_fraction, 1e-7);
    EXPECT_LT(fit->worst_error_fraction, 1e-6);
    ASSERT_TRUE(fit->held_out_error_fraction);
    EXPECT_LT(*fit->held_out_error_fraction, 1e-6);
}

TEST(Fit, FindsTheLinesThatThePointsWereTakenFrom) {
    expect_recovered({{15'000'000, 50'000'000'000}});
    expect_recovered({{15'000'000, 5'000'000'000}, {56'000'000, 137'000'000'000}});
    expect_recovered({{15'000'000, 2'000'000'000},
                      {40'000'000, 20'000'000'000},
                      {200'000'000, 137'000'000'000}});
}

TEST(Fit, TheOrderOfThePointsDoesNotMatter) {
    std::vector<FitPoint> points =
        points_on({{15'000'000, 5'000'000'000}, {56'000'000, 137'000'000'000}});
    Dice dice(7);
    for (FitPoint& point : points) {  // up to 10 % of noise
        point.time_ps += point.time_ps * dice.below(100) / 1000;
    }
    const auto fit = fit_lines(points, 2);
    ASSERT_TRUE(fit);
    for (size_t i = points.size() - 1; i > 0; --i) {
        std::swap(points[i], points[static_cast<size_t>(dice.below(static_cast<int64_t>(i + 1)))]);
    }
    const auto again = fit_lines(points, 2);
    ASSERT_TRUE(again);
    ASSERT_EQ(fit->lines.size(), again->lines.size());
    for (size_t i = 0; i < fit->lines.size(); ++i) {
        EXPECT_EQ(fit->lines[i].latency_ps, again->lines[i].latency_ps);
        EXPECT_EQ(fit->lines[i].bytes_per_s, again->lines[i].bytes_per_s);
    }
    EXPECT_LT(fit->mean_error_fraction, 0.05);
}

TEST(Fit, MoreLinesFitNoWorse) {
    const std::vector<FitPoint> points = points_on({{15'000'000, 2'000'000'000},
                                                    {40'000'000, 20'000'000'000},
                                                    {200'000'000, 137'000'000'000}});
    const auto one = fit_lines(points, 1);
    const auto two = fit_lines(points, 2);
    const auto three = fit_lines(points, 3);
    ASSERT_TRUE(one && two && three);
    EXPECT_GE(one->mean_error_fraction, two->mean_error_fraction);
    EXPECT_GE(two->mean_error_fraction, three->mean_error_fraction);
}

TEST(Fit, TimesThatDoNotGrowGiveALineWithoutRate) {
    std::vector<FitPoint> points;
    for (int64_t bytes = 8; bytes <= 4096; bytes *= 2) {
        points.push_back({bytes, 20'000'000});
    }
    const auto fit = fit_lines(points, 1);
    ASSERT_TRUE(fit);
    EXPECT_LT(fit->mean_error_fraction, 1e-6);
    EXPECT_EQ(fit->lines[0].latency_ps, 20'000'000);
    EXPECT_FALSE(fit_lines(points, 3)->held_out_error_fraction);  // 10 sizes are too few for that
}

TEST(Fit, RefusesWhatItCannotFit) {
    const std::vector<FitPoint> points = points_on({{15'000'000, 50'000'000'000}});
    EXPECT_EQ(fit_lines(points, 0).error().field, "line_count");
    EXPECT_EQ(fit_lines(points, 4).error().field, "line_count");
    EXPECT_EQ(fit_lines({}, 1).error().field, "points");
    const std::vector<FitPoint> same_size(10, {1024, 1'000'000});
    EXPECT_EQ(fit_lines(same_size, 1).error().field, "points");
    EXPECT_EQ(fit_lines(std::vector<FitPoint>{{0, 1}, {1, 1}}, 1).error().field, "bytes");
    EXPECT_EQ(fit_lines(std::vector<FitPoint>{{1, 0}, {2, 1}}, 1).error().field, "time_ps");
    const std::vector<FitPoint> too_many(129, {1024, 1'000'000});
    EXPECT_EQ(fit_lines(too_many, 1).error().field, "points");
}

TEST(Fit, PredictingSaturates) {
    EXPECT_EQ(predict_ps(std::vector<FitLine>{{0, 1}}, bytes_max), time_ps_max);
    EXPECT_EQ(predict_ps(std::vector<FitLine>{{5, 1'000'000'000'000}}, 10), 15);
}

// Of public tables, sizes from 1 KiB up: sizes that were held out are predicted within 10 %.
TEST(Fit, PredictsSizesOfPublicTablesThatItHasNotSeen) {
    for (const char* table : {"a100-1x8-sxm4-80g-mpirun",
                              "h100-1x8-p5",
                              "h100-2x8-ib-hgx-dell",
                              "h100-2x8-p5-efa",
                              "a100-2x8-p4de-efa",
                              "a100-2x8-p4d-efa-ring",
                              "v100-1x8-hybrid-cube",
                              "v100-12-of-dgx2"}) {
        const auto points = read_nccl_tests(table);
        if (!points) {
            GTEST_SKIP() << "no table " << tables_folder() << table << ".txt";
        }
        const auto fit = fit_lines(at_least(*points, 1024), 3);
        ASSERT_TRUE(fit) << fit.error().message;
        ASSERT_TRUE(fit->held_out_error_fraction);
        EXPECT_LT(*fit->held_out_error_fraction, 0.10) << table;
    }
}

}  // namespace
}  // namespace ringscope
