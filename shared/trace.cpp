// SPDX-License-Identifier: Apache-2.0
#include "shared/trace.hpp"

#include <array>

namespace ringscope {

std::string_view outcome_name(OutcomeKind kind) {
    constexpr std::array<std::string_view, 4> names{"ok", "wrong", "failed", "timeout"};
    return names[static_cast<size_t>(kind)];
}

std::string single_line(std::string_view reason) {
    std::string line(reason.substr(0, reason_bytes_max));
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20) {
            c = ' ';
        }
    }
    return line;
}

std::string print_outcome(const Outcome& outcome) {
    std::string text(outcome_name(outcome.kind));
    if (!outcome.reason.empty()) {
        text += "\t" + single_line(outcome.reason);
    }
    return text;
}

}  // namespace ringscope
