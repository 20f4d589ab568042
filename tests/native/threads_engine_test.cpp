// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "native/engine.hpp"
#include "shared/arrange.hpp"
#include "shared/replay.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

RunSpec threads_run(int32_t rank_count, int64_t element_count, int64_t iterations = 1) {
    RunSpec run;
    run.engine = "threads";
    run.problem.rank_count = rank_count;
    run.problem.element_count = element_count;
    run.iterations = iterations;
    return run;
}

struct Measured {
    std::vector<Event> events;
    Outcome outcome;
};

// Through the trace's text, as everybody else sees it.
Measured measure(const RunSpec& run, const Schedule& schedule) {
    const auto engine = find_engine(run);
    EXPECT_TRUE(engine) << engine.error().message;
    std::string text;
    TraceWriter trace(run, [&](std::string_view piece) { text += piece; });
    const auto outcome = (*engine)->run(run, schedule, trace);
    EXPECT_TRUE(outcome) << outcome.error().message;
    trace.finish(*outcome);
    const auto decoded = decode(text);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return {decoded->events, decoded->outcome};
}

Measured measure(const RunSpec& run) {
    return measure(run, *build_schedule(run));
}

using HopKey = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;  // iteration, target, step,
                                                                         // source, chunk

HopKey key_of(int32_t iteration, const Transfer& transfer) {
    return {
        iteration, transfer.target_rank, transfer.step, transfer.source_rank, transfer.chunk_begin};
}

// Holds the events against the hops that the schedule demands: all there, once, in an order that is
// allowed.
void expect_complete(const RunSpec& run, const std::vector<Event>& events) {
    std::map<HopKey, Event> by_key;
    for (const Event& event : events) {
        EXPECT_LE(event.begin_ps, event.end_ps);
        EXPECT_TRUE(by_key.emplace(key_of(event.iteration, event.transfer), event).second)
            << "a hop came twice";
    }
    const auto hops = derive_hops(*build_schedule(run)).hops;
    size_t hop_count = 0;
    for (int32_t iteration = 0; iteration < run.iterations; ++iteration) {
        const auto event_of = [&](int32_t rank, int32_t hop) {
            const auto found = by_key.find(key_of(
                iteration, hops[static_cast<size_t>(rank)][static_cast<size_t>(hop)].transfer));
            EXPECT_NE(found, by_key.end()) << "a hop is missing";
            return found == by_key.end() ? Event() : found->second;
        };
        for (int32_t rank = 0; rank < run.problem.rank_count; ++rank) {
            const auto& own = hops[static_cast<size_t>(rank)];
            hop_count += own.size();
            for (int32_t hop = 0; hop < std::ssize(own); ++hop) {
                const Event event = event_of(rank, hop);
                if (hop > 0) {
                    EXPECT_GE(event.begin_ps, event_of(rank, hop - 1).end_ps);
                }
                for (const Dependency& dependency : own[static_cast<size_t>(hop)].dependencies) {
                    EXPECT_GE(event.begin_ps,
                              event_of(dependency.rank, dependency.hop_count - 1).end_ps);
                }
            }
        }
    }
    EXPECT_EQ(events.size(), hop_count);
}

class ThreadsEngine : public ::testing::TestWithParam<int32_t> {};

TEST_P(ThreadsEngine, SumsEveryElementAndStampsEveryHopOnce) {
    const int64_t rank_count = GetParam();
    for (const int64_t element_count :
         std::set<int64_t>{0, 1, rank_count - 1, rank_count, rank_count + 1, 1009, 100'000}) {
        SCOPED_TRACE("elements " + std::to_string(element_count));
        const RunSpec run = threads_run(GetParam(), element_count, 2);
        const Measured measured = measure(run);
        EXPECT_EQ(measured.outcome, Outcome());
        expect_complete(run, measured.events);
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ThreadsEngine, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 16));

// The events say what was done: done again in their order, by other code, they make the same sums.
TEST(ThreadsEngineTrace, ReplaysToTheFullSum) {
    const RunSpec run = threads_run(7, 10'007);
    const Measured measured = measure(run);
    auto replay = Replay::create(run);
    ASSERT_TRUE(replay);
    replay->add(measured.events);
    replay->seek(replay->end_ps() - 1);
    EXPECT_FALSE(replay->buffers().complete());
    replay->seek(replay->end_ps());
    EXPECT_TRUE(replay->buffers().complete());
}

TEST(ThreadsEngineTrace, IterationsFollowOneAnother) {
    const Measured measured = measure(threads_run(4, 1000, 5));
    std::map<int32_t, std::pair<int64_t, int64_t>> spans;
    for (const Event& event : measured.events) {
        auto& span = spans.try_emplace(event.iteration, INT64_MAX, 0).first->second;
        span = {std::min(span.first, event.begin_ps), std::max(span.second, event.end_ps)};
    }
    ASSERT_EQ(spans.size(), 5U);
    for (int32_t iteration = 1; iteration < 5; ++iteration) {
        EXPECT_GE(spans[iteration].first, spans[iteration - 1].second);
    }
}

TEST(ThreadsEngineTrace, AWrongScheduleIsCalledWrongAndSaysWhere) {
    const RunSpec run = threads_run(4, 4000);
    Schedule schedule = *build_schedule(run);
    --schedule.step_count;  // the last chunk never arrives
    const Measured measured = measure(run, schedule);
    EXPECT_EQ(measured.outcome.kind, OutcomeKind::wrong);
    EXPECT_NE(measured.outcome.reason.find("rank 0, element "), std::string::npos)
        << measured.outcome.reason;
}

struct Refusal {
    std::string line;
    std::string message;  // how it begins
};

TEST(ThreadsEngineLimits, RefuseWhatCannotBeDoneAndNameTheField) {
    const std::vector<Refusal> refusals{
        {"engine=threads&ranks=257", "ranks=257: must be 1 to 256 for engine=threads"},
        {"engine=threads&ranks=256&bytes=1TiB", "bytes=1TiB: must be at most "},
        {"engine=threads&ranks=256&bytes=4KiB&iterations=1000",
         "iterations=1000: must be at most 76: "},
        {"engine=threads&set=rank.0.start:1us",
         "set=rank.0.start:1us: acts on a simulated run only; engine=threads measures"},
        {"engine=threads&change=1ms:bandwidth:1GB/s",
         "change=1ms:bandwidth:1GB/s: acts on a simulated run only"},
        {"engine=threads&recovery=shrink", "recovery=shrink: acts on a simulated run only"},
        {"engine=threads&timeout=2s", "timeout=2s: acts on a simulated run only"},
        {"engine=simulator", "engine=simulator: measures nothing"},
        {"engine=cuda", "engine=cuda: not part of this version"},
        {"engine=abacus", "engine=abacus: must be one of simulator threads"},
    };
    for (const Refusal& refusal : refusals) {
        const auto run = parse_run(refusal.line);
        ASSERT_TRUE(run) << run.error().message;
        const auto engine = find_engine(*run);
        ASSERT_FALSE(engine) << refusal.line;
        EXPECT_TRUE(engine.error().message.starts_with(refusal.message)) << engine.error().message;
        EXPECT_FALSE(engine.error().field.empty());
    }
}

TEST(ThreadsEngineLimits, TheLargestNumberOfRanksWorks) {
    const Measured measured = measure(threads_run(256, 257));
    EXPECT_EQ(measured.outcome, Outcome());
    EXPECT_EQ(std::ssize(measured.events), 2 * 256 * 255);
}

}  // namespace
}  // namespace ringscope
