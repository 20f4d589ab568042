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

std::vector<Round> told_rounds(const RunSpec& run, const std::vector<Round>& rounds) {
    std::vector<Round> told;
    for (const Round& round : rounds) {
        const bool as_the_line_says = round.algorithm == run.algorithm &&
                                      round.problem == run.problem && round.members.empty();
        if (!as_the_line_says || !round.why.empty()) {
            told.push_back(round);
        }
    }
    return told;
}

std::string print_round(const Round& round) {
    std::string members;
    for (const int32_t member : round.members) {
        members += (members.empty() ? "" : ",") + std::to_string(member);
    }
    return std::to_string(round.index) + "\t" + std::to_string(round.iteration) + "\t" +
           std::to_string(round.begin_ps) + "\t" + round.algorithm + "\t" +
           std::to_string(round.problem.rank_count) + "\t" +
           std::to_string(buffer_bytes(round.problem)) + "\t" +
           (members.empty() ? "all" : members) + "\t" + single_line(round.why);
}

std::string print_note(const Note& note) {
    return std::to_string(note.time_ps) + "\t" + single_line(note.text);
}

}  // namespace ringscope
