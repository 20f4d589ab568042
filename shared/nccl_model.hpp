// SPDX-License-Identifier: Apache-2.0
// NCCL's published cost model: what NCCL believes an all-reduce costs with each of its algorithms
// and protocols, and therefore which of them it picks.
//
//     Result<NcclModel> model = build_nccl_model(machine);
//     if (!model) return model.error();
//     const NcclCell& cell = choose(*model, bytes);
//     int64_t duration_ps = time_ps(cell, bytes);
//
// It knows no topology: how many channels NCCL found on a machine, and how fast each is, is input,
// as NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=GRAPH prints it ("nChannels 12, bw 20.0/20.0").
// All arithmetic is on integers: picoseconds, bytes/s, thousandths. Left out: CollNet, PAT, POWER
// processors, several operations in one launch, and collectives other than all-reduce.
//
// Sources: NCCL 2.30, src/graph/tuning.cc (constants, formulas, the correction of trees by size),
// src/enqueue.cc (chunk sizes) and src/transport/nvls.cc (channels of NVLS).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/result.hpp"

namespace ringscope {

enum class NcclAlgorithm { ring, tree, nvls, nvls_tree };
enum class NcclProtocol { ll, ll128, simple };
enum class GpuGeneration { volta, ampere, hopper, blackwell };
enum class CpuMaker { intel, amd };
enum class NodeLink { nvlink, pcie };

inline constexpr int32_t nccl_algorithm_count = 4;
inline constexpr int32_t nccl_protocol_count = 3;

// The channels of one NCCL graph. `channel_count` 0: the machine or its user has no such algorithm.
struct NcclChannels {
    int32_t channel_count = 0;
    int64_t node_bytes_per_s = 0;     // of one channel, inside a node
    int64_t network_bytes_per_s = 0;  // of one channel, between nodes; unused on one node
};

// How one cell differs from what NCCL's constants say, on a class of machines; see nccl_presets.
struct NcclCellEffect {
    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    int64_t added_latency_ps = 0;
    int64_t rate_permille = 1000;  // 100 to 2000
};

// What NCCL's constants leave out. Default: nothing, so that the model is NCCL's own.
struct NcclEffects {
    int64_t launch_ps = 0;  // added to every cell, such as one thread that launches for all GPUs
    // The bytes that pass before NVLS works at full rate, from NCCL's own chunk sizes: no byte is
    // reduced before its chunk was scattered, and none is done before its chunk was gathered, so
    // two chunks of every lane (channel and rank of a node) come on top of the buffer.
    bool nvls_pipeline_fill = false;
    std::vector<NcclCellEffect> cells;
};

// A machine as NCCL sees it.
struct NcclMachine {
    GpuGeneration gpu = GpuGeneration::ampere;
    int32_t rank_count = 8;  // 2 to 4096, a multiple of node_count
    int32_t node_count = 1;
    CpuMaker cpu = CpuMaker::intel;
    NodeLink node_link = NodeLink::nvlink;
    NcclChannels ring;
    NcclChannels tree;
    NcclChannels nvls;               // of NVLS on one node, of NVLSTree on several
    int64_t network_latency_ps = 0;  // what the network plugin reports, on top of NCCL's own
    // NCCL_PROTO. LL128 is off by itself where the path to the network card is long (beyond PXB;
    // beyond PXN from Hopper on) and before NCCL 2.5.
    bool ll_enabled = true;
    bool ll128_enabled = true;
    bool tree_pattern_is_plain = false;  // one GPU has both tree links: 85 % of the rate
    NcclEffects effects;
};

// One algorithm with one protocol on one machine.
//
// On one node a ring that is simulated message by message, launch_ps first, then steps of
// node_hop_ps + (bytes / ranks) / bus_bytes_per_s each, takes as long as time_ps says. Between
// nodes it takes longer: NCCL counts 2(nodes-1) network steps, while a chunk that goes round
// almost twice crosses each of the `nodes` network links up to twice.
struct NcclCell {
    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::ll;
    std::string_view refusal;  // why NCCL does not allow it here; empty when it does

    int64_t launch_ps = 0;  // once per all-reduce
    int32_t node_hop_count = 0;
    int64_t node_hop_ps = 0;
    int32_t network_hop_count = 0;
    int64_t network_hop_ps = 0;

    int32_t channel_count = 0;
    int64_t bus_bytes_per_s = 0;        // all channels together, after the protocol's efficiency
    int64_t algorithm_bytes_per_s = 0;  // algbw: bytes / time when latency does not matter

    // What changes with the size of the buffer.
    int64_t plateau_begin_bytes = 0;  // from here on the latency is multiplied
    int64_t plateau_permille = 1000;
    bool tree_correction = false;
    int64_t fill_lane_count = 0;  // 0: no pipeline to fill
    int64_t fill_chunk_bytes_max = 0;
};

struct NcclModel {
    // Every algorithm with every protocol, protocols innermost.
    std::array<NcclCell, nccl_algorithm_count * nccl_protocol_count> cells;
};

// Errors: a number outside its range, ranks that do not divide evenly over nodes, no algorithm.
Result<NcclModel> build_nccl_model(const NcclMachine& machine);

const NcclCell& cell_of(const NcclModel& model, NcclAlgorithm algorithm, NcclProtocol protocol);

// The part of the time that is not bytes / rate.
int64_t latency_ps(const NcclCell& cell, int64_t bytes);

// Of one all-reduce of `bytes` per rank, 0 to bytes_max. The cell must be allowed.
int64_t time_ps(const NcclCell& cell, int64_t bytes);

// The allowed cell with the least time; the first of equals in the order of the model.
const NcclCell& choose(const NcclModel& model, int64_t bytes);

// "Ring", "NVLSTree", "LL128": as NCCL writes them.
std::string_view nccl_name(NcclAlgorithm algorithm);
std::string_view nccl_name(NcclProtocol protocol);

}  // namespace ringscope
