// SPDX-License-Identifier: Apache-2.0
// How far our models are from public tables of measured all-reduces: one JSON line per table and
// model, on standard output. Every figure is computed here from the table.
//
//     RINGSCOPE_DATA=FOLDER accuracy_bench [--points]
//
// FOLDER holds nccl-tables/*.txt (tests/shared/tables.hpp says in which forms). A table that is
// missing is named on standard error; the exit status is 1 when none was found.
//
// All times are those of the in-place column. "mean_error_percent": a machine of
// shared/nccl_presets over the sizes from 1 MiB up. "held_out_error_percent": three lines fitted to
// every second size from 1 KiB up, tested on the others. "theirs" is what NCCL's constants alone
// say of the same machine and sizes, null where we have no machine for the table. With --points
// every size of the presets is written to standard error.
#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/fit.hpp"
#include "shared/json.hpp"
#include "shared/nccl_presets.hpp"
#include "tests/shared/tables.hpp"

namespace ringscope {
namespace {

constexpr int64_t preset_bytes_min = 1 << 20;
constexpr int64_t fit_bytes_min = 1 << 10;
constexpr double bar_percent = 10;
bool points_wanted = false;

using Read = std::function<std::optional<std::vector<FitPoint>>(const std::string& file)>;

// In H200 and B200 over 4 to 8 GPUs: "B200 8 NVLS 838.0 682.2 1.23", 8 GiB, the fifth word with
// NVLS off. The points differ in rank count, so they are no FitPoints of one machine.
struct RankPoint {
    int32_t rank_count = 0;
    FitPoint point;
};

struct Case {
    std::string_view name;
    std::string_view file;
    Read read;
    std::string_view preset;  // empty: no machine for it
    std::string_view note;    // why it misses; printed only when it does
};

Read columns(size_t column, int32_t rank_count) {
    return [=](const std::string& file) { return read_busbw(file, column, rank_count); };
}

// A table whose case is named as its file, in the form of nccl-tests.
Case plain(std::string_view name, std::string_view preset, std::string_view note = "") {
    return {name, name, read_nccl_tests, preset, note};
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        plain("a100-1x8-sxm4-80g-mpirun", "a100-1x8"),
        plain("a100-1x8-sxm4-80g", "a100-1x8-one-process"),
        plain("h100-1x8-p5", "h100-1x8"),
        plain("h100-2x8-ib-hgx-dell", "h100-2x8-infiniband"),
        plain("h100-8x8-ib",
              "h100-8x8-infiniband",
              "trees take up to twice NCCL's figure from 4 to 16 MiB, and NVLSTree reaches 321 of "
              "364 GB/s busbw; the network is not stated"),
        plain("h100-2x8-p5-efa",
              "h100-2x8-efa",
              "NCCL adds the 75 us that the plugin reports to every hop; up to 8 MiB the network "
              "is faster"),
        {"h200-1x8-mleng", "h200-1x8-mleng", columns(1, 8), "h200-1x8", ""},
        {"b200-1x8-mleng",
         "b200-1x8-and-4x8-mleng",
         columns(1, 8),
         "b200-1x8",
         "NCCL's figure for NVLS, 932 GB/s busbw, is not reached: 741 up to 4 GiB, 846 above"},
        plain("a100-2x8-p4de-efa",
              "a100-2x8-efa",
              "the 75 us a hop that the plugin reports are too much below 4 MiB and too little "
              "from 8 to 64"),
        plain("a100-2x8-p4d-efa-ring",
              "a100-2x8-efa-ring",
              "NCCL 2.7.8 carried 29 GB/s where four network cards are rated 48"),
        plain("v100-1x8-hybrid-cube", "v100-1x8-one-process"),
        plain("v100-12-of-dgx2", ""),
        plain("a100-1x4-pcie", ""),
    };
    return all;
}

std::string one_decimal(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

struct Line {
    std::string_view name;
    std::string_view model;
    std::string_view metric;
    double ours = 0;
    std::optional<double> theirs;
    std::string_view note;
};

void print(const Line& line) {
    JsonWriter json;
    json.begin_object().field("bench", "accuracy").field("case", line.name);
    json.field("model", line.model).field("metric", line.metric).field("unit", "%");
    json.key("ours").raw(one_decimal(line.ours)).field("peer", "NCCL 2.30 model").key("theirs");
    line.theirs ? json.raw(one_decimal(*line.theirs)) : json.null();
    const bool pass = line.ours <= bar_percent;
    json.key("bar").raw(one_decimal(bar_percent)).field("pass", pass);
    if (!line.note.empty() && !pass) {
        json.field("note", line.note);
    }
    std::cout << json.end_object().text() << "\n";
}

double error_fraction(const NcclModel& model, const FitPoint& point) {
    const auto predicted = static_cast<double>(time_ps(choose(model, point.bytes), point.bytes));
    const double error = predicted / static_cast<double>(point.time_ps) - 1;
    return error < 0 ? -error : error;
}

void print_points(const NcclMachine& machine, const std::vector<RankPoint>& points) {
    for (const RankPoint& point : points) {
        NcclMachine sized = machine;
        sized.rank_count = point.rank_count;
        const auto model = build_nccl_model(sized);
        const int64_t bytes = point.point.bytes;
        const NcclCell& cell = choose(*model, bytes);
        std::cerr << "  " << point.rank_count << " ranks, " << show_bytes(bytes) << ": "
                  << nccl_name(cell.algorithm) << " " << nccl_name(cell.protocol) << ", "
                  << show_time(time_ps(cell, bytes)) << ", measured "
                  << show_time(point.point.time_ps) << "\n";
    }
}

double mean_error_percent(const NcclMachine& machine, const std::vector<RankPoint>& points) {
    double sum = 0;
    for (const RankPoint& point : points) {
        NcclMachine sized = machine;
        sized.rank_count = point.rank_count;
        sum += error_fraction(*build_nccl_model(sized), point.point);
    }
    return 100 * sum / static_cast<double>(points.size());
}

void print_preset(std::string_view name,
                  std::string_view preset_name,
                  const std::vector<RankPoint>& points,
                  std::string_view note) {
    const NcclMachine& machine = find_nccl_preset(preset_name)->machine;
    Line line;
    line.name = name;
    line.model = preset_name;
    line.metric = "mean_error_percent";
    line.ours = mean_error_percent(machine, points);
    line.theirs = mean_error_percent(published(machine), points);
    line.note = note;
    print(line);
    if (points_wanted) {
        print_points(machine, points);
    }
}

std::vector<RankPoint> with_ranks(const std::vector<FitPoint>& points, int32_t rank_count) {
    std::vector<RankPoint> all;
    for (const FitPoint& point : points) {
        all.push_back({rank_count, point});
    }
    return all;
}

// The sizes that a fit does not see: the second, the fourth and so on.
std::vector<FitPoint> held_out(const std::vector<FitPoint>& points) {
    std::vector<FitPoint> chosen;
    for (size_t i = 1; i < points.size(); i += 2) {
        chosen.push_back(points[i]);
    }
    return chosen;
}

void print_fit(const Case& test, const std::vector<FitPoint>& points) {
    const std::vector<FitPoint> sized = at_least(points, fit_bytes_min);
    const auto fit = fit_lines(sized, 3);
    if (!fit || !fit->held_out_error_fraction) {
        std::cerr << test.name << ": no fit, " << (fit ? "too few sizes" : fit.error().message)
                  << "\n";
        return;
    }
    Line line;
    line.name = test.name;
    line.model = "fit of 3 lines";
    line.metric = "held_out_error_percent";
    line.ours = 100 * *fit->held_out_error_fraction;
    if (!test.preset.empty()) {
        const NcclMachine& machine = find_nccl_preset(test.preset)->machine;
        line.theirs =
            mean_error_percent(published(machine), with_ranks(held_out(sized), machine.rank_count));
    }
    print(line);
}

bool run(const Case& test) {
    const auto points = test.read(std::string(test.file));
    if (!points) {
        std::cerr << "no table " << tables_folder() << test.file << ".txt\n";
        return false;
    }
    if (!test.preset.empty()) {
        const int32_t rank_count = find_nccl_preset(test.preset)->machine.rank_count;
        print_preset(test.name,
                     test.preset,
                     with_ranks(at_least(*points, preset_bytes_min), rank_count),
                     test.note);
    }
    print_fit(test, *points);
    return true;
}

// Ring alone, 8 GiB, 4 to 8 GPUs of one node.
bool run_rings() {
    const auto rows = read_words("h200-b200-gpucount-nvls-vs-ring-mleng");
    if (!rows) {
        std::cerr << "no table h200-b200-gpucount-nvls-vs-ring-mleng\n";
        return false;
    }
    for (const std::string& gpu : {std::string("H200"), std::string("B200")}) {
        std::vector<RankPoint> points;
        for (const std::vector<std::string>& row : *rows) {
            if (row[0] == gpu && row.size() == 6) {
                const int32_t rank_count = std::stoi(row[1]);
                const int64_t bytes = int64_t{8} << 30;
                const double bus = std::stod(row[4]) * 1e9;
                const double carried =
                    2.0 * (rank_count - 1) / rank_count * static_cast<double>(bytes);
                points.push_back({rank_count, {bytes, static_cast<int64_t>(carried / bus * 1e12)}});
            }
        }
        const bool h200 = gpu == "H200";
        print_preset(h200 ? "h200-gpucount-ring" : "b200-gpucount-ring",
                     h200 ? "h200-1x8-ring" : "b200-1x8-ring",
                     points,
                     "");
    }
    return true;
}

}  // namespace
}  // namespace ringscope

int main(int argument_count, char** arguments) {
    ringscope::points_wanted = argument_count == 2 && std::string_view(arguments[1]) == "--points";
    if (argument_count > 1 && !ringscope::points_wanted) {
        std::cerr << "usage: RINGSCOPE_DATA=FOLDER accuracy_bench [--points]\n";
        return 2;
    }
    bool any = ringscope::run_rings();
    for (const auto& test : ringscope::cases()) {
        any = ringscope::run(test) || any;
    }
    return any ? 0 : 1;
}
