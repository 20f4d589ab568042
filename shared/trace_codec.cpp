// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_codec.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr std::string_view version_line = "ringscope-trace 1";
constexpr std::string_view column_line =
    "action\titeration\tstep\tchannel\tsource\ttarget\tchunk\tchunks\tbytes\tbegin_ps\tend_ps";
constexpr size_t event_field_count = 11;

void append_number(std::string& text, int64_t number) {
    std::array<char, 24> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    text.append(digits.data(), result.ptr);
}

// False unless the whole of `text` is a number from 0 to max.
bool read_number(std::string_view text, int64_t max, int64_t& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc{} && end == text.data() + text.size() && number >= 0 &&
           number <= max;
}

}  // namespace

TraceEncoder::TraceEncoder(const RunSpec& run) {
    append_line(version_line);
    append_line(print_run(run));
    append_line(column_line);
}

void TraceEncoder::append_line(std::string_view line) {
    text_ += line;
    text_ += '\n';
    block_hash_.add(line);
    block_hash_.add("\n");
    ++block_line_count_;
}

void TraceEncoder::add(const Event& event) {
    const Transfer& transfer = event.transfer;
    std::string line(transfer.action == Action::reduce ? "reduce" : "copy");
    for (const int64_t number : std::array<int64_t, event_field_count - 1>{event.iteration,
                                                                           transfer.step,
                                                                           transfer.channel,
                                                                           transfer.source_rank,
                                                                           transfer.target_rank,
                                                                           transfer.chunk_begin,
                                                                           transfer.chunk_count,
                                                                           event.bytes,
                                                                           event.begin_ps,
                                                                           event.end_ps}) {
        line += '\t';
        append_number(line, number);
    }
    append_line(line);
    if (++block_events_ == block_event_count) {
        close_block();
    }
}

void TraceEncoder::close_block() {
    if (block_line_count_ == 0) {
        return;
    }
    append_line("block\t" + std::to_string(block_line_count_) + "\t" + block_hash_.text());
    block_hash_ = {};
    block_line_count_ = 0;
    block_events_ = 0;
}

void TraceEncoder::finish(const Outcome& outcome) {
    close_block();
    append_line("outcome\t" + print_outcome(outcome));
    close_block();
}

std::string encode(const Trace& trace) {
    TraceEncoder encoder(trace.run);
    for (const Event& event : trace.events) {
        encoder.add(event);
    }
    encoder.finish(trace.outcome);
    return std::move(encoder.text());
}

Error TraceDecoder::at_line(std::string what) const {
    return plain_error(ErrorKind::invalid_argument,
                       "trace line " + std::to_string(line_count_) + ": " + std::move(what));
}

Status TraceDecoder::push(std::string_view bytes, std::vector<Event>& events) {
    if (broken_) {
        return at_line("nothing after a damaged line is read");
    }
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        rest_ += bytes.substr(0, end);
        if (rest_.size() > run_line_bytes_max) {
            broken_ = true;
            return at_line("is longer than " + std::to_string(run_line_bytes_max) + " characters");
        }
        if (end == std::string_view::npos) {
            break;
        }
        bytes.remove_prefix(end + 1);
        ++line_count_;
        if (Status status = take_line(rest_, events); !status) {
            broken_ = true;
            return status;
        }
        rest_.clear();
    }
    return Done{};
}

Status TraceDecoder::take_line(std::string_view line, std::vector<Event>& events) {
    std::array<std::string_view, event_field_count> fields;
    size_t field_count = 0;
    for (std::string_view rest = line; field_count < fields.size();) {
        const size_t tab = rest.find('\t');
        fields[field_count++] = rest.substr(0, tab);
        if (tab == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(tab + 1);
        if (field_count == fields.size()) {
            return at_line("has more than " + std::to_string(event_field_count) + " fields");
        }
    }
    const std::span<const std::string_view> all(fields.data(), field_count);
    if (stage_ == Stage::events && fields[0] == "block") {
        return take_block(all, events);
    }
    block_hash_.add(line);
    block_hash_.add("\n");
    ++block_line_count_;
    switch (stage_) {
        case Stage::version:
            stage_ = Stage::run;
            return line == version_line ? Status(Done{})
                                        : at_line(
                                              "is not \"ringscope-trace 1\"; this is no trace of a "
                                              "version known here");
        case Stage::run:
            return take_run(line);
        case Stage::columns:
            stage_ = Stage::events;
            return line == column_line ? Status(Done{})
                                       : at_line("does not name the columns of version 1");
        case Stage::events:
            if (outcome_seen_) {
                return at_line("comes after the outcome");
            }
            return fields[0] == "outcome" ? take_outcome(all) : take_event(all);
        case Stage::finished:
            break;
    }
    return at_line("comes after the end");
}

Status TraceDecoder::take_run(std::string_view line) {
    const auto run = parse_run(line);
    if (!run) {
        return at_line(run.error().message);
    }
    const auto schedule = build_schedule(run->algorithm, run->problem);
    if (!schedule) {
        return at_line(schedule.error().message);
    }
    trace_.run = *run;
    schedule_ = *schedule;
    stage_ = Stage::columns;
    return Done{};
}

Status TraceDecoder::take_event(std::span<const std::string_view> fields) {
    if (fields.size() != event_field_count) {
        return at_line("has " + std::to_string(fields.size()) + " of " +
                       std::to_string(event_field_count) + " fields");
    }
    if (fields[0] != "copy" && fields[0] != "reduce") {
        return at_line("has an action that is neither copy nor reduce");
    }
    if (event_count_ == trace_event_count_max) {
        return at_line("exceeds " + std::to_string(trace_event_count_max) + " events");
    }
    const int64_t rank_max = trace_.run.problem.rank_count - 1;
    const std::array<int64_t, event_field_count - 1> limits{trace_.run.iterations - 1,
                                                            schedule_.step_count - 1,
                                                            0,
                                                            rank_max,
                                                            rank_max,
                                                            schedule_.chunk_count - 1,
                                                            schedule_.chunk_count,
                                                            bytes_max,
                                                            time_ps_max,
                                                            time_ps_max};
    constexpr std::array<std::string_view, event_field_count - 1> names{"iteration",
                                                                        "step",
                                                                        "channel",
                                                                        "source",
                                                                        "target",
                                                                        "chunk",
                                                                        "chunks",
                                                                        "bytes",
                                                                        "begin_ps",
                                                                        "end_ps"};
    std::array<int64_t, event_field_count - 1> numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) {
        if (!read_number(fields[i + 1], limits[i], numbers[i])) {
            return at_line(std::string(names[i]) + " must be a number from 0 to " +
                           std::to_string(limits[i]));
        }
    }
    Event event;
    event.transfer.action = fields[0] == "reduce" ? Action::reduce : Action::copy;
    event.iteration = static_cast<int32_t>(numbers[0]);
    event.transfer.step = static_cast<int32_t>(numbers[1]);
    event.transfer.channel = static_cast<int32_t>(numbers[2]);
    event.transfer.source_rank = static_cast<int32_t>(numbers[3]);
    event.transfer.target_rank = static_cast<int32_t>(numbers[4]);
    event.transfer.chunk_begin = static_cast<int32_t>(numbers[5]);
    event.transfer.chunk_count = static_cast<int32_t>(numbers[6]);
    event.bytes = numbers[7];
    event.begin_ps = numbers[8];
    event.end_ps = numbers[9];
    if (event.transfer.chunk_begin + event.transfer.chunk_count > schedule_.chunk_count) {
        return at_line("chunk and chunks reach beyond the buffer");
    }
    if (event.bytes != schedule_.bytes(event.transfer)) {
        return at_line("bytes must be " + std::to_string(schedule_.bytes(event.transfer)) +
                       " for these chunks");
    }
    if (event.end_ps < event.begin_ps) {
        return at_line("end_ps is before begin_ps");
    }
    if (event.transfer.source_rank == event.transfer.target_rank) {
        return at_line("source and target are the same rank");
    }
    ++event_count_;
    block_events_.push_back(event);
    return Done{};
}

Status TraceDecoder::take_outcome(std::span<const std::string_view> fields) {
    for (const OutcomeKind kind :
         {OutcomeKind::ok, OutcomeKind::wrong, OutcomeKind::failed, OutcomeKind::timeout}) {
        if (fields.size() >= 2 && fields.size() <= 3 && fields[1] == outcome_name(kind)) {
            trace_.outcome = {kind, fields.size() == 3 ? single_line(fields[2]) : ""};
            outcome_seen_ = true;
            return Done{};
        }
    }
    return at_line("has an outcome that is none of ok, wrong, failed, timeout");
}

Status TraceDecoder::take_block(std::span<const std::string_view> fields,
                                std::vector<Event>& events) {
    int64_t line_count = 0;
    if (fields.size() != 3 || !read_number(fields[1], INT64_MAX, line_count) ||
        line_count != block_line_count_ || fields[2] != block_hash_.text()) {
        return at_line("does not match the lines it closes: the trace was cut or changed there");
    }
    events.insert(events.end(), block_events_.begin(), block_events_.end());
    block_events_.clear();
    block_hash_ = {};
    block_line_count_ = 0;
    if (outcome_seen_) {
        stage_ = Stage::finished;
    }
    return Done{};
}

Result<Trace> decode(std::string_view text) {
    TraceDecoder decoder;
    Trace trace;
    if (const Status status = decoder.push(text, trace.events); !status) {
        return status.error();
    }
    if (!decoder.finished()) {
        return plain_error(ErrorKind::invalid_argument,
                           "the trace ends before its outcome: it was cut after line " +
                               std::to_string(decoder.line_count()));
    }
    trace.run = decoder.run();
    trace.outcome = decoder.outcome();
    return trace;
}

}  // namespace ringscope
