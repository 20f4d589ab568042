// SPDX-License-Identifier: Apache-2.0
#include "shared/replay.hpp"

#include <algorithm>

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

void expect_same_buffers(const Buffers& a, const Buffers& b, const Schedule& schedule) {
    for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
        for (int32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
            ASSERT_EQ(a.contributions(rank, chunk), b.contributions(rank, chunk))
                << rank << " " << chunk;
            for (int64_t i = 0; i < a.samples(chunk); ++i) {
                ASSERT_EQ(a.value(rank, chunk, i), b.value(rank, chunk, i)) << rank << " " << chunk;
            }
        }
    }
}

TEST(Replay, AtEveryMomentItHoldsWhatTheSimulatorHeld) {
    for (const char* line : {"ranks=5&bytes=92",
                             "ranks=4&bytes=64MiB&set=link.1-2.bandwidth:5GB/s",
                             "ranks=6&bytes=0&latency=0",
                             "ranks=3&bytes=24&latency=0&bandwidth=1000TB/s"}) {
        const RunSpec run = run_of(line);
        const Trace trace = trace_of(run);
        auto replay = Replay::create(run);
        replay->add(trace.events);
        auto simulator = Simulator::create(run);
        while (!simulator->done()) {
            simulator->advance_to(simulator->next_event_ps());
            replay->seek(simulator->now_ps());
            expect_same_buffers(replay->buffers(), simulator->buffers(), replay->schedule());
        }
        EXPECT_TRUE(replay->buffers().complete());
        EXPECT_TRUE(replay->in_flight().empty());
    }
}

TEST(Replay, BackwardsAndForwardsAndInAnyOrderOfArrivalIsTheSame) {
    const Trace trace = trace_of(run_of("ranks=7&bytes=1000"));
    std::vector<Event> shuffled = trace.events;
    Dice dice(10);
    for (size_t i = shuffled.size() - 1; i > 0; --i) {
        std::swap(shuffled[i],
                  shuffled[static_cast<size_t>(dice.below(static_cast<int64_t>(i) + 1))]);
    }
    auto jumping = Replay::create(trace.run);
    jumping->add(shuffled);
    for (int i = 0; i < 100; ++i) {
        const int64_t time_ps = dice.below(end_ps(trace) + 1);
        jumping->seek(time_ps);
        auto fresh = Replay::create(trace.run);
        fresh->add(trace.events);
        fresh->seek(time_ps);
        expect_same_buffers(jumping->buffers(), fresh->buffers(), fresh->schedule());
        EXPECT_EQ(jumping->in_flight().size(), fresh->in_flight().size());
    }
}

// Runs whose rounds differ: after a death, with iterations, with knobs that hold from the next one.
const char* const runs_of_several_rounds[] = {
    "ranks=7&bytes=1000&change=1us:rank.3.alive:0&recovery=shrink&timeout=20us",
    "ranks=5&bytes=1000&change=1us:rank.0.alive:0&recovery=restart&timeout=20us&iterations=2",
    "ranks=4&bytes=1000&iterations=3",
    "ranks=4&bytes=1000&iterations=3&change=1us:ranks:6&change=8us:bytes:200",
    ("ranks=6&bytes=1000&iterations=3&recovery=shrink&timeout=20us&change=1us:rank.2.alive:0&"
     "change=40us:rank.5.alive:0&change=45us:rank.2.alive:1"),
};

TEST(Replay, RoundsOfOtherSchedulesAreHeldAsTheSimulatorHeldThem) {
    for (const char* line : runs_of_several_rounds) {
        const Trace trace = trace_of(run_of(line));
        ASSERT_EQ(trace.outcome.kind, OutcomeKind::ok) << line << " " << trace.outcome.reason;
        auto replay = Replay::create(trace.run);
        ASSERT_TRUE(replay->add_rounds(trace.rounds));
        replay->add(trace.events);
        auto simulator = Simulator::create(trace.run);
        while (!simulator->done()) {
            simulator->advance_to(simulator->next_event_ps());
            replay->seek(simulator->now_ps());
            const auto round = static_cast<int32_t>(simulator->rounds().size()) - 1;
            if (replay->iteration() == round) {  // else: its first hop has not left yet
                expect_same_buffers(replay->buffers(), simulator->buffers(), simulator->schedule());
            }
        }
        EXPECT_TRUE(replay->buffers().complete());
        EXPECT_EQ(replay->round_count(), std::ssize(simulator->rounds()));
        EXPECT_EQ(replay->schedule().members, simulator->schedule().members);
    }
}

TEST(Replay, RoundsInAnyOrderOfArrivalAndForwardsAndBackwardsAreTheSame) {
    Dice dice(12);
    for (const char* line : runs_of_several_rounds) {
        const Trace trace = trace_of(run_of(line));
        std::vector<Event> shuffled = trace.events;
        for (size_t i = shuffled.size() - 1; i > 0; --i) {
            std::swap(shuffled[i],
                      shuffled[static_cast<size_t>(dice.below(static_cast<int64_t>(i) + 1))]);
        }
        auto jumping = Replay::create(trace.run);
        const std::vector<Round> last_first(trace.rounds.rbegin(), trace.rounds.rend());
        ASSERT_TRUE(jumping->add_rounds(last_first));
        jumping->add(shuffled);
        for (int i = 0; i < 100; ++i) {
            const int64_t time_ps = dice.below(end_ps(trace) + 1);
            jumping->seek(time_ps);
            auto fresh = Replay::create(trace.run);
            ASSERT_TRUE(fresh->add_rounds(trace.rounds));
            fresh->add(trace.events);
            fresh->seek(time_ps);
            ASSERT_EQ(jumping->iteration(), fresh->iteration());
            expect_same_buffers(jumping->buffers(), fresh->buffers(), fresh->schedule());
            EXPECT_EQ(jumping->in_flight().size(), fresh->in_flight().size());
        }
    }
}

TEST(Replay, AfterAShrinkTheOthersHoldTheirOwnSums) {
    const Trace trace = trace_of(
        run_of("ranks=8&bytes=1024&change=1us:rank.3.alive:0&recovery=shrink&timeout=20us"));
    auto replay = Replay::create(trace.run);
    ASSERT_TRUE(replay->add_rounds(trace.rounds));
    replay->add(trace.events);
    replay->seek(trace.rounds.front().begin_ps - 1);
    EXPECT_EQ(replay->schedule().contributor_count(), 8);
    replay->seek(trace.rounds.front().begin_ps);
    EXPECT_EQ(replay->schedule().contributor_count(), 7);
    EXPECT_EQ(replay->buffers().contributions(2, 0), 1);
    EXPECT_EQ(replay->buffers().contributions(3, 0), 0);
    replay->seek(end_ps(trace));
    EXPECT_EQ(replay->buffers().contributions(4, 6), 7);
    EXPECT_TRUE(replay->buffers().complete());
}

TEST(Replay, AGrowingTraceCanBeWatched) {
    const Trace trace = trace_of(run_of("ranks=4&bytes=400"));
    auto live = Replay::create(trace.run);
    for (const Event& event : trace.events) {
        live->add({&event, 1});
        live->seek(event.end_ps);
    }
    EXPECT_TRUE(live->buffers().complete());
    EXPECT_EQ(live->end_ps(), end_ps(trace));
}

TEST(Replay, HalfWayThroughAStepTheMessagesAreInFlight) {
    auto replay = Replay::create(run_of("ranks=4&bytes=400&bandwidth=1GB/s&latency=0"));
    replay->add(trace_of(run_of("ranks=4&bytes=400&bandwidth=1GB/s&latency=0")).events);
    replay->seek(50'000);  // a step of 100 bytes takes 100 ns
    EXPECT_EQ(replay->in_flight().size(), 4U);
    EXPECT_EQ(replay->buffers().contributions(1, 0), 1);
    replay->seek(100'000);
    EXPECT_EQ(replay->buffers().contributions(1, 0), 2);
}

// Every line is well formed, the whole is nonsense: sums overflow, nothing fits. It must only not
// crash.
TEST(Replay, ANonsensicalTraceIsHarmless) {
    const RunSpec run = run_of("ranks=3&bytes=36&iterations=2&engine=threads");
    auto replay = Replay::create(run);
    Dice dice(11);
    std::vector<Event> events;
    for (int i = 0; i < 500; ++i) {
        Event event;
        event.iteration = static_cast<int32_t>(dice.below(2));
        event.transfer = {.step = static_cast<int32_t>(dice.below(4)),
                          .source_rank = static_cast<int32_t>(dice.below(3)),
                          .target_rank = static_cast<int32_t>(dice.below(3)),
                          .action = Action::reduce,
                          .chunk_begin = 0,
                          .chunk_count = 3};
        event.begin_ps = dice.below(1000);
        event.end_ps = event.begin_ps + dice.below(1000);
        events.push_back(event);
    }
    replay->add(events);
    for (int64_t time_ps = 2000; time_ps >= 0; time_ps -= 37) {
        replay->seek(time_ps);
    }
    EXPECT_LE(replay->buffers().contributions(0, 0), 1 << 20);
}

}  // namespace
}  // namespace ringscope
