// SPDX-License-Identifier: Apache-2.0
// Public tables of measured all-reduces, where somebody has them: they are not part of the project.
//
// A folder of text files, one machine each: "#" lines say where a table comes from, the rest is
// what nccl-tests or all_reduce_bench.py printed. RINGSCOPE_DATA names the folder that holds
// "nccl-tables"; without it, one beside the checkout is tried.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "shared/fit.hpp"
#include "shared/units.hpp"

namespace ringscope {

inline std::string tables_folder() {
    const char* named = std::getenv("RINGSCOPE_DATA");
    return std::string(named != nullptr ? named : RINGSCOPE_SOURCE_DIR "/../shared/data") +
           "/nccl-tables/";
}

// The words of every line that is not a comment; nothing when there is no such file.
inline std::optional<std::vector<std::vector<std::string>>> read_words(const std::string& name) {
    std::ifstream file(tables_folder() + name + ".txt");
    if (!file) {
        return std::nullopt;
    }
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
        if (!row.empty() && row[0][0] != '#') {
            rows.push_back(row);
        }
    }
    return rows;
}

// nccl-tests: the size is the first word; of the in-place time, algbw, busbw and errors, which end
// the line, the time is taken.
inline std::optional<std::vector<FitPoint>> read_nccl_tests(const std::string& name) {
    const auto rows = read_words(name);
    if (!rows) {
        return std::nullopt;
    }
    std::vector<FitPoint> points;
    for (const std::vector<std::string>& row : *rows) {
        const auto bytes = parse_count("size", row[0], 1, bytes_max);
        if (bytes && row.size() >= 8) {
            const double time_us = std::strtod(row[row.size() - 4].c_str(), nullptr);
            points.push_back({*bytes, static_cast<int64_t>(time_us * 1e6 + 0.5)});
        }
    }
    return points;
}

// all_reduce_bench.py: "32KiB 1.44GBps ..."; the time follows from busbw and the rank count.
inline std::optional<std::vector<FitPoint>> read_busbw(const std::string& name,
                                                       size_t column,
                                                       int32_t rank_count) {
    const auto rows = read_words(name);
    if (!rows) {
        return std::nullopt;
    }
    std::vector<FitPoint> points;
    for (const std::vector<std::string>& row : *rows) {
        const auto bytes = parse_bytes("payload", row[0]);
        if (bytes && row.size() > column) {
            const double bus = std::strtod(row[column].c_str(), nullptr) * 1e9;
            const double carried =
                2.0 * (rank_count - 1) / rank_count * static_cast<double>(*bytes);
            points.push_back({*bytes, static_cast<int64_t>(carried / bus * 1e12 + 0.5)});
        }
    }
    return points;
}

inline std::vector<FitPoint> at_least(const std::vector<FitPoint>& points, int64_t bytes) {
    std::vector<FitPoint> chosen;
    for (const FitPoint& point : points) {
        if (point.bytes >= bytes) {
            chosen.push_back(point);
        }
    }
    return chosen;
}

}  // namespace ringscope
