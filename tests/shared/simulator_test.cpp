// SPDX-License-Identifier: Apache-2.0
#include "shared/simulator.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/report.hpp"
#include "shared/trace_codec.hpp"
#include "shared/units.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

struct Wire {
    int64_t bandwidth_bytes_per_s = 0;
    int64_t latency_ps = 0;
};

// The message recurrence of a ring, written down on its own, as the golden reference:
//   send(j, s) starts at max(recv(j, s-1), linkfree(j), start(j)); linkfree = that + bytes / B_j;
//   recv(j+1, s) = linkfree + alpha_j.
int64_t ring_recurrence_ps(const RunSpec& run,
                           const std::vector<Wire>& links,
                           const std::vector<int64_t>& starts) {
    const Schedule schedule = *build_schedule("ring", run.problem);
    const int32_t n = run.problem.rank_count;
    std::vector<int64_t> received = starts;
    std::vector<int64_t> free(links.size(), 0);
    int64_t end = 0;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        std::vector<int64_t> next(received.size());
        for (int32_t j = 0; j < n; ++j) {
            const auto source = static_cast<size_t>(j);
            const auto target = static_cast<size_t>((j + 1) % n);
            std::vector<Transfer> sends;
            schedule.append_sends(0, step, j, sends);
            free[source] =
                std::max({received[source], free[source], starts[source]}) +
                transfer_ps(schedule.bytes(sends[0]), links[source].bandwidth_bytes_per_s);
            next[target] = free[source] + links[source].latency_ps;
            end = std::max(end, next[target]);
        }
        received = next;
    }
    return end;
}

// When N does not divide the buffer, the longer chunks set the pace only where a rank has to wait
// for them: the closed form is then a bound, and the recurrence the exact value.
TEST(Simulator, AUniformRingTakesExactlyItsClosedFormOrTheRecurrence) {
    for (int32_t rank_count = 1; rank_count <= 17; ++rank_count) {
        for (const int64_t element_count : awkward_element_counts(rank_count)) {
            for (const int64_t latency_ps : {int64_t{0}, int64_t{1}, int64_t{500'000}}) {
                RunSpec run = small_run(rank_count, element_count);
                run.latency_ps = latency_ps;
                const Trace trace = trace_of(run);
                const int64_t closed_form_ps = find_algorithm("ring")->closed_form_ps(
                    *build_schedule("ring", run.problem), run.bandwidth_bytes_per_s, latency_ps);
                const auto n = static_cast<size_t>(rank_count);
                EXPECT_EQ(end_ps(trace),
                          ring_recurrence_ps(
                              run,
                              std::vector<Wire>(n, {run.bandwidth_bytes_per_s, latency_ps}),
                              std::vector<int64_t>(n, 0)));
                if (element_count % rank_count == 0) {
                    EXPECT_EQ(end_ps(trace), closed_form_ps);
                } else {
                    EXPECT_LE(end_ps(trace), closed_form_ps);
                }
                EXPECT_EQ(trace.outcome, Outcome{});
            }
        }
    }
}

// 14 x (500 ns + 8 MiB / 50 GB/s) = 14 x (500 000 + 167 772 160) ps, by hand.
TEST(Simulator, EightRanksAnd64MiBTakeTwoPointThreeFiveSixMilliseconds) {
    EXPECT_EQ(end_ps(trace_of(run_of("ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns"))),
              2'355'810'240);
}

TEST(Simulator, RandomRingsEqualTheMessageRecurrence) {
    Dice dice(5);
    for (int i = 0; i < 300; ++i) {
        const auto n = static_cast<int32_t>(2 + dice.below(16));
        RunSpec run = small_run(n, dice.below(2000));
        std::vector<Wire> links;
        std::vector<int64_t> starts;
        for (int32_t rank = 0; rank < n; ++rank) {
            links.push_back({1 + dice.below(1'000'000'000), dice.below(1'000'000'000)});
            starts.push_back(dice.below(3) == 0 ? dice.below(1'000'000'000) : 0);
            const int32_t next = (rank + 1) % n;
            run.settings.push_back(
                {Knob::Kind::link_bandwidth, rank, next, links.back().bandwidth_bytes_per_s});
            run.settings.push_back({Knob::Kind::link_latency, rank, next, links.back().latency_ps});
            run.settings.push_back({Knob::Kind::rank_start, rank, 0, starts.back()});
        }
        EXPECT_EQ(end_ps(trace_of(run)), ring_recurrence_ps(run, links, starts)) << print_run(run);
    }
}

// One slow link, N > 2: T = max(2(N-1) c_s + alpha, (N-1)(c + c_s) + (N+1) alpha,
// 2(N-1)(alpha + c) + 2(c_s - c)), with c, c_s the wire times of a chunk. Follows from the
// recurrence.
TEST(Simulator, OneSlowLinkTakesItsClosedForm) {
    for (const int64_t n : {3, 4, 8, 16}) {
        for (const int64_t slowdown : {1, 2, 10, 100}) {
            for (const int64_t alpha : {0, 1000, 500'000, 50'000'000}) {
                RunSpec run = small_run(static_cast<int32_t>(n), 1000 * n);
                run.bandwidth_bytes_per_s = 4'000'000'000;
                run.latency_ps = alpha;
                run.settings.push_back(
                    {Knob::Kind::link_bandwidth, 1, 2, run.bandwidth_bytes_per_s / slowdown});
                const int64_t c = 1'000'000;  // 4000 bytes at 4 GB/s
                const int64_t slow = c * slowdown;
                const int64_t expected = std::max({2 * (n - 1) * slow + alpha,
                                                   (n - 1) * (c + slow) + (n + 1) * alpha,
                                                   2 * (n - 1) * (alpha + c) + 2 * (slow - c)});
                EXPECT_EQ(end_ps(trace_of(run)), expected) << print_run(run);
            }
        }
    }
}

TEST(Simulator, OneLongLatencyCountsTwiceAndALateRankOnce) {
    RunSpec run = small_run(8, 8000);
    const int64_t even_ps = end_ps(trace_of(run));
    RunSpec late = run;
    late.settings.push_back({Knob::Kind::rank_start, 3, 0, 7'000'000});
    EXPECT_EQ(end_ps(trace_of(late)), even_ps + 7'000'000);
    RunSpec far = run;
    far.settings.push_back({Knob::Kind::link_latency, 3, 4, run.latency_ps + 9'000'000});
    EXPECT_EQ(end_ps(trace_of(far)), even_ps + 2 * 9'000'000);
}

TEST(Simulator, NoRunBeatsTheLowerBound) {
    Dice dice(6);
    for (int i = 0; i < 500; ++i) {
        RunSpec run = small_run(static_cast<int32_t>(1 + dice.below(20)), dice.below(100'000));
        run.bandwidth_bytes_per_s = 1 + dice.below(int64_t{1} << (1 + dice.below(40)));
        run.latency_ps = dice.below(1000);
        if (dice.below(2) == 0) {
            run.changes.push_back(
                {dice.below(1'000'000),
                 {Knob::Kind::bandwidth, 0, 0, 1 + dice.below(1'000'000'000'000)}});
        }
        const Report report = make_report(trace_of(run));
        EXPECT_GE(report.duration_ps, report.lower_bound_ps) << print_run(run);
    }
}

// Two ranks, one chunk of 1000 bytes each way, 1 GB/s, no latency: a step takes 1 us. At 0.25 us
// the rate drops to a tenth: 0.75 us of wire time become 7.5 us, the second step takes 10 us.
TEST(Simulator, ABandwidthThatDropsRetimesWhatIsOnTheWire) {
    const Trace trace = trace_of(
        run_of("ranks=2&bytes=2000&bandwidth=1GB/s&latency=0&change=250ns:bandwidth:100MB/s"));
    ASSERT_EQ(trace.events.size(), 4U);
    EXPECT_EQ(trace.events[0].end_ps, 250'000 + 7'500'000);
    EXPECT_EQ(trace.events[3].end_ps, 250'000 + 7'500'000 + 10'000'000);
}

// The last byte left at 1 us and needs 4 us more; at 2 us, with 3 us to go, the latency halves.
TEST(Simulator, ALatencyThatDropsRetimesWhatIsInTheAir) {
    const Trace trace =
        trace_of(run_of("ranks=2&bytes=2000&bandwidth=1GB/s&latency=4us&change=2us:latency:2us"));
    EXPECT_EQ(trace.events[0].end_ps, 2'000'000 + 1'500'000);
    EXPECT_EQ(trace.events[3].end_ps, 3'500'000 + 1'000'000 + 2'000'000);
}

TEST(Simulator, OneLinkCanChangeAlone) {
    const Trace trace = trace_of(run_of(
        "ranks=2&bytes=2000&bandwidth=1GB/s&latency=0&change=0s:link.0-1.bandwidth:500MB/s"));
    for (const Event& event : trace.events) {
        EXPECT_EQ(event.end_ps - event.begin_ps,
                  event.transfer.source_rank == 0 ? 2'000'000 : 1'000'000);
    }
}

RunSpec random_run_with_changes(Dice& dice) {
    RunSpec run = small_run(static_cast<int32_t>(2 + dice.below(9)), dice.below(5000));
    run.bandwidth_bytes_per_s = 1'000'000'000 + dice.below(1'000'000'000);
    run.latency_ps = dice.below(3'000'000);
    for (int64_t left = dice.below(5); left > 0; --left) {
        const auto source = static_cast<int32_t>(dice.below(run.problem.rank_count));
        const int32_t target = (source + 1) % run.problem.rank_count;
        const Knob knobs[] = {
            {Knob::Kind::bandwidth, 0, 0, 1 + dice.below(3'000'000'000)},
            {Knob::Kind::latency, 0, 0, dice.below(3'000'000)},
            {Knob::Kind::link_bandwidth, source, target, 1'000'000 + dice.below(1'000'000'000)},
            {Knob::Kind::link_latency, source, target, dice.below(9'000'000)}};
        insert_change(run, {dice.below(20'000'000), knobs[dice.below(4)]});
    }
    return run;
}

TEST(Simulator, OneLeapEqualsManySmallOnes) {
    Dice dice(7);
    for (int i = 0; i < 200; ++i) {
        const RunSpec run = random_run_with_changes(dice);
        auto leap = Simulator::create(run);
        leap->advance_to(time_ps_max);
        auto walk = Simulator::create(run);
        std::vector<Event> events;
        for (int64_t time_ps = 0; !walk->done(); time_ps += 1 + dice.below(2'000'000)) {
            walk->advance_to(time_ps);
            const auto more = walk->take_events();
            events.insert(events.end(), more.begin(), more.end());
        }
        EXPECT_EQ(leap->take_events(), events) << print_run(run);
        EXPECT_EQ(leap->outcome(), Outcome{});
    }
}

TEST(Simulator, KnobsTurnedByHandReplayFromTheRunLineByteForByte) {
    Dice dice(8);
    for (int i = 0; i < 200; ++i) {
        RunSpec run = random_run_with_changes(dice);
        const std::vector<Change> changes = std::move(run.changes);
        run.changes.clear();
        auto played = Simulator::create(run);
        for (const Change& change : changes) {
            played->advance_to(change.time_ps);
            if (played->done()) {
                break;
            }
            ASSERT_TRUE(played->apply(change.knob));
        }
        played->advance_to(time_ps_max);
        const Trace trace{played->run(), played->take_events(), played->outcome()};
        EXPECT_EQ(encode(trace), encode(trace_of(run_of(print_run(played->run())))))
            << print_run(played->run());
    }
}

TEST(Simulator, MessagesOfALinkDoNotOvertakeEachOther) {
    Dice dice(9);
    for (int i = 0; i < 200; ++i) {
        const Trace trace = trace_of(random_run_with_changes(dice));
        std::map<int32_t, std::pair<int32_t, int64_t>> last;  // source rank -> step, end
        for (const Event& event : trace.events) {
            auto& [step, end] = last[event.transfer.source_rank];
            EXPECT_GE(event.transfer.step, step);
            EXPECT_GE(event.end_ps, end);
            step = event.transfer.step;
            end = event.end_ps;
        }
    }
}

TEST(Simulator, WhatItCannotDoIsRefused) {
    EXPECT_EQ(Simulator::create(run_of("engine=threads")).error().message,
              "engine=threads: is not simulated; leave engine out or run it on a machine");
    EXPECT_EQ(Simulator::create(run_of("change=1ms:bytes:1MiB")).error().field, "change");
    EXPECT_EQ(Simulator::create(run_of("set=link.a-b.up:0")).error().field, "link.a-b.up");
    EXPECT_EQ(Simulator::create(run_of("bandwidth=1B/s&bytes=1TiB")).error().field, "bandwidth");
    EXPECT_EQ(
        Simulator::create(run_of("ranks=4096&latency=1000s&change=1s:bandwidth:1B/s&bytes=1TiB"))
            .error()
            .field,
        "bandwidth");
    auto simulator = Simulator::create(run_of("ranks=4"));
    EXPECT_FALSE(simulator->apply({Knob::Kind::bandwidth, 0, 0, 0}));
    EXPECT_FALSE(simulator->apply({Knob::Kind::link_latency, 1, 9, 5}));
    EXPECT_TRUE(simulator->run().changes.empty());
}

TEST(Simulator, TheSlowestRunThatIsAllowedEnds) {
    const Trace trace = trace_of(run_of("ranks=3&bytes=12&bandwidth=1B/s&latency=1000s"));
    EXPECT_EQ(end_ps(trace), 4 * (1000 + 4) * ps_per_s);
}

}  // namespace
}  // namespace ringscope
