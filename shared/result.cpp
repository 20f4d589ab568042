// SPDX-License-Identifier: Apache-2.0
#include "shared/result.hpp"

#include <algorithm>

namespace ringscope {
namespace {

// What an error message repeats of a value at most, in bytes.
constexpr size_t quoted_bytes_max = 60;

// A value as a message may show it: short, and without control characters. Bytes that are no text
// are left to whoever writes the message out.
std::string quoted(const std::string& value) {
    size_t end = std::min(value.size(), quoted_bytes_max);
    while (end > 0 && end < value.size() &&
           (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) {
        --end;  // not in the middle of a character
    }
    std::string text = value.substr(0, end);
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            c = '?';
        }
    }
    if (value.size() > quoted_bytes_max) {
        text += "... (" + std::to_string(value.size()) + " characters)";
    }
    return text;
}

}  // namespace

Error invalid_field(std::string field, std::string value, std::string allowed) {
    Error error;
    error.kind = ErrorKind::invalid_argument;
    error.field = quoted(field);
    error.value = quoted(value);
    error.allowed = std::move(allowed);
    error.message = error.field + "=" + error.value + ": " + error.allowed;
    return error;
}

Error plain_error(ErrorKind kind, std::string message) {
    Error error;
    error.kind = kind;
    error.message = std::move(message);
    return error;
}

}  // namespace ringscope
