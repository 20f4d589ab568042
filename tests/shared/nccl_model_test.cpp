// SPDX-License-Identifier: Apache-2.0
#include "shared/nccl_model.hpp"

#include <gtest/gtest.h>

#include "shared/nccl_presets.hpp"
#include "shared/units.hpp"
#include "tests/shared/tables.hpp"

namespace ringscope {
namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;

NcclMachine machine_named(std::string_view name) {
    const NcclPreset* preset = find_nccl_preset(name);
    EXPECT_NE(preset, nullptr) << name;
    return preset != nullptr ? preset->machine : NcclMachine{};
}

NcclModel model_of(const NcclMachine& machine) {
    auto model = build_nccl_model(machine);
    EXPECT_TRUE(model) << model.error().message;
    return model ? *model : NcclModel{};
}

// As NCCL prints its table: us and GB/s with one decimal.
std::string printed(const NcclModel& model, NcclAlgorithm algorithm, NcclProtocol protocol) {
    const NcclCell& cell = cell_of(model, algorithm, protocol);
    std::array<char, 48> text{};
    std::snprintf(text.data(),
                  text.size(),
                  "%.1f/%.1f",
                  static_cast<double>(latency_ps(cell, 0)) / 1e6,
                  static_cast<double>(cell.algorithm_bytes_per_s) / 1e9);
    return text.data();
}

TEST(NcclModel, EightA100CostWhatNcclPrints) {
    const NcclModel model = model_of(published(machine_named("a100-1x8")));
    EXPECT_EQ(printed(model, ring, ll), "15.0/50.1");
    EXPECT_EQ(printed(model, ring, ll128), "40.6/126.2");
    EXPECT_EQ(printed(model, ring, simple), "56.0/137.1");
    EXPECT_EQ(printed(model, tree, ll), "15.2/29.1");
    EXPECT_EQ(printed(model, tree, ll128), "31.5/85.9");
    EXPECT_EQ(printed(model, tree, simple), "64.4/110.4");
}

TEST(NcclModel, NvlsOfEightH100ReachesWhatTheMaintainersSay) {
    const NcclModel model = model_of(published(machine_named("h100-1x8")));
    const NcclCell& cell = cell_of(model, nvls, simple);
    EXPECT_EQ(cell.bus_bytes_per_s, 476'000'000'000);
    EXPECT_EQ(printed(model, nvls, simple), "25.0/272.0");
    EXPECT_FALSE(cell_of(model, nvls_tree, simple).refusal.empty());
    EXPECT_FALSE(cell_of(model, nvls, ll).refusal.empty());
}

// By hand from the formulas of NCCL 2.30, src/graph/tuning.cc.
TEST(NcclModel, TwoNodesPayTheNetwork) {
    NcclMachine machine = published(machine_named("h100-2x8-infiniband"));
    const NcclModel model = model_of(machine);
    EXPECT_EQ(printed(model, ring, ll), "40.0/20.8");      // 6.6 + 28 x 1 + 2 x 2.7; Intel: 39
    EXPECT_EQ(printed(model, ring, ll128), "75.2/176.6");  // 14 + 28 x 1.9 + 2 x 4; 360 x 0.92
    EXPECT_EQ(printed(model, tree, ll128), "48.5/155.2");  // 14 + 14 x 1.25 + 2 x 8.5
    EXPECT_EQ(printed(model, nvls_tree, simple), "66.8/246.2");  // 25 + 2 x 20.9; 8 x 57.7
    const NcclCell& cell = cell_of(model, ring, simple);
    EXPECT_EQ(latency_ps(cell, 12 * 16 * 64 - 1), 131'600'000);  // 8.4 + 28 x 3.4 + 2 x 14
    EXPECT_EQ(latency_ps(cell, 12 * 16 * 64), 184'240'000);      // x 1.4
    machine.cpu = CpuMaker::amd;
    EXPECT_EQ(printed(model_of(machine), ring, ll), "68.0/12.0");  // 6.6 + 28 x 2 + 2 x 2.7; 22.5
    machine.network_latency_ps = 10'000'000;
    EXPECT_EQ(printed(model_of(machine), ring, ll), "88.0/12.0");
    EXPECT_EQ(printed(model_of(machine), nvls_tree, simple), "106.8/246.2");  // Simple: twice
}

TEST(NcclModel, TreesAreSlowerAtMiddleSizes) {
    const NcclModel model = model_of(published(machine_named("a100-1x8")));
    const NcclCell& cell = cell_of(model, tree, ll);
    const auto rate_percent = [&](int64_t bytes) {
        const int64_t transfer = time_ps(cell, bytes) - latency_ps(cell, bytes);
        return (100 * transfer_ps(bytes, cell.algorithm_bytes_per_s) + transfer / 2) / transfer;
    };
    EXPECT_EQ(rate_percent(512), 100);
    EXPECT_EQ(rate_percent(64 << 10), 60);
    EXPECT_EQ(rate_percent(256 << 10), 40);
    EXPECT_EQ(rate_percent((512 << 10) + 1), 40);
    EXPECT_EQ(rate_percent(16 << 20), 90);
    EXPECT_EQ(rate_percent(int64_t{8} << 30), 100);
}

TEST(NcclModel, TheChoiceGoesFromLatencyToBandwidth) {
    const NcclModel model = model_of(published(machine_named("a100-1x8")));
    const auto chosen = [&](int64_t bytes) {
        const NcclCell& cell = choose(model, bytes);
        return std::string(nccl_name(cell.algorithm)) + " " + std::string(nccl_name(cell.protocol));
    };
    EXPECT_EQ(chosen(8), "Ring LL");
    EXPECT_EQ(chosen(2 << 20), "Ring LL");
    EXPECT_EQ(chosen(4 << 20), "Ring LL128");
    EXPECT_EQ(chosen(16 << 20), "Ring LL128");
    EXPECT_EQ(chosen(32 << 20), "Ring Simple");
    for (int64_t bytes = 1; bytes <= bytes_max; bytes *= 2) {
        for (const NcclCell& cell : model.cells) {
            if (cell.refusal.empty()) {
                EXPECT_LE(time_ps(choose(model, bytes), bytes), time_ps(cell, bytes));
            }
        }
    }
}

// What a message-level simulation of a ring on one node adds up to.
TEST(NcclModel, ARingOfItsHopsTakesAsLongAsItSays) {
    for (const char* name : {"a100-1x8", "h100-1x8-ring", "v100-1x8-one-process"}) {
        const NcclMachine machine = machine_named(name);
        const NcclModel model = model_of(machine);
        for (const NcclProtocol protocol : {ll, ll128, simple}) {
            const NcclCell& cell = cell_of(model, ring, protocol);
            if (!cell.refusal.empty()) {
                continue;
            }
            for (const int64_t bytes :
                 {int64_t{0}, int64_t{8192}, int64_t{1} << 20, int64_t{1} << 33}) {
                const int64_t step_ps = cell.node_hop_ps + transfer_ps(bytes / machine.rank_count,
                                                                       cell.bus_bytes_per_s);
                const int64_t steps = cell.node_hop_count;
                EXPECT_NEAR(static_cast<double>(cell.launch_ps + steps * step_ps),
                            static_cast<double>(time_ps(cell, bytes)),
                            static_cast<double>(steps))  // each step rounds up once
                    << name << " " << nccl_name(protocol) << " " << bytes;
            }
        }
    }
}

TEST(NcclModel, FillingThePipelineTakesTwoChunksPerLane) {
    const NcclModel model = model_of(machine_named("h100-1x8"));
    const NcclModel without = model_of(published(machine_named("h100-1x8")));
    const auto fill_mib = [&](int64_t bytes) {
        const int64_t extra_ps = time_ps(cell_of(model, nvls, simple), bytes) -
                                 time_ps(cell_of(without, nvls, simple), bytes);
        const int64_t half_mib = multiply_divide(extra_ps, 272, 500 << 20);  // at 272 GB/s
        return (half_mib + 1) / 2;
    };
    // 16 channels x 8 ranks, chunks of 16, 32, 64 and 128 KiB.
    EXPECT_EQ(fill_mib(4 << 20), 4);
    EXPECT_EQ(fill_mib(16 << 20), 8);
    EXPECT_EQ(fill_mib(128 << 20), 16);
    EXPECT_EQ(fill_mib(int64_t{4} << 30), 32);
    EXPECT_EQ(fill_mib(1 << 20), 2);  // no more than the buffer twice
}

TEST(NcclModel, WhatNcclDoesNotAllowIsRefusedWithAReason) {
    NcclMachine machine = machine_named("a100-1x8");
    machine.node_link = NodeLink::pcie;
    EXPECT_EQ(cell_of(model_of(machine), ring, ll128).refusal,
              "LL128 needs NVLink inside the node");
    EXPECT_EQ(latency_ps(cell_of(model_of(machine), ring, ll), 0), 20'600'000);  // 6.6 + 14 x 1
    EXPECT_EQ(cell_of(model_of(machine), nvls, simple).refusal, "NVLS needs Hopper or later");
    machine.ll_enabled = false;
    EXPECT_EQ(cell_of(model_of(machine), tree, ll).refusal, "the protocol is switched off");
    machine.tree.channel_count = 0;
    EXPECT_EQ(cell_of(model_of(machine), tree, simple).refusal,
              "the machine has no channel for it");
}

TEST(NcclModel, NumbersOutsideTheirRangeAreErrors) {
    const auto field_of_error = [](auto change) {
        NcclMachine machine = machine_named("h100-2x8-infiniband");
        change(machine);
        const auto model = build_nccl_model(machine);
        return model ? std::string() : model.error().field;
    };
    EXPECT_EQ(field_of_error([](NcclMachine&) {}), "");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.rank_count = 1; }), "rank_count");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.rank_count = 4097; }), "rank_count");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.node_count = 3; }), "node_count");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.ring.channel_count = -1; }),
              "ring.channel_count");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.tree.node_bytes_per_s = 1; }),
              "tree.node_bytes_per_s");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.nvls.network_bytes_per_s = 0; }),
              "nvls.network_bytes_per_s");
    EXPECT_EQ(field_of_error([](NcclMachine& m) { m.network_latency_ps = -1; }),
              "network_latency_ps");
    EXPECT_EQ(field_of_error([](NcclMachine& m) {
                  m.effects.cells = {{ring, ll, 0, 10}};
              }),
              "effects.rate_permille");
    NcclMachine nothing = machine_named("a100-1x8");
    nothing.ring.channel_count = 0;
    nothing.tree.channel_count = 0;
    EXPECT_FALSE(build_nccl_model(nothing));
}

TEST(NcclModel, TheSlowestMachineAndTheLargestBufferFit64Bits) {
    NcclMachine machine;
    machine.rank_count = 4096;
    machine.node_count = 2048;
    machine.ring = {1, 100'000'000, 100'000'000};
    machine.tree = machine.ring;
    machine.tree_pattern_is_plain = true;
    machine.effects.cells = {{tree, ll, ps_per_s, 100}, {ring, simple, ps_per_s, 100}};
    const NcclModel model = model_of(machine);
    for (const NcclCell& cell : model.cells) {
        if (cell.refusal.empty()) {
            EXPECT_GT(time_ps(cell, bytes_max), 0);
        }
    }
}

double mean_error_percent(const NcclModel& model, const std::vector<FitPoint>& points) {
    double sum = 0;
    for (const FitPoint& point : points) {
        const auto predicted =
            static_cast<double>(time_ps(choose(model, point.bytes), point.bytes));
        sum += std::abs(predicted / static_cast<double>(point.time_ps) - 1);
    }
    return 100 * sum / static_cast<double>(points.size());
}

// The promise: within 10 % on average from 1 MiB up, of machines that no number was fitted to.
TEST(NcclPresets, AreWithinTenPercentOfMachinesTheyWereNotFittedTo) {
    struct Case {
        const char* table;
        const char* preset;
    };
    for (const Case& test : {Case{"a100-1x8-sxm4-80g-mpirun", "a100-1x8"},
                             Case{"h100-1x8-p5", "h100-1x8"},
                             Case{"h100-2x8-ib-hgx-dell", "h100-2x8-infiniband"}}) {
        const auto points = read_nccl_tests(test.table);
        if (!points) {
            GTEST_SKIP() << "no table " << tables_folder() << test.table << ".txt";
        }
        const NcclModel model = model_of(machine_named(test.preset));
        EXPECT_LT(mean_error_percent(model, at_least(*points, 1 << 20)), 10) << test.table;
    }
}

TEST(NcclPresets, AreAllValidAndNamedOnce) {
    for (const NcclPreset& preset : nccl_presets()) {
        EXPECT_EQ(find_nccl_preset(preset.name), &preset) << preset.name;
        EXPECT_TRUE(build_nccl_model(preset.machine)) << preset.name;
        EXPECT_TRUE(build_nccl_model(published(preset.machine))) << preset.name;
    }
    EXPECT_EQ(find_nccl_preset("no such machine"), nullptr);
}

}  // namespace
}  // namespace ringscope
