// SPDX-License-Identifier: Apache-2.0
// Event and Trace: what happened, hop by hop. The same for a simulated and a measured run.
#pragma once

#include <cstdint>
#include <string>
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

struct Trace {
    RunSpec run;
    std::vector<Event> events;
    Outcome outcome;
    std::vector<Round> rounds = {};  // those that differ from the run line, or begin again
    std::vector<Note> notes = {};

    bool operator==(const Trace&) const = default;
};

}  // namespace ringscope
