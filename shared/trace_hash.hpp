// SPDX-License-Identifier: Apache-2.0
// TraceHash: a trace's name, from what it says: the run line, every hop in order, the outcome. Who
// only wants the name need not write the text, and where its blocks end makes no difference.
//
//     TraceHash hash(run);
//     for (const Event& event : events) hash.add(event);
//     hash.finish(outcome);
//     hash.text();
//
// It is the WordHash of these records, one after the other, as little-endian words of 64 bits:
//
//     run line          int64 1, int64 length, the line as print_run() has it, zeros up to a
//                       multiple of seven words
//     copy or reduce    int32 2 or 3, the columns iteration to chunks as int32 and bytes, begin_ps
//                       and end_ps as int64
//     outcome           int64 4, int64 length, the line in the trace after its first tab, zeros
//     round, note       as outcome, with int64 5 and 6
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/hash.hpp"
#include "shared/trace.hpp"

namespace ringscope {

class TraceHash {
  public:
    explicit TraceHash(const RunSpec& run);

    void add(const Event& event) {
        const Transfer& transfer = event.transfer;
        const bool reduces = transfer.action == Action::reduce;
        state_.add(pair(reduces ? reduce_record : copy_record, event.iteration),
                   pair(transfer.step, transfer.channel),
                   pair(transfer.source_rank, transfer.target_rank),
                   pair(transfer.chunk_begin, transfer.chunk_count),
                   static_cast<uint64_t>(event.bytes),
                   static_cast<uint64_t>(event.begin_ps),
                   static_cast<uint64_t>(event.end_ps));
    }

    void add_round(const Round& round) { add_text(round_record, print_round(round)); }
    void add_note(const Note& note) { add_text(note_record, print_note(note)); }
    void finish(const Outcome& outcome);

    // Of everything so far: sixteen hexadecimal digits.
    std::string text() const { return print_hash(state_.value()); }

  private:
    static constexpr int32_t run_record = 1;
    static constexpr int32_t copy_record = 2;
    static constexpr int32_t reduce_record = 3;
    static constexpr int32_t outcome_record = 4;
    static constexpr int32_t round_record = 5;
    static constexpr int32_t note_record = 6;

    static uint64_t pair(int32_t low, int32_t high) {
        return static_cast<uint32_t>(low) | uint64_t{static_cast<uint32_t>(high)} << 32;
    }
    void add_text(int32_t record, std::string_view text);

    WordHash state_;
};

// Of a whole trace at once.
std::string trace_hash(const Trace& trace);

}  // namespace ringscope
