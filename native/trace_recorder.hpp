// SPDX-License-Identifier: Apache-2.0
// TraceRecorder: what a parent keeps of the trace its worker writes: everything up to the last good
// block, closed by an outcome in any case. So what is stored, streamed and saved is always a valid
// trace, also when the worker was killed in the middle of a line.
//
//     recorder.push(bytes);              // in any split, as they come
//     store(recorder.take_text());       // verified, whole blocks
//     recorder.close({OutcomeKind::failed, "the worker was ended by signal 9 (Killed)"});
//     store(recorder.take_text());
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/report.hpp"
#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"

namespace ringscope {

class TraceRecorder {
  public:
    TraceRecorder(const RunSpec& run, const Schedule& schedule)
        : run_(run), report_(run, schedule), hash_(run) {}

    // Errors: text that is no trace; nothing after it is taken, close() still works.
    Status push(std::string_view bytes);

    // Ends the trace with `outcome`, unless the worker has ended it itself.
    void close(const Outcome& outcome);

    // The verified text since the last call.
    std::string take_text() { return std::exchange(text_, {}); }

    bool finished() const { return finished_; }
    const RunSpec& run() const { return run_; }
    // When finished().
    const Outcome& outcome() const { return outcome_; }
    std::string trace_hash() const { return hash_.text(); }  // of everything so far
    Report report() const { return report_.finish(run_); }

  private:
    Status take_block(std::string_view block);
    void keep(std::string_view text);
    void finish(const Outcome& outcome);

    RunSpec run_;
    ReportBuilder report_;
    TraceDecoder decoder_;
    std::vector<Event> events_;  // of one block
    std::string pending_;        // not closed by a block line yet
    size_t scanned_bytes_ = 0;   // whole lines of pending_ that are no block line
    std::string text_;
    TraceHash hash_;
    Outcome outcome_;
    bool started_ = false;
    bool finished_ = false;
};

}  // namespace ringscope
