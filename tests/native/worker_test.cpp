// SPDX-License-Identifier: Apache-2.0
#include "native/worker.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "tests/native/program.hpp"

namespace ringscope {
namespace {

// Takes minutes when nobody ends it.
constexpr std::string_view long_run = "engine=threads&ranks=16&bytes=16MiB&iterations=1000";
constexpr std::string_view short_run = "engine=threads&ranks=4&bytes=1MiB&iterations=3";
// Its first events come at once.
constexpr std::string_view small_steps = "engine=threads&ranks=4&bytes=1MiB&iterations=1000";

struct Supervised {
    Trace trace;
    std::string text;
    std::string hash;
    pid_t pid = 0;
};

// Runs a real worker; `meddle` is called with its pid when the first events are there.
Supervised supervise_run(
    std::string_view line,
    std::chrono::milliseconds deadline,
    const std::function<void(pid_t)>& meddle = [](pid_t) {},
    const std::atomic<bool>* cancelled = nullptr) {
    const RunSpec run = *parse_run(line);
    TraceRecorder recorder(run, *build_schedule(run));
    Supervised supervised;
    bool meddled = false;
    Supervision supervision;
    supervision.program = RINGSCOPE_PROGRAM;
    supervision.deadline = deadline;
    supervision.cancelled = cancelled;
    supervision.started = [&](pid_t pid) { supervised.pid = pid; };
    supervision.take_text = [&](std::string_view text) {
        supervised.text += text;
        if (!meddled && supervised.text.find("\nreduce\t") != std::string::npos) {
            meddled = true;
            meddle(supervised.pid);
        }
    };
    supervise(recorder, supervision);
    EXPECT_TRUE(recorder.finished());
    supervised.hash = recorder.trace_hash();
    const auto trace = decode(supervised.text);
    EXPECT_TRUE(trace) << trace.error().message;
    supervised.trace = *trace;
    EXPECT_EQ(supervised.trace.outcome, recorder.outcome());
    EXPECT_EQ(supervised.hash, trace_hash(supervised.trace));
    EXPECT_FALSE(testing::alive(supervised.pid));
    return supervised;
}

constexpr std::chrono::minutes never{10};

TEST(Worker, RunsToItsEnd) {
    const Supervised supervised = supervise_run(short_run, never);
    EXPECT_EQ(supervised.trace.outcome, Outcome());
    EXPECT_EQ(supervised.trace.events.size(), 3U * 24);
}

TEST(Worker, KilledFromOutsideIsAFailedRunThatNamesTheSignal) {
    const Supervised supervised =
        supervise_run(long_run, never, [](pid_t pid) { kill(pid, SIGKILL); });
    EXPECT_EQ(supervised.trace.outcome,
              (Outcome{OutcomeKind::failed,
                       "the worker was ended by signal 9 (Killed) before its outcome"}));
    EXPECT_FALSE(supervised.trace.events.empty());
}

TEST(Worker, ACrashIsAFailedRunThatNamesTheSignal) {
    const Supervised supervised =
        supervise_run(long_run, never, [](pid_t pid) { kill(pid, SIGABRT); });
    EXPECT_EQ(supervised.trace.outcome.reason,
              "the worker was ended by signal 6 (Aborted) before its outcome");
}

TEST(Worker, IsKilledAtTheDeadline) {
    const Supervised supervised = supervise_run(long_run, std::chrono::milliseconds(700));
    EXPECT_EQ(supervised.trace.outcome,
              (Outcome{OutcomeKind::timeout, "not done within 700 ms; the worker was killed"}));
}

TEST(Worker, FrozenIsKilledAtTheDeadline) {
    const Supervised supervised = supervise_run(
        small_steps, std::chrono::milliseconds(4'000), [](pid_t pid) { kill(pid, SIGSTOP); });
    EXPECT_EQ(supervised.trace.outcome.kind, OutcomeKind::timeout);
    EXPECT_FALSE(supervised.trace.events.empty());
}

TEST(Worker, IsKilledWhenCancelled) {
    std::atomic<bool> cancelled{false};
    const Supervised supervised = supervise_run(
        long_run, never, [&](pid_t) { cancelled = true; }, &cancelled);
    EXPECT_EQ(supervised.trace.outcome, (Outcome{OutcomeKind::failed, "cancelled"}));
}

TEST(Worker, AMissingProgramIsAFailedRun) {
    const RunSpec run = *parse_run(short_run);
    TraceRecorder recorder(run, *build_schedule(run));
    std::string text;
    Supervision supervision;
    supervision.program = "/nowhere/ringscope";
    supervision.take_text = [&](std::string_view piece) { text += piece; };
    supervise(recorder, supervision);
    EXPECT_EQ(
        recorder.outcome(),
        (Outcome{OutcomeKind::failed, "the worker exited with status 127 before its outcome"}));
    EXPECT_TRUE(decode(text));
}

TEST(Worker, HasNoDescriptorOfItsParentBesideTheStandardOnes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);  // not close-on-exec, on purpose
    size_t count = 0;
    supervise_run(long_run, never, [&](pid_t pid) {
        for (const auto& entry :
             std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
            const std::string target = std::filesystem::read_symlink(entry.path());
            count += target.starts_with("pipe:") && std::stoi(entry.path().filename()) > 2 ? 1 : 0;
        }
        kill(pid, SIGKILL);
    });
    EXPECT_EQ(count, 0U);
    close(ends[0]);
    close(ends[1]);
}

Trace sample_trace() {
    Trace trace;
    trace.run = *parse_run(short_run);
    const Schedule schedule = *build_schedule(trace.run);
    std::vector<Transfer> sends;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        for (int32_t rank = 0; rank < 4; ++rank) {
            schedule.append_sends(/*lane=*/0, step, rank, sends);
        }
    }
    for (int32_t iteration = 0; iteration < 3; ++iteration) {
        for (const Transfer& transfer : sends) {
            trace.events.push_back({transfer, iteration, schedule.bytes(transfer), 1'000, 2'000});
        }
    }
    return trace;
}

// The trace's text, in blocks of so many events.
std::string sample_text(const Trace& trace, size_t events_per_block) {
    TraceEncoder encoder(trace.run);
    for (size_t i = 0; i < trace.events.size(); ++i) {
        encoder.add(trace.events[i]);
        if ((i + 1) % events_per_block == 0) {
            encoder.close_block();
        }
    }
    encoder.finish(trace.outcome);
    return encoder.text();
}

size_t events_in_closed_blocks(std::string_view text) {
    const size_t last_block = text.rfind("\nblock\t");
    const size_t end =
        last_block == std::string_view::npos ? last_block : text.find('\n', last_block + 1);
    if (end == std::string_view::npos && last_block != std::string_view::npos) {
        return events_in_closed_blocks(text.substr(0, last_block));  // its line is cut
    }
    size_t count = 0;
    for (const std::string_view word : {"\nreduce\t", "\ncopy\t"}) {
        for (size_t at = text.find(word); at < last_block; at = text.find(word, at + 1)) {
            count += last_block == std::string_view::npos ? 0 : 1;
        }
    }
    return count;
}

TEST(TraceRecorder, CutAnywhereItKeepsTheGoodBlocksAndEndsValid) {
    const Trace whole = sample_trace();
    const std::string text = sample_text(whole, 10);
    const Schedule schedule = *build_schedule(whole.run);
    for (size_t cut = 0; cut <= text.size(); cut += 7) {
        TraceRecorder recorder(whole.run, schedule);
        ASSERT_TRUE(recorder.push(std::string_view(text).substr(0, cut)));
        recorder.close({OutcomeKind::failed, "cut"});
        const std::string kept = recorder.take_text();
        const auto trace = decode(kept);
        ASSERT_TRUE(trace) << "cut at " << cut << ": " << trace.error().message;
        EXPECT_EQ(trace->run, whole.run);
        EXPECT_TRUE(std::equal(trace->events.begin(), trace->events.end(), whole.events.begin()));
        EXPECT_EQ(trace->events.size(),
                  events_in_closed_blocks(std::string_view(text).substr(0, cut)));
        EXPECT_EQ(recorder.trace_hash(), trace_hash(*trace));
    }
}

TEST(TraceRecorder, TakesAnySplit) {
    const Trace whole = sample_trace();
    const std::string text = sample_text(whole, 10);
    const Schedule schedule = *build_schedule(whole.run);
    for (const size_t piece : {size_t{1}, size_t{13}, size_t{4096}, text.size()}) {
        TraceRecorder recorder(whole.run, schedule);
        for (size_t begin = 0; begin < text.size(); begin += piece) {
            ASSERT_TRUE(recorder.push(std::string_view(text).substr(begin, piece)));
        }
        EXPECT_TRUE(recorder.finished());
        EXPECT_EQ(recorder.take_text(), text);
        EXPECT_EQ(recorder.report().message_count, 24);
    }
}

TEST(TraceRecorder, ATraceOfAnotherRunIsRefused) {
    const Trace whole = sample_trace();
    RunSpec other = whole.run;
    other.iterations = 1;  // so that the trace's later iterations have no place in the report
    TraceRecorder recorder(other, *build_schedule(other));
    const Status status = recorder.push(sample_text(whole, 10));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "the trace is of another run");
    recorder.close({OutcomeKind::failed, "another run"});
    EXPECT_EQ(decode(recorder.take_text())->run, other);
}

TEST(TraceRecorder, DamagedTextIsRefusedAndWhatWasGoodStays) {
    const Trace whole = sample_trace();
    std::string text = sample_text(whole, 10);
    const size_t place = text.find("2000", text.size() / 2);
    text[place] = '3';
    TraceRecorder recorder(whole.run, *build_schedule(whole.run));
    EXPECT_FALSE(recorder.push(text));
    recorder.close({OutcomeKind::failed, "damaged"});
    const auto trace = decode(recorder.take_text());
    ASSERT_TRUE(trace);
    EXPECT_FALSE(trace->events.empty());
    EXPECT_LT(trace->events.size(), whole.events.size());
}

}  // namespace
}  // namespace ringscope
