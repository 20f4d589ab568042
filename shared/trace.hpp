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

// As a trace holds it: the name, and after a tab the reason if there is one.
std::string print_outcome(const Outcome& outcome);

// A reason as a trace holds it: no tabs or line breaks, and no more than so many bytes.
inline constexpr size_t reason_bytes_max = 1000;
std::string single_line(std::string_view reason);

struct Trace {
    RunSpec run;
    std::vector<Event> events;
    Outcome outcome;

    bool operator==(const Trace&) const = default;
};

}  // namespace ringscope
