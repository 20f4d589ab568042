// SPDX-License-Identifier: Apache-2.0
#include "shared/run_spec.hpp"

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

TEST(RunSpec, TheEmptyLineIsTheDefaultRun) {
    EXPECT_EQ(run_of(""), RunSpec{});
    EXPECT_EQ(print_run(RunSpec{}),
              "algorithm=ring&ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns");
}

TEST(RunSpec, TheOrderOfKeysDoesNotMatter) {
    EXPECT_EQ(run_of("v1&latency=1us&bytes=16MiB&ranks=4&set=link.3-0.latency:2us"),
              run_of("set=link.3-0.latency:2us&ranks=4&bytes=16MiB&latency=1us"));
}

TEST(RunSpec, EveryFieldSurvivesPrintingAndReading) {
    const RunSpec run = run_of(
        "algorithm=ring&ranks=16&bytes=1000&type=float32&op=sum&topology=uniform&bandwidth=400Gb/"
        "s&latency=1.5us&"
        "engine=threads&iterations=20&seed=7&set=link.3-4.bandwidth:5GB/s&set=rank.2.start:3us&"
        "change=2us:latency:1us&change=1us:bandwidth:1GB/s&change=2us:link.0-1.latency:9ns");
    EXPECT_EQ(run.problem.element_count, 250);
    EXPECT_EQ(run.bandwidth_bytes_per_s, 50'000'000'000);
    EXPECT_EQ(run.changes[0].time_ps, 1'000'000);
    EXPECT_EQ(run.changes[1].knob.kind,
              Knob::Kind::latency);  // equal times keep the order of the line
    EXPECT_EQ(run_of(print_run(run)), run);
}

TEST(RunSpec, RandomRunsSurvivePrintingAndReading) {
    Dice dice(2);
    for (int i = 0; i < 2000; ++i) {
        RunSpec run =
            small_run(static_cast<int32_t>(2 + dice.below(4095)), dice.below(int64_t{1} << 38));
        run.bandwidth_bytes_per_s = 1 + dice.below(1'000'000'000'000);
        run.latency_ps = dice.below(1'000'000'000);
        run.seed = dice.below(1000);
        const int32_t source = static_cast<int32_t>(dice.below(run.problem.rank_count - 1));
        run.settings.push_back(
            {Knob::Kind::link_bandwidth, source, source + 1, 1 + dice.below(1'000'000)});
        run.changes.push_back({dice.below(1'000'000),
                               {Knob::Kind::link_latency, source + 1, source, dice.below(5000)}});
        EXPECT_EQ(run_of(print_run(run)), run) << print_run(run);
    }
}

struct BadLine {
    const char* line;
    const char* message;
};

TEST(RunSpec, AWrongLineIsRefusedWithKeyValueAndWhatIsAllowed) {
    const std::string keys =
        "is not a key; the keys are algorithm ranks type op bytes topology bandwidth latency "
        "engine iterations seed set "
        "change";
    const BadLine bad[] = {
        {"ranks=0", "ranks=0: must be a whole number from 1 to 4096"},
        {"ranks=4097", "ranks=4097: must be a whole number from 1 to 4096"},
        {"ranks=8.0", "ranks=8.0: must be a whole number from 1 to 4096"},
        {"ranks=", "ranks=: must be a whole number from 1 to 4096"},
        {"ranks=99999999999999999999",
         "ranks=99999999999999999999: must be a whole number from 1 to 4096"},
        {"bytes=10", "bytes=10: must be a multiple of 4, the size of type=float32"},
        {"bytes=64Mib",
         "bytes=64Mib: must be a whole number of bytes from 0 to 1TiB, such as 4096, 64MiB or "
         "1.5GB"},
        {"bandwidth=0",
         "bandwidth=0: must be a rate from 1B/s to 1000TB/s, such as 50GB/s or 400Gb/s"},
        {"latency=-1ns", "latency=-1ns: must be a time from 0s to 1000s, such as 500ns or 1.5us"},
        {"algorithm=tree", "algorithm=tree: must be one of ring"},
        {"topology=mesh",
         "topology=mesh: must be one of uniform full_mesh single_switch dgx1_v100 dgx_a100 "
         "hgx_h100 "
         "hgx_h200 b200 pcie_box pcie_box_2socket rail_infiniband one_nic efa ethernet leaf_spine "
         "fat_tree torus_2d torus_3d graph"},
        {"type=int9", "type=int9: must be one of float32"},
        {"op=xor", "op=xor: must be one of sum"},
        {"engine=../sh",
         "engine=../sh: must be the name of an engine, such as simulator or threads"},
        {"iterations=0", "iterations=0: must be a whole number from 1 to 1000"},
        {"seed=-1", "seed=-1: must be a whole number from 0 to 2147483647"},
        {"ranks=4&ranks=5", "ranks=5: must be given only once"},
        {"ranks=4&set=link.3-4.bandwidth:5GB/s",
         "set=link.3-4.bandwidth=4: must name a rank from 0 to 3"},
        {"set=link.3-3.bandwidth:5GB/s",
         "set=link.3-3.bandwidth:5GB/s: must name two different ranks"},
        {"set=bandwidth:5GB/s",
         "set=bandwidth:5GB/s: must name a link or a rank; for all links use bandwidth= and "
         "latency="},
        {"set=link.0-1.latency:5GB/s",
         "set=link.0-1.latency=5GB/s: must be a time from 0s to 1000s, such as 500ns or 1.5us"},
        {"change=bandwidth",
         "change=bandwidth: must be TIME:KEY:VALUE, such as 1ms:bandwidth:5GB/s"},
        {"change=soon:bandwidth:5GB/s",
         "change=soon:bandwidth:5GB/s: must begin with a time from 0s to 1000s, such as 1.5us"},
        {"change=1us:rank.0.start:5us",
         "change=1us:rank.0.start:5us: cannot move a start that is past; use "
         "set=rank.R.start:TIME"},
        {"change=1us:rank.0.colour:5us",
         "change=rank.0.colour:5us: must be KEY:VALUE with KEY one of bandwidth, latency, "
         "link.A-B.bandwidth, "
         "link.A-B.latency, rank.R.start"},
    };
    for (const auto& [line, message] : bad) {
        const auto run = parse_run(line);
        ASSERT_FALSE(run) << line;
        EXPECT_EQ(run.error().message, message);
        EXPECT_FALSE(run.error().field.empty()) << line;
    }
    EXPECT_EQ(parse_run("rank=8").error().message, "rank=8: " + keys);
    EXPECT_EQ(parse_run("<script>").error().message, "<script>=: " + keys);
}

TEST(RunSpec, GarbageIsRefusedAndTheMessageStaysShort) {
    const std::string garbage(1 << 20, 'x');
    EXPECT_EQ(parse_run(garbage).error().message,
              "the run line has 1048576 characters; at most 65536 are allowed");
    EXPECT_LT(parse_run("ranks=" + garbage.substr(0, 60'000)).error().message.size(), 200U);
    Dice dice(3);
    for (int i = 0; i < 20'000; ++i) {  // no byte sequence crashes it
        std::string line =
            "ranks=4&set=link.1-2.latency:5ns&change=1us:bandwidth:5GB/s&bytes=64KiB";
        for (int64_t edits = 1 + dice.below(4); edits > 0; --edits) {
            line[static_cast<size_t>(dice.below(static_cast<int64_t>(line.size())))] =
                static_cast<char>(dice.below(256));
        }
        const auto run = parse_run(line);
        if (run) {
            EXPECT_EQ(run_of(print_run(*run)), *run) << line;
        } else {
            EXPECT_FALSE(run.error().message.empty());
        }
    }
}

TEST(RunSpec, TooManyChangesAreRefused) {
    std::string line = "ranks=2";
    for (size_t i = 0; i <= change_count_max; ++i) {
        line += "&change=1us:bandwidth:5GB/s";
    }
    EXPECT_EQ(parse_run(line).error().allowed, "must be given at most 1000 times");
}

}  // namespace
}  // namespace ringscope
