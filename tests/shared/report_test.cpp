// SPDX-License-Identifier: Apache-2.0
#include "shared/report.hpp"

#include <map>

#include "shared/units.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Report report_of(std::string_view line) {
    return make_report(trace_of(run_of(line)));
}

// By hand: T = 2.355 810 240 ms, algbw = 64 MiB / T, busbw = 7/4 of it, bound = 7/4 x 64 MiB / 50
// GB/s.
TEST(Report, TheNumbersOfEightRanksAnd64MiB) {
    const Report report = report_of("ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns");
    EXPECT_EQ(report.duration_ps, 2'355'810'240);
    EXPECT_EQ(report.min_ps, report.duration_ps);
    EXPECT_EQ(report.algbw_bytes_per_s, 28'486'532'090);
    EXPECT_EQ(report.busbw_bytes_per_s, 49'851'431'157);
    EXPECT_EQ(report.lower_bound_ps, 2'348'810'240);
    EXPECT_EQ(report.message_count, 112);
    EXPECT_EQ(report.wire_bytes_per_rank, 117'440'512);
    ASSERT_EQ(report.links.size(), 8U);
    EXPECT_EQ(report.links[3], (LinkReport{3, 4, 14, 117'440'512, 2'355'810'240}));
    EXPECT_EQ(
        report.bottleneck,
        "Bandwidth limits: 99.7 % of 2.356 ms is 14 steps of 8 MiB at 50 GB/s; latency is 0.3 %.");
}

TEST(Report, LinksWithRatesOfTheirOwnAreNamedByThem) {
    EXPECT_NE(report_of("ranks=8&topology=hgx_h100").bottleneck.find("8 MiB at 370.8 GB/s;"),
              std::string::npos);
    EXPECT_EQ(report_of("ranks=8&bytes=8KiB&topology=hgx_h100").bottleneck.find("500 ns"),
              std::string::npos);
}

TEST(Report, AFailureThatTookMostOfTheTimeIsNamed) {
    const Trace trace = *simulate(*parse_run("ranks=8&recovery=shrink&change=1ms:rank.3.alive:0"));
    EXPECT_EQ(make_report(trace).bottleneck,
              "A failure limits: the work began again after 1.002 s, 99.8 % of the 1.004 s.");
}

TEST(Report, LanesAndUnequalStepsAreCountedAsTheyAre) {
    const auto bytes_of = [](const std::string& line) {
        const std::string words = report_of(line).bottleneck;
        const size_t begin = words.find(" is ") + 4;
        return words.substr(begin, words.find(" at ") - begin);
    };
    EXPECT_EQ(bytes_of("ranks=8&chunks=4"), "14 steps of 4 x 2 MiB");
    EXPECT_EQ(bytes_of("ranks=8&algorithm=halving_doubling"), "112 MiB from a rank in 6 steps");
    EXPECT_EQ(bytes_of("ranks=8&algorithm=recursive_doubling"), "3 steps of 64 MiB");
}

TEST(Report, SmallBuffersAreLimitedByLatency) {
    EXPECT_EQ(report_of("ranks=8&bytes=64KiB").bottleneck,
              "Latency limits: 75.3 % of 9.294 us is 14 steps of 500 ns; moving the bytes is only "
              "24.7 %.");
}

TEST(Report, ASlowLinkIsNamed) {
    EXPECT_EQ(report_of("ranks=4&set=link.1-2.bandwidth:5GB/s").bottleneck.substr(0, 26),
              "Link 1->2 is the slowest: ");
    EXPECT_EQ(report_of("ranks=8&set=link.7-0.latency:20us&bytes=1MiB").bottleneck.substr(0, 26),
              "Link 7->0 is the slowest: ");
}

TEST(Report, ASlowLinkOfTwoIsNamedToo) {
    EXPECT_EQ(report_of("ranks=2&set=link.0-1.bandwidth:5GB/s").bottleneck.substr(0, 26),
              "Link 0->1 is the slowest: ");
}

// Its link carries twice the bytes and so takes twice as long: nothing is wrong with it.
TEST(Report, ALinkWithMoreBytesIsNotASlowOne) {
    EXPECT_EQ(
        report_of("ranks=3&bytes=4&bandwidth=1KB/s&latency=0").bottleneck,
        "Bandwidth limits: 100.0 % of 16 ms is 4 steps of up to 4 B at 1 KB/s; latency is 0.0 %.");
}

TEST(Report, ALateRankIsNamed) {
    EXPECT_EQ(report_of("ranks=8&set=rank.2.start:1s").bottleneck,
              "Rank 2 limits: it starts 1 s late, 99.8 % of the 1.002 s.");
}

TEST(Report, UnequalLinksAreNotExplainedByOneRate) {
    EXPECT_EQ(report_of("ranks=8&set=link.0-1.bandwidth:45GB/s").bottleneck,
              "No link stands out; the links or ranks set apart explain together what is over the "
              "2.349 ms that the bytes need at 50 GB/s.");
}

TEST(Report, OneRankAndNoBytesDivideByNothing) {
    const Report alone = report_of("ranks=1");
    EXPECT_EQ(alone.duration_ps, 0);
    EXPECT_EQ(alone.busbw_bytes_per_s, 0);
    EXPECT_EQ(alone.bottleneck, "One rank alone has nothing to send.");
    const Report empty = report_of("ranks=4&bytes=0");
    EXPECT_EQ(empty.duration_ps, 6 * 500'000);
    EXPECT_EQ(empty.algbw_bytes_per_s, 0);
    EXPECT_EQ(report_of("ranks=4&bytes=0&latency=0").bottleneck, "Nothing took any time.");
    EXPECT_EQ(make_report({run_of("ranks=4"), {}, {OutcomeKind::failed, "killed"}}).bottleneck,
              "No hop ended.");
}

// nccl-tests, doc/PERFORMANCE.md: busbw = algbw x 2(n-1)/n, so equal links show their own rate at
// any n.
TEST(Report, WithoutLatencyBusbwIsTheRateOfTheLink) {
    for (int32_t rank_count = 2; rank_count <= 64; ++rank_count) {
        RunSpec run = small_run(rank_count, int64_t{1'000'000} * rank_count);
        run.latency_ps = 0;
        const int64_t busbw = make_report(trace_of(run)).busbw_bytes_per_s;
        EXPECT_NEAR(static_cast<double>(busbw), 50e9, 50e9 * 1e-6) << rank_count;
    }
}

// The factors of nccl-tests, doc/PERFORMANCE.md: 4 ranks, 1 MB in 1 ms.
TEST(Report, BusbwFollowsTheCollective) {
    const std::map<Collective, int64_t> busbw_bytes_per_s{
        {Collective::all_reduce, 1'500'000'000},
        {Collective::reduce_scatter, 750'000'000},
        {Collective::all_gather, 750'000'000},
        {Collective::broadcast, 1'000'000'000},
        {Collective::reduce, 1'000'000'000},
    };
    const RunSpec run = run_of("ranks=4&bytes=1MB");
    for (const auto& [collective, expected] : busbw_bytes_per_s) {
        Schedule schedule = *build_schedule("ring", run.problem);
        schedule.problem.collective = collective;
        ReportBuilder builder(run, schedule);
        Event event;
        event.transfer = {.source_rank = 0, .target_rank = 1, .chunk_count = 1};
        event.end_ps = 1'000'000'000;
        builder.add(event);
        const Report report = builder.finish(run);
        EXPECT_EQ(report.algbw_bytes_per_s, 1'000'000'000);
        EXPECT_EQ(report.busbw_bytes_per_s, expected) << collective_name(collective);
    }
}

TEST(Report, TheMedianOfSeveralIterationsCounts) {
    Trace trace;
    trace.run = run_of("ranks=2&bytes=8&engine=threads&iterations=3");
    const int64_t begins[] = {0, 100, 200};
    const int64_t lengths[] = {50, 10, 20};
    for (int32_t i = 0; i < 3; ++i) {
        Event event;
        event.transfer = {.source_rank = 0, .target_rank = 1, .chunk_count = 1};
        event.iteration = i;
        event.bytes = 4;
        event.begin_ps = begins[i];
        event.end_ps = begins[i] + lengths[i];
        trace.events.push_back(event);
    }
    const Report report = make_report(trace);
    EXPECT_EQ(report.iteration_count, 3);
    EXPECT_EQ(report.duration_ps, 20);
    EXPECT_EQ(report.min_ps, 10);
    EXPECT_EQ(report.message_count, 1);
    EXPECT_EQ(report.links[0].bytes, 4);
    EXPECT_EQ(report.lower_bound_ps, 0);
}

TEST(Report, AnAbsurdTraceSaturates) {
    Trace trace;
    trace.run = run_of("ranks=4096&bytes=1TiB&engine=threads");
    for (int i = 0; i < 4; ++i) {
        Event event;
        event.transfer = {.source_rank = 0, .target_rank = 1, .chunk_count = 1};
        event.end_ps = time_ps_max;
        trace.events.push_back(event);
    }
    EXPECT_GT(make_report(trace).links[0].busy_ps, 0);
    for (Event& event : trace.events) {
        event.end_ps = 1;
    }
    EXPECT_GT(make_report(trace).busbw_bytes_per_s, 0);
}

}  // namespace
}  // namespace ringscope
