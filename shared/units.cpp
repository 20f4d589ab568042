// SPDX-License-Identifier: Apache-2.0
#include "shared/units.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <span>

namespace ringscope {
namespace {

__extension__ using Wide = unsigned __int128;  // 64 x 64 bits

struct Unit {
    std::string_view name;
    int64_t numerator = 1;  // value = number * numerator / denominator
    int64_t denominator = 1;
};

constexpr int64_t kib = 1024;

constexpr std::array byte_units{Unit{"TiB", kib* kib* kib* kib},
                                Unit{"GiB", kib* kib* kib},
                                Unit{"MiB", kib* kib},
                                Unit{"KiB", kib},
                                Unit{"B", 1},
                                Unit{"TB", 1'000'000'000'000},
                                Unit{"GB", 1'000'000'000},
                                Unit{"MB", 1'000'000},
                                Unit{"KB", 1'000},
                                Unit{"kB", 1'000},
                                Unit{"", 1}};

constexpr std::array bandwidth_units{Unit{"TB/s", 1'000'000'000'000},
                                     Unit{"GB/s", 1'000'000'000},
                                     Unit{"MB/s", 1'000'000},
                                     Unit{"KB/s", 1'000},
                                     Unit{"B/s", 1},
                                     Unit{"kB/s", 1'000},
                                     Unit{"GiB/s", kib* kib* kib},
                                     Unit{"MiB/s", kib* kib},
                                     Unit{"KiB/s", kib},
                                     Unit{"Tb/s", 1'000'000'000'000, 8},
                                     Unit{"Gb/s", 1'000'000'000, 8},
                                     Unit{"Mb/s", 1'000'000, 8},
                                     Unit{"Kb/s", 1'000, 8},
                                     Unit{"b/s", 1, 8},
                                     Unit{"", 1}};

constexpr std::array time_units{Unit{"s", ps_per_s},
                                Unit{"ms", 1'000'000'000},
                                Unit{"us", 1'000'000},
                                Unit{"ns", 1'000},
                                Unit{"ps", 1},
                                Unit{"", ps_per_s}};

// A decimal number without sign or exponent, as an exact fraction: digits / 10^decimals.
struct Decimal {
    uint64_t digits = 0;
    int decimals = 0;
    size_t length = 0;  // of the text it took; 0 when there is no number
};

Decimal read_decimal(std::string_view text) {
    Decimal number;
    bool point = false;
    size_t digit_count = 0;
    size_t position = 0;
    for (; position < text.size(); ++position) {
        const char c = text[position];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') {
            break;
        }
        if (++digit_count > 18) {  // 10^18 fits 64 bits
            return {};
        }
        number.digits = number.digits * 10 + static_cast<uint64_t>(c - '0');
        number.decimals += point ? 1 : 0;
    }
    number.length = digit_count > 0 ? position : 0;
    return number;
}

struct Range {
    int64_t min = 0;
    int64_t max = 0;
    std::string_view allowed;
};

Result<int64_t> parse_number(std::string_view field,
                             std::string_view text,
                             std::span<const Unit> units,
                             const Range& range) {
    const Error error =
        invalid_field(std::string(field), std::string(text), std::string(range.allowed));
    const Decimal number = read_decimal(text);
    if (number.length == 0) {
        return error;
    }
    const std::string_view suffix = text.substr(number.length);
    for (const Unit& unit : units) {
        if (unit.name != suffix) {
            continue;
        }
        Wide value = Wide{number.digits} * static_cast<uint64_t>(unit.numerator);
        Wide divisor = static_cast<uint64_t>(unit.denominator);
        for (int i = 0; i < number.decimals; ++i) {
            divisor *= 10;
        }
        if (value % divisor !=
            0) {  // half a byte, a third of a picosecond: not a number we can keep
            return error;
        }
        value /= divisor;
        if (value < static_cast<uint64_t>(range.min) || value > static_cast<uint64_t>(range.max)) {
            return error;
        }
        return static_cast<int64_t>(value);
    }
    return error;
}

// The first unit that shows `value` with at most three decimals, exactly.
std::string print_exactly(int64_t value, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        const Wide thousandths = Wide{static_cast<uint64_t>(value)} * 1000;
        const Wide numerator = static_cast<uint64_t>(unit.numerator);
        if (value < unit.numerator || thousandths % numerator != 0) {
            continue;
        }
        const auto scaled = static_cast<uint64_t>(thousandths / numerator);
        std::string text = std::to_string(scaled / 1000);
        if (uint64_t rest = scaled % 1000; rest != 0) {
            std::string digits = std::to_string(1000 + rest).substr(1);
            digits.erase(digits.find_last_not_of('0') + 1);
            text += "." + digits;
        }
        return text + std::string(unit.name);
    }
    return std::to_string(value) + std::string(units.back().name);
}

// Four significant digits in the largest unit that leaves at least 1.
std::string show(int64_t value, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (value < unit.numerator && unit.numerator > 1) {
            continue;
        }
        const double number = static_cast<double>(value) / static_cast<double>(unit.numerator);
        std::array<char, 48> text{};
        const int decimals = number < 10 ? 3 : number < 100 ? 2 : number < 1000 ? 1 : 0;
        std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
        std::string digits = text.data();
        if (digits.find('.') != std::string::npos) {
            digits.erase(digits.find_last_not_of('0') + 1);
            if (digits.back() == '.') {
                digits.pop_back();
            }
        }
        return digits + " " + std::string(unit.name);
    }
    return std::to_string(value);
}

}  // namespace

Result<int64_t> parse_count(std::string_view field,
                            std::string_view text,
                            int64_t min,
                            int64_t max) {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || value < min || value > max) {
        return invalid_field(
            std::string(field),
            std::string(text),
            "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return value;
}

Result<int64_t> parse_bytes(std::string_view field, std::string_view text) {
    return parse_number(
        field,
        text,
        byte_units,
        {0,
         bytes_max,
         "must be a whole number of bytes from 0 to 1TiB, such as 4096, 64MiB or 1.5GB"});
}

Result<int64_t> parse_bandwidth(std::string_view field, std::string_view text) {
    return parse_number(field,
                        text,
                        bandwidth_units,
                        {1,
                         bandwidth_bytes_per_s_max,
                         "must be a rate from 1B/s to 1000TB/s, such as 50GB/s or 400Gb/s"});
}

Result<int64_t> parse_time(std::string_view field, std::string_view text) {
    return parse_number(
        field,
        text,
        time_units,
        {0, 1000 * ps_per_s, "must be a time from 0s to 1000s, such as 500ns or 1.5us"});
}

std::string print_bytes(int64_t bytes) {
    return print_exactly(bytes, std::span(byte_units).first(5));
}

std::string print_bandwidth(int64_t bytes_per_s) {
    return print_exactly(bytes_per_s, std::span(bandwidth_units).first(5));
}

std::string print_time(int64_t time_ps) {
    return print_exactly(time_ps, std::span(time_units).first(5));
}

std::string show_bytes(int64_t bytes) {
    return show(bytes, std::span(byte_units).first(5));
}

std::string show_bandwidth(int64_t bytes_per_s) {
    return show(bytes_per_s, std::span(bandwidth_units).first(5));
}

std::string show_time(int64_t time_ps) {
    return show(time_ps, std::span(time_units).first(5));
}

int64_t multiply_divide(int64_t a, int64_t b, int64_t c) {
    RS_CHECK(a >= 0 && b >= 0 && c > 0);
    const Wide quotient =
        Wide{static_cast<uint64_t>(a)} * static_cast<uint64_t>(b) / static_cast<uint64_t>(c);
    RS_CHECK(quotient <= static_cast<uint64_t>(INT64_MAX));
    return static_cast<int64_t>(quotient);
}

int64_t multiply_divide_up(int64_t a, int64_t b, int64_t c) {
    RS_CHECK(a >= 0 && b >= 0 && c > 0);
    const Wide product = Wide{static_cast<uint64_t>(a)} * static_cast<uint64_t>(b);
    const Wide quotient = (product + static_cast<uint64_t>(c - 1)) / static_cast<uint64_t>(c);
    RS_CHECK(quotient <= static_cast<uint64_t>(INT64_MAX));
    return static_cast<int64_t>(quotient);
}

int64_t transfer_ps(int64_t bytes, int64_t bandwidth_bytes_per_s) {
    return multiply_divide_up(bytes, ps_per_s, bandwidth_bytes_per_s);
}

int64_t saturating_transfer_ps(int64_t bytes, int64_t bandwidth_bytes_per_s) {
    const Wide product = Wide{static_cast<uint64_t>(bytes)} * static_cast<uint64_t>(ps_per_s);
    const Wide quotient = product / static_cast<uint64_t>(bandwidth_bytes_per_s);
    return quotient >= static_cast<uint64_t>(time_ps_max)
               ? time_ps_max
               : transfer_ps(bytes, bandwidth_bytes_per_s);
}

int64_t rate_bytes_per_s(int64_t bytes, int64_t time_ps) {
    if (time_ps <= 0) {
        return 0;
    }
    const Wide rate = Wide{static_cast<uint64_t>(bytes)} * static_cast<uint64_t>(ps_per_s) /
                      static_cast<uint64_t>(time_ps);
    return rate > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(rate);
}

}  // namespace ringscope
