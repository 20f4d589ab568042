// SPDX-License-Identifier: Apache-2.0
#include "native/trace_writer.hpp"

#include <gtest/gtest.h>

#include "shared/simulator.hpp"

namespace ringscope {
namespace {

void write_trace(TraceWriter& writer, const Trace& trace) {
    writer.flush();
    for (const Event& event : trace.events) {
        writer.add(event);
    }
    writer.finish(trace.outcome);
}

TEST(TraceWriter, NamesATraceWithOrWithoutWritingIt) {
    const Trace trace = *simulate(*parse_run("ranks=33&bytes=1MiB"));
    std::string text;
    int64_t piece_count = 0;
    TraceWriter writer(trace.run, [&](std::string_view piece) {
        text += piece;
        ++piece_count;
    });
    write_trace(writer, trace);
    EXPECT_EQ(writer.hash(), trace_hash(trace));
    EXPECT_EQ(*decode(text), trace);
    EXPECT_GT(piece_count, 2);

    TraceWriter silent(trace.run, nullptr);
    write_trace(silent, trace);
    EXPECT_EQ(silent.hash(), trace_hash(trace));
}

}  // namespace
}  // namespace ringscope
