// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_codec.hpp"

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

TEST(TraceCodec, ACutTraceIsGoodUpToItsLastBlock) {
    const Trace trace = longer_trace();
    const std::string text = encode(trace);
    for (size_t cut = 0; cut < text.size(); cut += 7) {
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

TEST(TraceCodec, AFlippedByteIsNoticedBeforeItsBlockIsHandedOut) {
    const Trace trace = small_trace();
    const std::string text = encode(trace);
    for (size_t position = 0; position < text.size(); ++position) {
        for (const int flip : {1, 0x40}) {
            std::string damaged = text;
            damaged[position] = static_cast<char>(damaged[position] ^ flip);
            TraceDecoder decoder;
            std::vector<Event> events;
            const Status status = decoder.push(damaged, events);
            EXPECT_FALSE(status && decoder.finished()) << position;
            EXPECT_TRUE(events.empty() || events == trace.events) << position;
            EXPECT_FALSE(status && decoder.push("more\n", events) && decoder.finished());
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
         "trace line 4: has an action that is neither copy nor reduce"},
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
