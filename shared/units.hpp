// SPDX-License-Identifier: Apache-2.0
// Numbers with units, both ways: "64MiB" (2^20), "25GB/s" (10^9), "400Gb/s", "1.5us", "500ns".
//
// The only place that converts between bytes, rates and time, and the only place that rounds.
// Everything is integer: bytes, bytes per second, picoseconds. A bare number is bytes, bytes/s,
// seconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/result.hpp"

namespace ringscope {

inline constexpr int64_t ps_per_s = 1'000'000'000'000;

inline constexpr int64_t bytes_max = int64_t{1} << 40;                       // 1 TiB per rank
inline constexpr int64_t bandwidth_bytes_per_s_max = 1'000'000'000'000'000;  // 1 PB/s
inline constexpr int64_t time_ps_max = int64_t{1} << 62;  // 53 days; a sum of two still fits

// Each parser takes the field's name for its message and refuses what is outside the range.
Result<int64_t> parse_count(std::string_view field,
                            std::string_view text,
                            int64_t min,
                            int64_t max);
Result<int64_t> parse_bytes(std::string_view field, std::string_view text);
Result<int64_t> parse_bandwidth(std::string_view field, std::string_view text);
Result<int64_t> parse_time(std::string_view field, std::string_view text);

// Exact and short: parse_X(print_X(v)) == v.
std::string print_bytes(int64_t bytes);
std::string print_bandwidth(int64_t bytes_per_s);
std::string print_time(int64_t time_ps);

// For people: four significant digits and a space, "2.349 ms", "49.96 GB/s", "8 MiB".
std::string show_bytes(int64_t bytes);
std::string show_bandwidth(int64_t bytes_per_s);
std::string show_time(int64_t time_ps);

// floor(a * b / c) and ceil(a * b / c) without overflow in between; c > 0, all arguments >= 0.
int64_t multiply_divide(int64_t a, int64_t b, int64_t c);
int64_t multiply_divide_up(int64_t a, int64_t b, int64_t c);

// How long `bytes` occupy a link: ceil(bytes / rate), so that no transfer beats its link.
int64_t transfer_ps(int64_t bytes, int64_t bandwidth_bytes_per_s);

// The same, at most time_ps_max.
int64_t saturating_transfer_ps(int64_t bytes, int64_t bandwidth_bytes_per_s);

// bytes / time; 0 when no time passed. Saturates: a trace from elsewhere may claim anything.
int64_t rate_bytes_per_s(int64_t bytes, int64_t time_ps);

}  // namespace ringscope
