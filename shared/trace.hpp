// SPDX-License-Identifier: Apache-2.0
// Event and Trace: what happened, hop by hop. The same for a simulated and a measured run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"

namespace ringscope {

// One hop: a message on its way from source to target, and the copy or the sum that takes it in.
// Written when it ends. In a simulation it begins when the first byte leaves the source; a
// measuring engine says in its own file where it puts the two stamps.
struct Event {
    Transfer transfer;
    int32_t iteration = 0;
    int64_t bytes = 0;
    int64_t begin_ps = 0;  // since the start of the run
    int64_t end_ps = 0;

    bool operator==(const Event&) const = default;
};

enum class OutcomeKind : uint8_t { ok, wrong, failed, timeout };

// How a run ended. `wrong`: it ran, and the sums are not right.
struct Outcome {
    OutcomeKind kind = OutcomeKind::ok;
    std::string reason;  // empty when ok

    bool operator==(const Outcome&) const = default;
};

// "ok", "wrong", "failed", "timeout".
std::string_view outcome_name(OutcomeKind kind);

// One go at the collective. Its events carry its index as their iteration. The first of an ordinary
// run goes without saying.
struct Round {
    int32_t index = 0;
    int64_t begin_ps = 0;
    int32_t iteration = 0;         // of the run
    std::string algorithm;         // these three as they are in this round
    Problem problem;               //
    std::vector<int32_t> members;  // sorted; empty: all ranks
    std::string why;               // "", or why it begins again or differs

    bool operator==(const Round&) const = default;
};

// Those rounds that a trace has to tell: all but the ordinary ones of its run line.
std::vector<Round> told_rounds(const RunSpec& run, const std::vector<Round>& rounds);

// Something that befell a run: a rank that died, a recovery.
struct Note {
    int64_t time_ps = 0;
    std::string text;

    bool operator==(const Note&) const = default;
};

// As a trace holds them, without the first word.
std::string print_round(const Round& round);
std::string print_note(const Note& note);
// As a trace holds it: the name, and after a tab the reason if there is one.
std::string print_outcome(const Outcome& outcome);

// A reason as a trace holds it: no tabs or line breaks, and no more than so many bytes.
inline constexpr size_t reason_bytes_max = 1000;
std::string single_line(std::string_view reason);

struct Trace {
    RunSpec run;
    std::vector<Event> events;
    Outcome outcome;
    std::vector<Round> rounds = {};  // those that differ from the run line, or begin again
    std::vector<Note> notes = {};

    bool operator==(const Trace&) const = default;
};

// Tells a trace in the order in which its text and its hash have it: each round before its first
// event, the notes at the end.
template <class Listener>
void tell(const Trace& trace, Listener& listener) {
    size_t next_round = 0;
    for (const Event& event : trace.events) {
        while (next_round < trace.rounds.size() &&
               trace.rounds[next_round].index <= event.iteration) {
            listener.add_round(trace.rounds[next_round++]);
        }
        listener.add(event);
    }
    while (next_round < trace.rounds.size()) {
        listener.add_round(trace.rounds[next_round++]);
    }
    for (const Note& note : trace.notes) {
        listener.add_note(note);
    }
    listener.finish(trace.outcome);
}

}  // namespace ringscope
