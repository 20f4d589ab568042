// SPDX-License-Identifier: Apache-2.0
// Failures and what comes of them: every one ends in a right sum or in words that name the culprit.
#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/simulator.hpp"
#include "shared/trace_codec.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t misfortune_count = 300;
#else
constexpr uint64_t misfortune_count = 10'000;
#endif

constexpr std::string_view small_ring = "ranks=8&bytes=64MiB&";

Trace broken_run(const std::string& rest) {
    return trace_of(run_of(std::string(small_ring) + rest));
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Recovery, ADeadRankHangsTheRingAndIsNamedWithWhoWaits) {
    const Trace trace = broken_run("change=1ms:rank.3.alive:0");
    EXPECT_EQ(trace.outcome.kind, OutcomeKind::timeout);
    EXPECT_TRUE(says(trace.outcome.reason, "rank 3 died at 1 ms")) << trace.outcome.reason;
    EXPECT_TRUE(says(trace.outcome.reason, "rank 4 waits for rank 3 in step 5"))
        << trace.outcome.reason;
}

// The chunk under way at 1 ms is that of step 5 (168.272 160 us each); the ring then runs dry.
TEST(Recovery, NothingIsDeliveredByTheDead) {
    const Trace trace = broken_run("change=1ms:rank.3.alive:0");
    for (const Event& event : trace.events) {
        if (event.transfer.source_rank == 3) {
            EXPECT_LT(event.transfer.step, 5);
        }
        if (event.transfer.target_rank == 3) {
            EXPECT_LE(event.end_ps, 1'000'000'000);
        }
    }
}

TEST(Recovery, ShrinkRepeatsItWithSevenAndRestartWithAllEight) {
    const Trace shrunk = broken_run("change=1ms:rank.3.alive:0&recovery=shrink&timeout=1ms");
    EXPECT_EQ(shrunk.outcome, Outcome{});
    ASSERT_EQ(shrunk.rounds.size(), 1U);
    EXPECT_EQ(shrunk.rounds[0].members, (std::vector<int32_t>{0, 1, 2, 4, 5, 6, 7}));
    EXPECT_EQ(std::count_if(shrunk.events.begin(),
                            shrunk.events.end(),
                            [](const Event& event) { return event.iteration == 1; }),
              2 * 7 * 6);
    const Trace restarted = broken_run("change=1ms:rank.3.alive:0&recovery=restart&timeout=1ms");
    EXPECT_EQ(restarted.outcome, Outcome{});
    EXPECT_EQ(end_ps(restarted) - restarted.rounds[0].begin_ps, 2'355'810'240);
}

// After the others have gone on, the ring of seven is a fresh ring of seven: the same times.
TEST(Recovery, TheRingThatIsLeftIsAFreshRingOfSeven) {
    const Trace shrunk = broken_run("change=1ms:rank.3.alive:0&recovery=shrink");
    const Trace fresh = trace_of(run_of("ranks=7&bytes=64MiB"));
    EXPECT_EQ(end_ps(shrunk) - shrunk.rounds[0].begin_ps, end_ps(fresh));
}

TEST(Recovery, AFrozenRankThatGoesOnInTimeOnlyCostsTime) {
    const Trace thawed = broken_run("change=1ms:rank.3.frozen:1&change=2ms:rank.3.frozen:0");
    EXPECT_EQ(thawed.outcome, Outcome{});
    EXPECT_GT(end_ps(thawed), 3'000'000'000);
    const Trace frozen = broken_run("change=1ms:rank.3.frozen:1");
    EXPECT_EQ(frozen.outcome.kind, OutcomeKind::timeout);
    EXPECT_TRUE(says(frozen.outcome.reason, "rank 3 froze at 1 ms")) << frozen.outcome.reason;
}

// A delay on one rank delays a ring by exactly that, when it falls between its sends.
TEST(Recovery, ADelayedRankDelaysTheRing) {
    const Trace trace = broken_run("change=1ms:rank.3.delay:5ms");
    EXPECT_EQ(trace.outcome, Outcome{});
    const int64_t late_ps = end_ps(trace) - 2'355'810'240;
    EXPECT_GT(late_ps, 4'800'000'000);
    EXPECT_LE(late_ps, 5'000'000'000);
}

TEST(Recovery, ACutLinkIsNamedAndCanBeRestored) {
    const Trace cut = broken_run("change=1ms:link.3-4.up:0");
    EXPECT_EQ(cut.outcome.kind, OutcomeKind::timeout);
    EXPECT_TRUE(says(cut.outcome.reason, "the link is cut from rank 3 to rank 4"))
        << cut.outcome.reason;
    const Trace restored = broken_run("change=1ms:link.3-4.up:0&change=3ms:link.3-4.up:1");
    EXPECT_EQ(restored.outcome, Outcome{});
    EXPECT_EQ(end_ps(restored), 2'355'810'240 + 2'000'000'000);
    const Trace port = broken_run("change=1ms:link.gpu3-network0.up:0&recovery=shrink");
    EXPECT_EQ(port.outcome, Outcome{}) << port.outcome.reason;
    EXPECT_EQ(port.rounds[0].members, (std::vector<int32_t>{0, 1, 2, 4, 5, 6, 7}));
}

TEST(Recovery, ALostMessageIsSentAgain) {
    const Trace lost = broken_run("change=1ms:link.3-4.fault:drop");
    EXPECT_EQ(lost.outcome.kind, OutcomeKind::timeout);
    EXPECT_TRUE(says(lost.outcome.reason, "the message of rank 3 to rank 4 in step 6 was lost"))
        << lost.outcome.reason;
    const Trace resumed = broken_run("change=1ms:link.3-4.fault:drop&recovery=resume");
    EXPECT_EQ(resumed.outcome, Outcome{});
    EXPECT_EQ(resumed.events.size(), 112U);  // nothing is done twice
}

TEST(Recovery, AWrongSumIsCalledWrong) {
    const std::pair<std::string, std::string> faults[] = {{"duplicate", "of 8 inputs in chunk"},
                                                          {"corrupt", "is right"},
                                                          {"empty", "of 8 inputs in chunk"}};
    for (const auto& [fault, words] : faults) {
        const Trace trace = broken_run("set=link.3-4.fault:" + fault);
        EXPECT_EQ(trace.outcome.kind, OutcomeKind::wrong) << fault;
        EXPECT_TRUE(says(trace.outcome.reason, words)) << trace.outcome.reason;
    }
}

TEST(Recovery, RanksThatDisagreeOnTheSizeAreNamed) {
    const Trace trace = broken_run("set=rank.3.bytes:32MiB");
    EXPECT_EQ(trace.outcome.kind, OutcomeKind::failed);
    EXPECT_EQ(trace.outcome.reason.substr(0, 53),
              "rank 3 sends 4 MiB where rank 4 expects 8 MiB, in ste");
}

TEST(Recovery, AChangeHoldsFromTheNextIterationOn) {
    const Trace trace = trace_of(
        run_of("ranks=8&bytes=64MiB&iterations=3&change=1ms:bytes:32MiB&change=3ms:ranks:5"));
    EXPECT_EQ(trace.outcome, Outcome{});
    ASSERT_EQ(trace.rounds.size(), 2U);
    EXPECT_EQ(trace.rounds[0].problem.element_count, (int64_t{32} << 20) / 4);
    EXPECT_EQ(trace.rounds[1].problem.rank_count, 5);
    EXPECT_EQ(trace.events.size(), 112U + 112U + 40U);
    EXPECT_EQ(Simulator::create(run_of("change=1ms:bytes:32MiB")).error().field, "change");
}

// A random run with random misfortunes.
RunSpec random_misfortune(Dice& dice) {
    RunSpec run;
    run.problem.rank_count = static_cast<int32_t>(1 + dice.below(10));
    const int32_t n = run.problem.rank_count;
    const auto& all = algorithms();
    run.algorithm = all[static_cast<size_t>(dice.below(std::ssize(all)))]->name;
    run.problem.element_count = dice.below(3000);
    run.bandwidth_bytes_per_s = 1'000'000'000;
    run.latency_ps = dice.below(2'000'000);
    run.timeout_ps = 1 + dice.below(100'000'000);
    run.recovery = static_cast<Recovery>(dice.below(4));
    run.iterations = 1 + dice.below(2);
    run.chunks = static_cast<int32_t>(dice.below(3));
    run.slots = static_cast<int32_t>(dice.below(3));
    for (int64_t left = 1 + dice.below(4); left > 0; --left) {
        const auto rank = static_cast<int32_t>(dice.below(n));
        const auto other = static_cast<int32_t>((rank + 1 + dice.below(std::max(1, n - 1))) % n);
        const bool apart = rank != other;
        const Knob knobs[] = {
            {Knob::Kind::rank_alive, rank, 0, 0},
            {Knob::Kind::rank_frozen, rank, 0, dice.below(2)},
            {Knob::Kind::rank_delay, rank, 0, dice.below(20'000'000)},
            {Knob::Kind::rank_slowdown, rank, 0, 1000 + dice.below(9000)},
            {Knob::Kind::rank_alive, rank, 0, dice.below(2)},
            {apart ? Knob::Kind::link_up : Knob::Kind::latency, rank, other, dice.below(2)},
            {apart ? Knob::Kind::link_fault : Knob::Kind::latency, rank, other, dice.below(4)},
            {apart ? Knob::Kind::link_latency : Knob::Kind::latency, rank, other, dice.below(9999)},
        };
        insert_change(run, {dice.below(30'000'000), knobs[dice.below(8)]});
    }
    return run;
}

// Ten thousand seeds; a few hundred where a sanitizer looks on. The failing one is printed as a run
// line.
TEST(Recovery, EveryMisfortuneEndsInARightSumOrANamedFailure) {
    for (uint64_t seed = 1; seed <= misfortune_count; ++seed) {
        Dice dice(seed);
        const RunSpec run = random_misfortune(dice);
        auto simulator = Simulator::create(run);
        if (!simulator) {
            continue;  // an algorithm that cannot do this many ranks says so
        }
        int64_t events = 0;
        while (!simulator->done() && events < 1'000'000) {
            simulator->advance_by(1000);
            events += std::ssize(simulator->take_events());
        }
        ASSERT_TRUE(simulator->done()) << "seed " << seed << ": " << print_run(run);
        const Outcome& outcome = simulator->outcome();
        if (outcome.kind == OutcomeKind::ok) {
            EXPECT_TRUE(simulator->buffers().complete()) << "seed " << seed;
        } else {
            EXPECT_TRUE(says(outcome.reason, "rank "))
                << "seed " << seed << ": " << print_run(run) << " says: " << outcome.reason;
        }
    }
}

// All single deaths and cuts at every step of a ring of 2 to 6: with shrink the others always end
// with a right sum, and who is blamed is who died.
TEST(Recovery, EverySingleDeathAtEveryStepIsSurvivedAndBlamedRightly) {
    for (int32_t n = 2; n <= 6; ++n) {
        for (int32_t rank = 0; rank < n; ++rank) {
            for (int32_t step = 0; step < 2 * (n - 1); ++step) {
                RunSpec run = small_run(n, 1000 * n);
                run.bandwidth_bytes_per_s = 4'000'000'000;  // a step: 1 us and 0.5 us
                run.changes = {{step * 1'500'000 + 700'000, {Knob::Kind::rank_alive, rank, 0, 0}}};
                const Trace hung = trace_of(run);
                EXPECT_EQ(hung.outcome.kind, OutcomeKind::timeout);
                EXPECT_TRUE(says(hung.outcome.reason, "rank " + std::to_string(rank) + " died"))
                    << hung.outcome.reason;
                run.recovery = Recovery::shrink;
                EXPECT_EQ(trace_of(run).outcome, Outcome{}) << print_run(run);
            }
        }
    }
}

}  // namespace
}  // namespace ringscope
