// SPDX-License-Identifier: Apache-2.0
// The trace as text: one codec for files, HTTP streams and pipes.
//
//     ringscope-trace 1
//     algorithm=ring&ranks=4&bytes=16MiB&bandwidth=50GB/s&latency=500ns
//     action  iteration  step  channel  source  target  chunk  chunks  bytes  begin_ps  end_ps
//     reduce  0          0     0        0       1       0      1       4194304  0  84386080
//     ...
//     block   67         8d3f0a7c55e2b911
//     outcome ok
//     block   1          1f0e55aa0b7d3c42
//
// Fields are separated by tabs, so awk, pandas, DuckDB and a spreadsheet read it. A block line
// closes the lines since the one before: their number and the checksum of their bytes (Fnv64). Up
// to the last good block a cut or damaged trace is intact; the decoder hands out nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/hash.hpp"
#include "shared/topology.hpp"
#include "shared/trace.hpp"

namespace ringscope {

inline constexpr int64_t trace_event_count_max = 10'000'000;
inline constexpr int64_t block_event_count = 256;

// Appends to a text that the caller writes out and clears as it likes.
class TraceEncoder {
  public:
    explicit TraceEncoder(const RunSpec& run);
    // For the rest of a text that ends with a block line already.
    static TraceEncoder continued() { return TraceEncoder(); }

    void add(const Event& event);  // closes a block by itself after block_event_count events
    void add_round(const Round& round);
    void add_note(const Note& note);
    void close_block();  // so that a live viewer sees what is there; nothing when nothing is open
    void finish(const Outcome& outcome);

    std::string& text() { return text_; }

  private:
    TraceEncoder() = default;
    void append_line(std::string_view line);  // with its line break

    std::string text_;
    Fnv64 block_hash_;
    int64_t block_line_count_ = 0;
    int64_t block_events_ = 0;
};

std::string encode(const Trace& trace);

class FieldReader;  // of one line

// Takes the bytes in any split. After an error it takes no more, but keeps what was good.
class TraceDecoder {
  public:
    // Errors name the line. Events are appended to `events` block by block.
    Status push(std::string_view bytes, std::vector<Event>& events);

    bool started() const { return stage_ != Stage::version && stage_ != Stage::run; }
    bool finished() const { return stage_ == Stage::finished; }
    int64_t line_count() const { return line_count_; }
    const RunSpec& run() const { return trace_.run; }          // when started()
    const Outcome& outcome() const { return trace_.outcome; }  // when finished()
    // Those told so far.
    const std::vector<Round>& rounds() const { return trace_.rounds; }
    const std::vector<Note>& notes() const { return trace_.notes; }

  private:
    enum class Stage { version, run, columns, events, finished };

    Status take_line(std::string_view line, std::vector<Event>& events);
    Status take_run(std::string_view line);
    Status take_body_line(std::string_view word, FieldReader fields);
    // The kinds of line, by their first word; `fields` are those after it.
    Status take_hop(Action action, FieldReader fields);
    Status take_round(FieldReader fields);
    Status take_note(FieldReader fields);
    Status take_outcome(FieldReader fields);
    void follow(const Schedule& schedule);
    Status take_block(FieldReader fields, std::vector<Event>& events);
    Error no_number(size_t index, bool missing) const;
    Error at_line(std::string what) const;

    Stage stage_ = Stage::version;
    Trace trace_;
    Topology topology_;
    Schedule schedule_;                 // of the round that goes on
    std::array<int64_t, 10> limits_{};  // of the numbers in a hop's line
    std::string rest_;                  // of a line that is not complete yet
    std::vector<Event> block_events_;
    Fnv64 block_hash_;
    int64_t block_line_count_ = 0;
    int64_t line_count_ = 0;
    int64_t event_count_ = 0;
    bool outcome_seen_ = false;
    bool broken_ = false;
};

// A whole trace at once. Errors: a bad line; an end before the outcome.
Result<Trace> decode(std::string_view text);

}  // namespace ringscope
