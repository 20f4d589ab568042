// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "shared/arrange.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr std::string_view version_line = "ringscope-trace 1";
constexpr std::string_view column_line =
    "action\titeration\tstep\tchannel\tsource\ttarget\tchunk\tchunks\tbytes\tbegin_ps\tend_ps";
constexpr size_t hop_number_count = 10;  // after the action
constexpr size_t hop_field_count = 1 + hop_number_count;

using HopNumbers = std::array<int64_t, hop_number_count>;

Event event_of(Action action, const HopNumbers& numbers) {
    Event event;
    event.transfer.action = action;
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
    return event;
}

}  // namespace

// The fields of a line from left to right.
class FieldReader {
  public:
    explicit FieldReader(std::string_view line) : rest_(line) {}

    bool done() const { return done_; }

    // The next field. Only while not done().
    std::string_view text() {
        const std::string_view field = rest_.substr(0, rest_.find('\t'));
        skip(field.size());
        return field;
    }

    // False, and nothing is passed over, unless the next field is a number from 0 to max.
    bool number(int64_t max, int64_t& number) {
        constexpr size_t digit_count_max = 19;  // more might not fit
        uint64_t value = 0;
        size_t digit_count = 0;
        for (; digit_count < rest_.size(); ++digit_count) {
            const auto digit = static_cast<unsigned char>(rest_[digit_count] - '0');
            if (digit > 9) {
                break;
            }
            value = value * 10 + digit;
        }
        if (done_ || digit_count == 0 || digit_count > digit_count_max ||
            value > static_cast<uint64_t>(max) ||
            (digit_count < rest_.size() && rest_[digit_count] != '\t')) {
            return false;
        }
        number = static_cast<int64_t>(value);
        skip(digit_count);
        return true;
    }

  private:
    void skip(size_t byte_count) {
        done_ = byte_count == rest_.size();
        rest_.remove_prefix(done_ ? byte_count : byte_count + 1);
    }

    std::string_view rest_;
    bool done_ = false;
};

TraceEncoder::TraceEncoder(const RunSpec& run) {
    append_line(std::string(version_line) + "\n");
    append_line(print_run(run) + "\n");
    append_line(std::string(column_line) + "\n");
}

void TraceEncoder::append_line(std::string_view line) {
    text_ += line;
    block_hash_.add(line);
    ++block_line_count_;
}

void TraceEncoder::add(const Event& event) {
    const Transfer& transfer = event.transfer;
    const std::string_view action = transfer.action == Action::reduce ? "reduce" : "copy";
    std::array<char, 6 + hop_number_count * 21 + 1> line;  // not worth filling
    char* end = std::copy(action.begin(), action.end(), line.data());
    for (const int64_t number : HopNumbers{event.iteration,
                                           transfer.step,
                                           transfer.channel,
                                           transfer.source_rank,
                                           transfer.target_rank,
                                           transfer.chunk_begin,
                                           transfer.chunk_count,
                                           event.bytes,
                                           event.begin_ps,
                                           event.end_ps}) {
        *end++ = '\t';
        end = std::to_chars(end, line.data() + line.size(), number).ptr;
    }
    *end++ = '\n';
    append_line({line.data(), static_cast<size_t>(end - line.data())});
    if (++block_events_ == block_event_count) {
        close_block();
    }
}

void TraceEncoder::close_block() {
    if (block_line_count_ == 0) {
        return;
    }
    text_ += "block\t" + std::to_string(block_line_count_) + "\t" + block_hash_.text() + "\n";
    block_hash_ = {};
    block_line_count_ = 0;
    block_events_ = 0;
}

void TraceEncoder::finish(const Outcome& outcome) {
    close_block();
    append_line("outcome\t" + print_outcome(outcome) + "\n");
    close_block();
}

void TraceEncoder::add_round(const Round& round) {
    append_line("round\t" + print_round(round) + "\n");
}

void TraceEncoder::add_note(const Note& note) {
    append_line("note\t" + print_note(note) + "\n");
}

std::string encode(const Trace& trace) {
    TraceEncoder encoder(trace.run);
    tell(trace, encoder);
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
        const size_t end = std::min(bytes.find('\n'), bytes.size());
        if (rest_.size() + end > run_line_bytes_max) {
            broken_ = true;
            return at_line("is longer than " + std::to_string(run_line_bytes_max) + " characters");
        }
        std::string_view line = bytes.substr(0, end);
        if (end == bytes.size()) {
            rest_ += line;
            break;
        }
        if (!rest_.empty()) {
            rest_ += line;
            line = rest_;
        }
        bytes.remove_prefix(end + 1);
        ++line_count_;
        if (Status status = take_line(line, events); !status) {
            broken_ = true;
            return status;
        }
        rest_.clear();
    }
    return Done{};
}

Status TraceDecoder::take_line(std::string_view line, std::vector<Event>& events) {
    FieldReader fields(line);
    const std::string_view word = fields.text();
    if (stage_ == Stage::events && word == "block") {
        return take_block(fields, events);
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
            return take_body_line(word, fields);
        case Stage::finished:
            break;
    }
    return at_line("comes after the end");
}

Status TraceDecoder::take_body_line(std::string_view word, FieldReader fields) {
    if (outcome_seen_) {
        return at_line("comes after the outcome");
    }
    if (word == "reduce") {
        return take_hop(Action::reduce, fields);
    }
    if (word == "copy") {
        return take_hop(Action::copy, fields);
    }
    if (word == "round") {
        return take_round(fields);
    }
    if (word == "note") {
        return take_note(fields);
    }
    if (word == "outcome") {
        return take_outcome(fields);
    }
    return at_line("begins with none of copy, reduce, round, note, outcome, block");
}

Status TraceDecoder::take_run(std::string_view line) {
    const auto run = parse_run(line);
    if (!run) {
        return at_line(run.error().message);
    }
    auto topology = build_topology(*run);
    if (!topology) {
        return at_line(topology.error().message);
    }
    const auto schedule = build_schedule(*run, *topology);
    if (!schedule) {
        return at_line(schedule.error().message);
    }
    trace_.run = *run;
    topology_ = std::move(*topology);
    follow(*schedule);
    stage_ = Stage::columns;
    return Done{};
}

// What the hops of a round may say.
void TraceDecoder::follow(const Schedule& schedule) {
    schedule_ = schedule;
    const int64_t rank_max = schedule.participant_count - 1;
    limits_ = {trace_.run.iterations - 1 + std::ssize(trace_.rounds),
               schedule.step_count - 1,
               schedule.channel_count - 1,
               rank_max,
               rank_max,
               schedule.chunk_count - 1,
               schedule.chunk_count,
               bytes_max,
               time_ps_max,
               time_ps_max};
}

namespace {

// "all", or ranks in order: "0,1,3".
bool read_members(std::string_view text, int32_t rank_limit, std::vector<int32_t>& members) {
    if (text == "all") {
        return true;
    }
    for (std::string_view rest = text; !rest.empty();) {
        const size_t comma = std::min(rest.find(','), rest.size());
        const auto member = parse_count("round", rest.substr(0, comma), 0, rank_limit - 1);
        if (!member || (!members.empty() && *member <= members.back())) {
            return false;
        }
        members.push_back(static_cast<int32_t>(*member));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return !members.empty();
}

}  // namespace

Status TraceDecoder::take_round(FieldReader fields) {
    constexpr size_t round_count_max = 1000;
    std::array<int64_t, 3> begin{};
    RunSpec run = trace_.run;
    int64_t rank_count = 0;
    int64_t bytes = 0;
    const std::array<int64_t, 3> begin_limits{INT32_MAX, trace_.run.iterations - 1, time_ps_max};
    for (size_t i = 0; i < begin.size(); ++i) {
        if (!fields.number(begin_limits[i], begin[i])) {
            return at_line(
                "is no round: index, iteration, begin_ps, algorithm, ranks, bytes, "
                "members, reason");
        }
    }
    run.algorithm = std::string(fields.done() ? "" : fields.text());
    const bool numbers = fields.number(rank_count_max, rank_count) && rank_count > 0 &&
                         fields.number(bytes_max, bytes);
    std::vector<int32_t> members;
    const auto ranks = static_cast<int32_t>(rank_count);
    if (!numbers || fields.done() || !read_members(fields.text(), ranks, members) ||
        fields.done() || trace_.rounds.size() == round_count_max) {
        return at_line("has a round whose ranks, bytes or members cannot be");
    }
    const std::string why(fields.text());
    run.problem.rank_count = ranks;
    run.problem.element_count = bytes / element_bytes(run.problem.element_type);
    run.settings.clear();
    Topology topology = topology_;
    if (ranks != std::ssize(topology.rank_nodes)) {
        auto other = build_topology(run);
        if (!other) {
            return at_line(other.error().message);
        }
        topology = std::move(*other);
    }
    const auto schedule = build_schedule(run, topology, members);
    if (!schedule) {
        return at_line(schedule.error().message);
    }
    trace_.rounds.push_back({static_cast<int32_t>(begin[0]),
                             begin[2],
                             static_cast<int32_t>(begin[1]),
                             run.algorithm,
                             run.problem,
                             std::move(members),
                             why});
    follow(*schedule);
    return Done{};
}

Status TraceDecoder::take_note(FieldReader fields) {
    constexpr size_t note_count_max = 10'000;
    Note note;
    if (!fields.number(time_ps_max, note.time_ps) || fields.done() ||
        trace_.notes.size() == note_count_max) {
        return at_line("is no note: time_ps, text");
    }
    note.text = single_line(fields.text());
    trace_.notes.push_back(std::move(note));
    return Done{};
}

Error TraceDecoder::no_number(size_t index, bool missing) const {
    if (missing) {
        return at_line("has " + std::to_string(index + 1) + " of " +
                       std::to_string(hop_field_count) + " fields");
    }
    FieldReader names(column_line);
    for (size_t column = 0; column <= index; ++column) {
        names.text();
    }
    return at_line(std::string(names.text()) + " must be a number from 0 to " +
                   std::to_string(limits_[index]));
}

Status TraceDecoder::take_hop(Action action, FieldReader fields) {
    if (event_count_ == trace_event_count_max) {
        return at_line("exceeds " + std::to_string(trace_event_count_max) + " events");
    }
    HopNumbers numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) {
        if (!fields.number(limits_[i], numbers[i])) {
            return no_number(i, fields.done());
        }
    }
    if (!fields.done()) {
        return at_line("has more than " + std::to_string(hop_field_count) + " fields");
    }
    const Event event = event_of(action, numbers);
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

Status TraceDecoder::take_outcome(FieldReader fields) {
    const std::string_view name = fields.done() ? "" : fields.text();
    const std::string_view reason = fields.done() ? "" : fields.text();
    for (const OutcomeKind kind :
         {OutcomeKind::ok, OutcomeKind::wrong, OutcomeKind::failed, OutcomeKind::timeout}) {
        if (fields.done() && name == outcome_name(kind)) {
            trace_.outcome = {kind, single_line(reason)};
            outcome_seen_ = true;
            return Done{};
        }
    }
    return at_line("has an outcome that is none of ok, wrong, failed, timeout");
}

Status TraceDecoder::take_block(FieldReader fields, std::vector<Event>& events) {
    int64_t line_count = 0;
    const bool matches = fields.number(block_line_count_, line_count) && !fields.done() &&
                         line_count == block_line_count_ && fields.text() == block_hash_.text() &&
                         fields.done();
    if (!matches) {
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
    trace.rounds = decoder.rounds();
    trace.notes = decoder.notes();
    return trace;
}

}  // namespace ringscope
