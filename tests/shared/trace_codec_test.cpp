// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_codec.hpp"

#include <algorithm>
#include <array>

#include "shared/units.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Trace small_trace() {
    return trace_of(run_of("ranks=3&bytes=40&change=1us:bandwidth:1MB/s"));
}

// A trace of several blocks: 9 x 16 x 2 hops.
Trace longer_trace() {
    return trace_of(run_of("ranks=17&bytes=1KiB"));
}

// As a live viewer gets it: blocks are closed in between.
std::string encode_in_blocks(const Trace& trace, size_t event_count) {
    TraceEncoder encoder(trace.run);
    for (size_t i = 0; i < trace.events.size(); ++i) {
        if (i % event_count == 0) {
            encoder.close_block();
        }
        encoder.add(trace.events[i]);
    }
    encoder.finish(trace.outcome);
    return encoder.text();
}

// A number with any count of digits that the limit allows, or the limit itself.
int64_t any_number(Dice& dice, int64_t max) {
    int64_t number = max;
    for (int64_t shift = dice.below(63); shift > 0; --shift) {
        number /= 2;
    }
    return dice.below(4) == 0 ? number : number - dice.below(std::min<int64_t>(number, 1000) + 1);
}

Event any_event(Dice& dice, const RunSpec& run, const Schedule& schedule) {
    Event event;
    event.transfer.action = dice.below(2) == 0 ? Action::copy : Action::reduce;
    event.transfer.step = static_cast<int32_t>(dice.below(schedule.step_count));
    const int32_t rank_count = run.problem.rank_count;
    event.transfer.source_rank = static_cast<int32_t>(dice.below(rank_count));
    event.transfer.target_rank = static_cast<int32_t>(
        (event.transfer.source_rank + 1 + dice.below(rank_count - 1)) % rank_count);
    event.transfer.chunk_begin = static_cast<int32_t>(dice.below(schedule.chunk_count));
    event.transfer.chunk_count =
        static_cast<int32_t>(any_number(dice, schedule.chunk_count - event.transfer.chunk_begin));
    event.iteration = static_cast<int32_t>(any_number(dice, run.iterations - 1));
    event.bytes = schedule.bytes(event.transfer);
    event.begin_ps = any_number(dice, time_ps_max);
    event.end_ps = event.begin_ps + any_number(dice, time_ps_max - event.begin_ps);
    return event;
}

// Of no algorithm: all that the format can say of its run.
Trace any_trace(Dice& dice) {
    constexpr std::array<std::string_view, 5> lines{
        "ranks=2&bytes=4",
        "ranks=3&bytes=1TiB&change=1us:bandwidth:1MB/s",
        "ranks=4096&bytes=1GiB",
        "ranks=17&bytes=1000&seed=3",
        "ranks=8&bytes=64MiB&engine=threads&iterations=1000"};
    Trace trace;
    trace.run = run_of(lines[static_cast<size_t>(dice.below(lines.size()))]);
    const Schedule schedule = *build_schedule(trace.run.algorithm, trace.run.problem);
    for (int64_t left = dice.below(700); left > 0; --left) {
        trace.events.push_back(any_event(dice, trace.run, schedule));
    }
    trace.outcome.kind = static_cast<OutcomeKind>(dice.below(4));
    if (dice.below(2) == 0) {
        trace.outcome.reason = std::string(static_cast<size_t>(1 + dice.below(1000)), 'x');
    }
    return trace;
}

// What a decoder made of a text.
struct Decoded {
    std::vector<Event> events;
    std::string error;
    int64_t line_count = 0;
    bool finished = false;

    bool operator==(const Decoded&) const = default;
};

// Pushes the text in pieces of 1 to `piece_bytes_max` bytes.
Decoded decode_in_pieces(std::string_view text, int64_t piece_bytes_max, Dice& dice) {
    TraceDecoder decoder;
    Decoded decoded;
    while (!text.empty() && decoded.error.empty()) {
        const auto bytes = static_cast<size_t>(1 + dice.below(piece_bytes_max));
        const Status status = decoder.push(text.substr(0, bytes), decoded.events);
        decoded.error = status ? "" : status.error().message;
        text.remove_prefix(std::min(bytes, text.size()));
    }
    decoded.line_count = decoder.line_count();
    decoded.finished = decoder.finished();
    return decoded;
}

Decoded decode_at_once(std::string_view text) {
    TraceDecoder decoder;
    Decoded decoded;
    const Status status = decoder.push(text, decoded.events);
    decoded.error = status ? "" : status.error().message;
    decoded.line_count = decoder.line_count();
    decoded.finished = decoder.finished();
    return decoded;
}

// Where the blocks of a text end, and how many events there are up to there.
std::vector<std::pair<size_t, size_t>> block_ends(std::string_view text) {
    std::vector<std::pair<size_t, size_t>> ends;
    size_t event_count = 0;
    for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
        const std::string_view rest = text.substr(begin);
        event_count += rest.starts_with("copy\t") || rest.starts_with("reduce\t") ? 1 : 0;
        if (rest.starts_with("block\t")) {
            ends.emplace_back(begin + rest.find('\n') + 1, event_count);
        }
    }
    return ends;
}

// Of the whole blocks in the first `bytes` bytes.
size_t event_count_within(const std::vector<std::pair<size_t, size_t>>& ends, size_t bytes) {
    size_t count = 0;
    for (const auto& [end, event_count] : ends) {
        count = end <= bytes ? event_count : count;
    }
    return count;
}

TEST(TraceCodec, TheTextIsWhatTheHeaderSays) {
    const std::string text = encode(trace_of(run_of("ranks=2&bytes=8&bandwidth=1GB/s&latency=0")));
    EXPECT_EQ(
        text.substr(0, text.find("block")),
        "ringscope-trace 1\n"
        "algorithm=ring&ranks=2&bytes=8B&bandwidth=1GB/s&latency=0ps\n"
        "action\titeration\tstep\tchannel\tsource\ttarget\tchunk\tchunks\tbytes\tbegin_ps\tend_ps\n"
        "reduce\t0\t0\t0\t1\t0\t1\t1\t4\t0\t4000\n"
        "reduce\t0\t0\t0\t0\t1\t0\t1\t4\t0\t4000\n"
        "copy\t0\t1\t0\t1\t0\t0\t1\t4\t4000\t8000\n"
        "copy\t0\t1\t0\t0\t1\t1\t1\t4\t4000\t8000\n");
    EXPECT_NE(text.find("\nblock\t7\t"), std::string::npos);
    EXPECT_NE(text.find("\noutcome\tok\nblock\t1\t"), std::string::npos);
}

TEST(TraceCodec, WhatIsWrittenIsReadBack) {
    for (Trace trace : {small_trace(), longer_trace(), trace_of(run_of("ranks=1"))}) {
        for (const OutcomeKind kind :
             {OutcomeKind::ok, OutcomeKind::wrong, OutcomeKind::failed, OutcomeKind::timeout}) {
            trace.outcome = {kind, kind == OutcomeKind::ok ? "" : "rank 2, step 3"};
            const auto read = decode(encode(trace));
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(*read, trace);
        }
    }
}

TEST(TraceCodec, AnySplitDecodesTheSame) {
    const Trace trace = small_trace();
    const std::string text = encode(trace);
    for (size_t cut = 0; cut <= text.size(); ++cut) {
        TraceDecoder decoder;
        std::vector<Event> events;
        ASSERT_TRUE(decoder.push(std::string_view(text).substr(0, cut), events));
        ASSERT_TRUE(decoder.push(std::string_view(text).substr(cut), events));
        ASSERT_TRUE(decoder.finished());
        EXPECT_EQ(events, trace.events);
    }
    TraceDecoder byte_by_byte;
    std::vector<Event> events;
    for (const char c : text) {
        ASSERT_TRUE(byte_by_byte.push(std::string_view(&c, 1), events));
    }
    EXPECT_EQ(events, trace.events);
}

TEST(TraceCodec, WhateverTheFormatCanSayIsReadBackFromAnyBlocksAndAnySplit) {
    Dice dice(1);
    for (int round = 0; round < 60; ++round) {
        const Trace trace = any_trace(dice);
        const auto read = decode(encode(trace));
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(*read, trace);
        const std::string text =
            encode_in_blocks(trace, static_cast<size_t>(1 + dice.below(block_event_count)));
        const Decoded decoded = decode_in_pieces(text, round % 2 == 0 ? 40 : 10'000, dice);
        ASSERT_EQ(decoded.error, "");
        ASSERT_TRUE(decoded.finished);
        ASSERT_EQ(decoded.events, trace.events);
    }
}

TEST(TraceCodec, AnySplitOfADamagedTextMeetsTheSameDamage) {
    Dice dice(2);
    const std::string text = encode_in_blocks(longer_trace(), 100);
    for (int round = 0; round < 200; ++round) {
        std::string damaged = text;
        char& byte = damaged[static_cast<size_t>(dice.below(std::ssize(damaged)))];
        byte = "\t\n-0x\xff"[dice.below(6)];
        ASSERT_EQ(decode_in_pieces(damaged, 200, dice), decode_at_once(damaged));
    }
}

TEST(TraceCodec, CutAtAnyByteASmallTraceIsGoodUpToItsLastBlock) {
    const Trace trace = small_trace();
    const std::string text = encode_in_blocks(trace, 5);
    const auto ends = block_ends(text);
    ASSERT_EQ(ends.size(), 5U);
    for (size_t cut = 0; cut < text.size(); ++cut) {
        const Decoded decoded = decode_at_once(std::string_view(text).substr(0, cut));
        EXPECT_EQ(decoded.error, "");
        EXPECT_FALSE(decoded.finished);
        ASSERT_EQ(decoded.events.size(), event_count_within(ends, cut));
        EXPECT_TRUE(std::equal(decoded.events.begin(), decoded.events.end(), trace.events.begin()));
    }
}

TEST(TraceCodec, ACutTraceIsGoodUpToItsLastBlock) {
    const Trace trace = longer_trace();
    const std::string text = encode(trace);
    for (size_t cut = 0; cut < text.size(); cut += 61) {
        TraceDecoder decoder;
        std::vector<Event> events;
        ASSERT_TRUE(decoder.push(std::string_view(text).substr(0, cut), events));
        EXPECT_FALSE(decoder.finished());
        EXPECT_EQ(
            events.size() % block_event_count,
            events.size() == trace.events.size() ? trace.events.size() % block_event_count : 0);
        EXPECT_TRUE(std::equal(events.begin(), events.end(), trace.events.begin()));
        EXPECT_FALSE(decode(std::string_view(text).substr(0, cut)));
    }
}

TEST(TraceCodec, AFlippedBitIsNoticedBeforeItsBlockIsHandedOut) {
    const Trace trace = small_trace();
    const std::string text = encode_in_blocks(trace, 5);
    const auto ends = block_ends(text);
    for (size_t position = 0; position < text.size(); ++position) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string damaged = text;
            damaged[position] = static_cast<char>(damaged[position] ^ (1 << bit));
            TraceDecoder decoder;
            std::vector<Event> events;
            const Status status = decoder.push(damaged, events);
            EXPECT_FALSE(status && decoder.finished()) << position;
            ASSERT_EQ(events.size(), event_count_within(ends, position));
            EXPECT_TRUE(std::equal(events.begin(), events.end(), trace.events.begin()));
            EXPECT_FALSE(decoder.push("more\n", events) && decoder.finished());
        }
    }
}

// Closes the lines so that the checksum is right: only the contents are wrong.
std::string close_block(const std::string& lines) {
    Fnv64 hash;
    hash.add(lines);
    return lines + "block\t" + std::to_string(std::count(lines.begin(), lines.end(), '\n')) + "\t" +
           hash.text() + "\n";
}

TEST(TraceCodec, HostileContentsAreRefusedWithTheirLine) {
    const std::string head =
        "ringscope-trace 1\nranks=3&bytes=40\n"
        "action\titeration\tstep\tchannel\tsource\ttarget\tchunk\tchunks\tbytes\tbegin_ps\tend_"
        "ps\n";
    const std::pair<const char*, const char*> lines[] = {
        {"reduce\t0\t0\t0\t0\t3\t0\t1\t16\t0\t5",
         "trace line 4: target must be a number from 0 to 2"},
        {"reduce\t0\t0\t0\t-1\t1\t0\t1\t16\t0\t5",
         "trace line 4: source must be a number from 0 to 2"},
        {"reduce\t1\t0\t0\t0\t1\t0\t1\t16\t0\t5",
         "trace line 4: iteration must be a number from 0 to 0"},
        {"reduce\t0\t4\t0\t0\t1\t0\t1\t16\t0\t5",
         "trace line 4: step must be a number from 0 to 3"},
        {"reduce\t0\t0\t0\t0\t1\t2\t2\t16\t0\t5",
         "trace line 4: chunk and chunks reach beyond the buffer"},
        {"reduce\t0\t0\t0\t0\t1\t0\t1\t17\t0\t5",
         "trace line 4: bytes must be 16 for these chunks"},
        {"reduce\t0\t0\t0\t0\t1\t0\t1\t16\t6\t5", "trace line 4: end_ps is before begin_ps"},
        {"reduce\t0\t0\t0\t1\t1\t0\t1\t16\t0\t5",
         "trace line 4: source and target are the same rank"},
        {"reduce\t0\t0\t0\t0\t1\t0\t1\t16\t0\t99999999999999999999",
         "trace line 4: end_ps must be a number from 0 to 4611686018427387904"},
        {"steal\t0\t0\t0\t0\t1\t0\t1\t16\t0\t5",
         "trace line 4: begins with none of copy, reduce, outcome, block"},
        {"reduce\t0", "trace line 4: has 2 of 11 fields"},
        {"reduce\t0\t0\t0\t0\t1\t0\t1\t16\t0\t5\t6", "trace line 4: has more than 11 fields"},
        {"outcome\tsplendid",
         "trace line 4: has an outcome that is none of ok, wrong, failed, timeout"},
    };
    for (const auto& [line, message] : lines) {
        TraceDecoder decoder;
        std::vector<Event> events;
        const Status status = decoder.push(close_block(head + line + "\n"), events);
        ASSERT_FALSE(status) << line;
        EXPECT_EQ(status.error().message, message);
        EXPECT_TRUE(events.empty());
        EXPECT_FALSE(decoder.push("block\t1\t0\n", events));
    }
    EXPECT_EQ(
        decode("hello\n").error().message,
        "trace line 1: is not \"ringscope-trace 1\"; this is no trace of a version known here");
    EXPECT_EQ(decode("ringscope-trace 1\nranks=0\n").error().message,
              "trace line 2: ranks=0: must be a whole number from 1 to 4096");
    EXPECT_FALSE(decode("ringscope-trace 1\nranks=2\nhello\n"));
    EXPECT_EQ(decode(std::string(70'000, 'x')).error().message,
              "trace line 0: is longer than 65536 characters");
}

TEST(TraceCodec, NothingMayFollowTheOutcome) {
    const std::string text = encode(small_trace());
    EXPECT_FALSE(decode(text + "copy\n"));
    EXPECT_EQ(decode(text.substr(0, text.size() - 1)).error().message.substr(0, 41),
              "the trace ends before its outcome: it was");
}

TEST(TraceCodec, AReasonStaysOneLine) {
    Trace trace = small_trace();
    trace.outcome = {OutcomeKind::failed, "a\tb\nc"};
    EXPECT_EQ(decode(encode(trace))->outcome.reason, "a b c");
}

}  // namespace
}  // namespace ringscope
