// SPDX-License-Identifier: Apache-2.0
#include "shared/nccl_presets.hpp"

#include <array>

namespace ringscope {
namespace {

constexpr int64_t ps_per_us = 1'000'000;
constexpr int64_t gb = 1'000'000'000;  // bytes per second in one GB/s

// --- NVSwitch machines: what NCCL's search finds on one node. ---

// 12 NVLinks of 20 GB/s (NCCL 2.30, src/graph/topo.h). Public graph logs of A100 machines say
// "Pattern 4, ... nChannels 12, bw 20.000000/20.000000, type NVL/PIX" for rings.
constexpr NcclChannels a100_channels{12, 20 * gb, 0};

// 18 NVLinks of 20.6 GB/s are 370.8 GB/s, of which the search takes 12 x 30: NVIDIA/nccl issue
// 1197, an H100 machine, "Pattern 4, ... nChannels 12, bw 30.000000/30.000000" for rings and the
// same for trees. The maintainers' figure for what NVLink 4 leaves to NCCL is 370 of 450 GB/s
// (NVIDIA/nccl-tests issue 212).
constexpr NcclChannels h100_channels{12, 30 * gb, 30 * gb};
// From the same log, "Pattern 5, ... nChannels 8, bw 40.000000/60.000000": one head per GPU.
// 8 x 40 x 0.85 x 7/8 x 2 = 476 GB/s; the maintainers expect about 480 (nccl-tests issue 212).
constexpr NcclChannels h100_nvls_channels{8, 40 * gb, 60 * gb};

// 18 NVLinks of 40.1 GB/s (topo.h) are 721.8 GB/s: 24 x 30 and, for NVLS, 8 x 90 are the largest
// products of the search's table of speeds (src/graph/search.cc) that fit. No public log at hand.
constexpr NcclChannels b200_channels{24, 30 * gb, 0};
constexpr NcclChannels b200_nvls_channels{8, 90 * gb, 0};

// 6 NVLinks of 20 GB/s. The hybrid cube has three rings, each in both directions.
constexpr NcclChannels v100_channels{6, 20 * gb, 0};

// --- Effects. ---

// A100, from Azure's 8 x A100-SXM4-40GB, the log that microsoft/superbenchmark keeps as test data
// (tests/data/nccl_allreduce.log, in-place column, one process). Lines with the least squared
// relative error: 4 to 16 MiB, where NCCL picks LL128: 73.6 us + S / 107.0 GB/s; 32 MiB to 8 GiB,
// Simple: 112.9 us + S / 133.6 GB/s. Off each go the 19 us of that log's single thread (its floor
// of 34.0 us less NCCL's 15.0 us for LL), and what is left is compared with NCCL's constants, 40.6
// us and 126.2 GB/s, 56.0 us and 137.1 GB/s.
NcclEffects a100_effects() {
    NcclEffects effects;
    effects.cells = {
        {NcclAlgorithm::ring, NcclProtocol::ll128, 14 * ps_per_us, 848},
        {NcclAlgorithm::ring, NcclProtocol::simple, 38 * ps_per_us, 974},
    };
    return effects;
}

// One thread that launches for all 8 GPUs, from the same log.
constexpr int64_t a100_launch_ps = 19 * ps_per_us;
// The floor of 12 of a DGX-2's V100s, one process, is 60.4 us (a public file "Results on dgx-2"),
// 40 us above NCCL's 19.8 us for a ring of 12 with LL: 3.4 us a GPU.
constexpr int64_t v100_launch_ps = 27 * ps_per_us;

// Hopper: no measured number. Chunk sizes and channels come from NCCL's source, and the three
// stages (scatter, reduce and broadcast, gather) from its kernel, src/device/all_reduce.h.
NcclEffects nvls_effects() {
    NcclEffects effects;
    effects.nvls_pipeline_fill = true;
    return effects;
}

// Blackwell: the same, and 21 us for the PyTorch program that measured the public table: its
// figure for 8 x H200 at 32 KiB (39.8 us; stas00/ml-engineering, network/README.md) less what
// nccl-tests shows for 8 x H100 (18.1 us; aws-samples/awsome-distributed-training), both with the
// same links.
NcclEffects b200_effects() {
    NcclEffects effects = nvls_effects();
    effects.launch_ps = 21 * ps_per_us;
    return effects;
}

// --- ---

NcclMachine machine_of(GpuGeneration gpu, int32_t rank_count, const NcclChannels& channels) {
    NcclMachine machine;
    machine.gpu = gpu;
    machine.rank_count = rank_count;
    machine.ring = channels;
    machine.tree = channels;
    return machine;
}

NcclMachine a100(int64_t launch_ps) {
    NcclMachine machine = machine_of(GpuGeneration::ampere, 8, a100_channels);
    machine.effects = a100_effects();
    machine.effects.launch_ps = launch_ps;
    return machine;
}

NcclMachine hopper(int32_t node_count) {
    NcclMachine machine = machine_of(GpuGeneration::hopper, 8 * node_count, h100_channels);
    machine.node_count = node_count;
    machine.nvls = h100_nvls_channels;
    machine.effects = nvls_effects();
    return machine;
}

// NVLS off, as with NCCL_NVLS_ENABLE=0 and NCCL_ALGO=Ring.
NcclMachine ring_only(NcclMachine machine) {
    machine.tree.channel_count = 0;
    machine.nvls.channel_count = 0;
    return machine;
}

NcclMachine b200() {
    NcclMachine machine = machine_of(GpuGeneration::blackwell, 8, b200_channels);
    machine.nvls = b200_nvls_channels;
    machine.effects = b200_effects();
    return machine;
}

// By NCCL 2.4, which has no LL128 yet.
NcclMachine v100_one_process() {
    NcclMachine machine = machine_of(GpuGeneration::volta, 8, v100_channels);
    machine.ll128_enabled = false;
    machine.effects.launch_ps = v100_launch_ps;
    return machine;
}

// 4 network cards of 100 Gb/s, 12 GB/s each to NCCL (topo.h, NET_BW); trees use a card in both
// directions inside the node, hence twice there. aws-ofi-nccl reports 75 us for p4d and p4de
// (its platform table) and limits NCCL to Simple ("Setting NCCL_PROTO to simple", aws-ofi-nccl
// issue 889).
NcclMachine a100_efa() {
    NcclMachine machine = machine_of(GpuGeneration::ampere, 16, {4, 12 * gb, 12 * gb});
    machine.node_count = 2;
    machine.tree.node_bytes_per_s = 24 * gb;
    machine.network_latency_ps = 75 * ps_per_us;
    machine.ll_enabled = false;
    machine.ll128_enabled = false;
    return machine;
}

// 32 network cards of 100 Gb/s and the plugin's 75 us, as above.
NcclMachine h100_efa() {
    NcclMachine machine = hopper(2);
    machine.network_latency_ps = 75 * ps_per_us;
    return machine;
}

const std::array<NcclPreset, 14>& presets() {
    static const std::array<NcclPreset, 14> all{{
        {"a100-1x8", "8 x A100 with NVSwitch", a100(0)},
        {"a100-1x8-one-process", "8 x A100, one process drives them all", a100(a100_launch_ps)},
        {"h100-1x8", "8 x H100 with NVLink SHARP", hopper(1)},
        {"h100-1x8-ring", "8 x H100, ring only", ring_only(hopper(1))},
        {"h100-2x8-infiniband", "2 x 8 H100, 8 x 400 Gb/s InfiniBand a node", hopper(2)},
        {"h100-8x8-infiniband", "8 x 8 H100, 8 x 400 Gb/s InfiniBand a node", hopper(8)},
        {"h100-2x8-efa", "2 x 8 H100, 32 x 100 Gb/s EFA a node", h100_efa()},
        {"h200-1x8", "8 x H200 with NVLink SHARP", hopper(1)},
        {"h200-1x8-ring", "8 x H200, ring only", ring_only(hopper(1))},
        {"b200-1x8", "8 x B200 with NVLink SHARP", b200()},
        {"b200-1x8-ring", "8 x B200, ring only", ring_only(b200())},
        {"a100-2x8-efa", "2 x 8 A100, 4 x 100 Gb/s EFA a node", a100_efa()},
        {"a100-2x8-efa-ring", "2 x 8 A100 over EFA, ring only", ring_only(a100_efa())},
        {"v100-1x8-one-process", "8 x V100, hybrid cube mesh, one process", v100_one_process()},
    }};
    return all;
}

}  // namespace

std::span<const NcclPreset> nccl_presets() {
    return presets();
}

const NcclPreset* find_nccl_preset(std::string_view name) {
    for (const NcclPreset& preset : presets()) {
        if (preset.name == name) {
            return &preset;
        }
    }
    return nullptr;
}

NcclMachine published(NcclMachine machine) {
    machine.effects = {};
    return machine;
}

}  // namespace ringscope
