// SPDX-License-Identifier: Apache-2.0
// The simulator against closed forms, over all algorithms and topologies.
#include <algorithm>
#include <numeric>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/nccl_presets.hpp"
#include "shared/report.hpp"
#include "shared/units.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

// The same run with a buffer that all chunks share evenly.
RunSpec evenly(RunSpec run, int64_t chunk_elements) {
    const auto schedule = build_schedule(run);
    EXPECT_TRUE(schedule) << schedule.error().message;
    run.problem.element_count = chunk_elements * schedule->chunk_count;
    // The default number of pieces may follow the size; then what is even is a guess, and checked.
    const auto again = build_schedule(run);
    run.problem.element_count = chunk_elements * again->chunk_count;
    return run;
}

bool is_exact(const Schedule& schedule) {
    const auto exact = schedule.algorithm->closed_form_exact;
    return schedule.problem.element_count % schedule.chunk_count == 0 &&
           (exact == nullptr || exact(schedule));
}

TEST(Exact, EveryAlgorithmOnAUniformNetworkTakesItsClosedForm) {
    int64_t exact_count = 0;
    for (const Algorithm* algorithm : algorithms()) {
        for (const int32_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17}) {
            for (const int32_t channels : {0, 2}) {
                for (const int32_t pieces : {1, 4}) {
                    RunSpec run = small_run(n, 1);
                    run.algorithm = algorithm->name;
                    run.channels = channels;
                    run.chunks = pieces;
                    run.bandwidth_bytes_per_s = 4'000'000'000;
                    if (!build_schedule(run)) {
                        continue;  // an algorithm that cannot do this says so, in its own tests
                    }
                    run = evenly(run, 250);
                    for (const int64_t latency_ps : {0, 100'000, 5'000'000}) {
                        run.latency_ps = latency_ps;
                        const Schedule schedule = *build_schedule(run);
                        const int64_t formula_ps = algorithm->closed_form_ps(
                            schedule, run.bandwidth_bytes_per_s, latency_ps);
                        const int64_t time_ps = end_ps(trace_of(run));
                        const int64_t rounding_ps = schedule.step_count * schedule.piece_count + 1;
                        if (is_exact(schedule)) {
                            ++exact_count;
                            EXPECT_LE(std::abs(time_ps - formula_ps), rounding_ps)
                                << print_run(run) << ": " << time_ps << " and " << formula_ps;
                        } else {
                            EXPECT_LE(time_ps, formula_ps + rounding_ps) << print_run(run);
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(exact_count, 500);
}

// k pieces on the same ring: max(2(N-1)c + alpha, 2(N-1)(alpha + c/k) + (k-1)c/k).
TEST(Exact, PiecesHideLatencyUntilTheLinkNeverIdles) {
    for (const int64_t n : {2, 3, 8, 16}) {
        for (const int64_t k : {1, 2, 4, 16}) {
            for (const int64_t alpha : {0, 1000, 300'000, 4'000'000}) {
                RunSpec run = small_run(static_cast<int32_t>(n), n * k * 1000);
                run.bandwidth_bytes_per_s = 4'000'000'000;  // 1000 elements: 1 us
                run.latency_ps = alpha;
                run.chunks = static_cast<int32_t>(k);
                const int64_t piece = 1'000'000;
                const int64_t expected =
                    std::max(2 * (n - 1) * piece * k + alpha,
                             2 * (n - 1) * (alpha + piece) + (k - 1) * piece);
                EXPECT_EQ(end_ps(trace_of(run)), expected) << print_run(run);
            }
        }
    }
}

// r rings that share each link: each has B/r and S/r, so the time is that of one.
TEST(Exact, RingsSideBySideOnTheSameLinksTakeTheTimeOfOne) {
    for (const int32_t r : {1, 2, 3, 4, 8}) {
        RunSpec run = small_run(8, 8 * 24 * 1000);
        run.bandwidth_bytes_per_s = 4'000'000'000;
        run.channels = r;
        EXPECT_EQ(end_ps(trace_of(run)), 14 * (500'000 + 24'000'000)) << r;
    }
}

// Store-and-forward over q equal links per hop: q (alpha + c) a step; cut-through: q alpha + c.
TEST(Exact, StoringOnTheWayCostsTheBytesOncePerLink) {
    RunSpec run = small_run(6, 6000);
    run.topology = "single_switch";
    run.bandwidth_bytes_per_s = 4'000'000'000;
    run.latency_ps = 0;
    const int64_t step_ps = 1'000'000;
    EXPECT_EQ(end_ps(trace_of(run)), 10 * step_ps);
    run.forwarding = Forwarding::store_and_forward;
    EXPECT_EQ(end_ps(trace_of(run)), 10 * 2 * step_ps);
}

// LogGP: T = 2(N-1)(L + 2o + (s-1)G). Its first byte costs no G, so alpha is L + 2o - G.
TEST(Exact, ALogGpRing) {
    for (const int64_t n : {2, 5, 16}) {
        const int64_t latency_ps = 700'000;
        const int64_t overhead_ps = 90'000;
        const int64_t gap_ps = 250;  // per byte: 4 GB/s
        const int64_t segment_bytes = 4000;
        RunSpec run = small_run(static_cast<int32_t>(n), n * segment_bytes / 4);
        run.bandwidth_bytes_per_s = ps_per_s / gap_ps;
        run.latency_ps = latency_ps + 2 * overhead_ps - gap_ps;
        EXPECT_EQ(end_ps(trace_of(run)),
                  2 * (n - 1) * (latency_ps + 2 * overhead_ps + (segment_bytes - 1) * gap_ps));
    }
}

// alpha-beta-gamma: 2(N-1) alpha + 2(N-1)/N S beta + (N-1)/N S gamma.
TEST(Exact, ReducingTakesItsTimeInTheFirstHalf) {
    RunSpec run = small_run(8, 8000);
    run.bandwidth_bytes_per_s = 4'000'000'000;
    run.reduce_bytes_per_s = 2'000'000'000;  // 2 us a chunk
    EXPECT_EQ(end_ps(trace_of(run)), 14 * (500'000 + 1'000'000) + 7 * 2'000'000);
}

TEST(Exact, LaunchIsPaidOnce) {
    RunSpec run = small_run(8, 8000);
    const int64_t before_ps = end_ps(trace_of(run));
    run.launch_ps = 7'000'000;
    EXPECT_EQ(end_ps(trace_of(run)), before_ps + 7'000'000);
}

// Two levels on a real two-level network: 2(g-1)(alpha1 + S/g beta1) + 2(n-1)(alpha2 + S/(g n)
// beta2), when every rank has a way out of its own.
TEST(Exact, TwoLevelsOnRailsTakeTheSumOfBoth) {
    if (find_algorithm("two_level") == nullptr) {
        GTEST_SKIP() << "no two_level algorithm";
    }
    const std::string graph = [] {
        std::string text = "ringscope-topology,1;";
        for (int host = 0; host < 2; ++host) {
            text += "node,sw" + std::to_string(host) + ",nvswitch;";
        }
        for (int rank = 0; rank < 8; ++rank) {
            const std::string r = std::to_string(rank);
            text += "node,g" + r + ",gpu,host=" + std::to_string(rank / 4) + ";";
            text += "link,g" + r + ",sw" + std::to_string(rank / 4) + ",8GB/s,500ns,nvlink;";
            text += "rank," + r + ",g" + r + ";";
        }
        for (int rail = 0; rail < 4; ++rail) {
            text += "link,g" + std::to_string(rail) + ",g" + std::to_string(rail + 4) +
                    ",1GB/s,5us,network;";
        }
        return text;
    }();
    RunSpec run = small_run(8, 8 * 8000);
    run.algorithm = "two_level";
    run.topology = "graph";
    run.graph = graph;
    run.group = 4;
    run.chunks = 1;
    run.channels = 1;
    const int64_t bytes = buffer_bytes(run.problem);
    const int64_t inside_ps = 2 * 3 * (1'000'000 + transfer_ps(bytes / 4, 8'000'000'000));
    const int64_t across_ps = 2 * 1 * (5'000'000 + transfer_ps(bytes / 8, 1'000'000'000));
    EXPECT_EQ(end_ps(trace_of(run)), inside_ps + across_ps);
}

// NCCL's table for 8 x A100: a simulated ring with its constants takes what the formula says.
TEST(Exact, ARingByNcclsConstantsTakesNcclsTime) {
    const NcclPreset* preset = find_nccl_preset("a100-1x8");
    ASSERT_NE(preset, nullptr);
    const auto model = build_nccl_model(preset->machine);
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
        const auto nccl = static_cast<NcclProtocol>(static_cast<int>(protocol) - 1);
        for (const int64_t bytes : {int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 28}) {
            RunSpec run = small_run(8, bytes / 4);
            run.topology = "dgx_a100";
            run.cost = Cost::nccl;
            run.protocol = protocol;
            const auto formula_ps = static_cast<double>(
                time_ps(cell_of(*model, NcclAlgorithm::ring, nccl), bytes));
            EXPECT_NEAR(static_cast<double>(end_ps(trace_of(run))), formula_ps, formula_ps * 1e-6)
                << print_run(run);
        }
    }
}

// A fitted line is what the simulation takes.
TEST(Exact, ARingByAFitTakesItsLine) {
    RunSpec run = small_run(8, 1'000'000);
    run.cost = Cost::fitted;
    run.fit = {{20'000'000, 50'000'000'000}, {60'000'000, 137'000'000'000}};
    const auto line_ps = 20'000'000 + transfer_ps(4'000'000, 50'000'000'000);
    EXPECT_NEAR(static_cast<double>(end_ps(trace_of(run))), static_cast<double>(line_ps), 100.0);
    run.fit.clear();
    EXPECT_EQ(Simulator::create(run).error().field, "fit");
}

// Every algorithm on every topology: right sums, no result below the bound, every byte that the
// schedule asks for is on the links once, and one leap equals many small ones.
TEST(Exact, NothingIsWrongOrLostOrTooFastAnywhere) {
    for (const TopologyPreset* preset : topology_presets()) {
        for (const Algorithm* algorithm : algorithms()) {
            for (const int32_t n : {2, 5, 8, 16}) {
                RunSpec run = small_run(n, 5000);
                run.topology = preset->name;
                run.algorithm = algorithm->name;
                run.chunks = 2;
                auto simulator = Simulator::create(run);
                if (!simulator) {
                    continue;  // not every machine has so many ranks, or a switch that reduces
                }
                SCOPED_TRACE(print_run(run));
                const Trace trace = trace_of(run);
                EXPECT_EQ(trace.outcome, Outcome{});
                const Report report = make_report(trace);
                EXPECT_GE(report.duration_ps, report.lower_bound_ps);
                EXPECT_EQ(report.path.split.total_ps(), report.duration_ps);
                const Schedule& schedule = simulator->schedule();
                EXPECT_EQ(report.message_count, schedule.message_count());
                std::vector<int64_t> sent(static_cast<size_t>(schedule.participant_count), 0);
                for (const Event& event : trace.events) {
                    sent[static_cast<size_t>(event.transfer.source_rank)] += event.bytes;
                }
                EXPECT_EQ(sent, verify(schedule)->sent_bytes);
                for (int64_t time_ps = 0; !simulator->done(); time_ps += 1'700'001) {
                    simulator->advance_to(time_ps);
                }
                EXPECT_EQ(simulator->take_events(), trace.events);
            }
        }
    }
}

}  // namespace
}  // namespace ringscope
