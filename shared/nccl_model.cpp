// SPDX-License-Identifier: Apache-2.0
#include "shared/nccl_model.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "shared/units.hpp"

namespace ringscope {
namespace {

// --- Constants. NCCL 2.30, src/graph/tuning.cc: latencies there in us, rates in GB/s (10^9). ---

constexpr int64_t ps_per_ns = 1'000;
constexpr int64_t bytes_per_mb = 1'000'000;

using ByProtocol = std::array<int64_t, nccl_protocol_count>;  // LL, LL128, Simple
using ByScale = std::array<int64_t, 3>;                       // one node, two, more
using ByGeneration = std::array<ByScale, 4>;                  // Volta, Ampere, Hopper, Blackwell

constexpr ByProtocol ring_launch_ns{6'600, 14'000, 8'400};
constexpr ByProtocol tree_launch_ns{6'800, 14'000, 8'400};

constexpr ByProtocol ring_nvlink_hop_ns{600, 1'900, 3'400};
constexpr ByProtocol tree_nvlink_hop_ns{600, 1'250, 4'000};
constexpr ByProtocol ring_pcie_hop_ns{1'000, 2'500, 5'700};
constexpr ByProtocol tree_pcie_hop_ns{1'000, 1'900, 4'000};
constexpr ByProtocol ring_network_hop_ns{2'700, 4'000, 14'000};
constexpr ByProtocol tree_network_hop_ns{5'000, 8'500, 14'000};
constexpr int64_t nvls_node_ns = 25'000;  // of NVLS and of NVLSTree; both know Simple only
constexpr int64_t nvls_tree_network_hop_ns = 20'900;

// Posting to the network, which every ring step pays as soon as there is one; Simple three times.
constexpr int64_t network_post_intel_ns = 1'000;
constexpr int64_t network_post_amd_ns = 2'000;

// The most that LL reaches, all channels together. On one node by GPU; else the first row stands
// for Intel and the second for AMD.
constexpr ByGeneration ll_mb_per_s_max{{{39'000, 39'000, 20'400},
                                        {87'700, 22'500, 19'000},
                                        {141'000, 45'000, 35'000},
                                        {282'000, 90'000, 70'000}}};
// The most per channel.
constexpr ByGeneration ring_ll128_mb_per_s_max{{{20'000, 20'000, 20'000},
                                                {20'000, 20'000, 20'000},
                                                {36'700, 36'700, 36'700},
                                                {40'000, 40'000, 40'000}}};
constexpr ByGeneration tree_ll128_mb_per_s_max{{{20'000, 20'000, 20'000},
                                                {20'000, 20'000, 20'000},
                                                {36'700, 36'700, 29'000},
                                                {55'600, 31'670, 20'000}}};
constexpr ByGeneration tree_mb_per_s_max{{{26'500, 18'500, 10'000},
                                          {24'000, 23'600, 17'800},
                                          {38'700, 41'400, 36'000},
                                          {70'000, 42'800, 24'000}}};
constexpr ByGeneration nvls_tree_mb_per_s_max{
    {{0, 0, 0}, {0, 0, 0}, {0, 57'700, 45'500}, {0, 96'000, 80'000}}};
constexpr std::array<int64_t, 4> nvls_permille{0, 0, 850, 740};  // of the channel's rate

constexpr int64_t ring_plateau_volta_permille = 1'900;  // of Simple between nodes
constexpr int64_t ring_plateau_permille = 1'400;
constexpr int64_t ring_plateau_bytes = 64;  // per channel and rank

// Trees do not reach their rate at middle sizes: tenths of it, for 64 B, 128 B, ... 512 MiB.
constexpr std::array<std::array<int64_t, 24>, nccl_protocol_count> tree_correction_tenths{{
    {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10},
    {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10, 10},
    {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9, 9},
}};
// NCCL leaves the last one to NVLSTree, which it corrects on Blackwell only (and not beside an Arm
// processor, which we do not tell apart).
constexpr int64_t tree_correction_size_count = 23;
constexpr int64_t nvls_tree_correction_size_count = 24;

// src/transport/nvls.cc: the blocks that NVLS runs with, whatever its graph has. What Blackwell has
// there for chunks between nodes, by network card and node size, is left out.
constexpr int64_t nvls_hopper_block_count = 16;
constexpr int64_t nvls_blackwell_block_count = 24;
constexpr int64_t nvls_blackwell_block_count_between_nodes = 32;
constexpr int64_t nvls_chunk_bytes = 128 << 10;
constexpr int64_t nvls_tree_chunk_bytes_from_4_nodes = 64 << 10;

// src/enqueue.cc: a buffer of fewer than `loop_count` loops over all lanes gets smaller chunks.
struct ChunkRule {
    int64_t loop_count = 0;
    int64_t chunk_bytes = 0;
};
constexpr std::array nvls_chunk_rules{
    ChunkRule{64, 64 << 10}, ChunkRule{8, 32 << 10}, ChunkRule{2, 16 << 10}};
constexpr std::array nvls_tree_chunk_rules{ChunkRule{4, 64 << 10}, ChunkRule{1, 32 << 10}};

// --- Ranges of what comes from outside. ---

constexpr int32_t rank_count_max = 4096;
constexpr int32_t channel_count_max = 64;  // NCCL's MAXCHANNELS
// So slow that nothing is slower (NCCL's least is 120 MB/s), and the time of 1 TiB fits 64 bits.
constexpr int64_t channel_bytes_per_s_min = 100 * bytes_per_mb;
constexpr int64_t added_ps_max = ps_per_s;

size_t index_of(NcclProtocol protocol) {
    return static_cast<size_t>(protocol);
}

size_t index_of(GpuGeneration gpu) {
    return static_cast<size_t>(gpu);
}

size_t scale_of(const NcclMachine& machine) {
    return static_cast<size_t>(std::min(machine.node_count, 3) - 1);
}

int32_t ranks_per_node(const NcclMachine& machine) {
    return machine.rank_count / machine.node_count;
}

int32_t floor_log2(int64_t value) {
    return static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(value))) - 1;
}

int64_t permille(int64_t value, int64_t thousandths) {
    return multiply_divide(value, thousandths, 1000);
}

int64_t limit(const NcclMachine& machine, const ByGeneration& table) {
    return table[index_of(machine.gpu)][scale_of(machine)] * bytes_per_mb;
}

int64_t ll_bytes_per_s_max(const NcclMachine& machine) {
    const size_t cpu_row = machine.cpu == CpuMaker::amd ? 1 : 0;
    const size_t row = machine.node_count == 1 ? index_of(machine.gpu) : cpu_row;
    return ll_mb_per_s_max[row][scale_of(machine)] * bytes_per_mb;
}

// NCCL takes the rate inside a node for up to two nodes, that of the network from there on.
int64_t channel_bytes_per_s(const NcclMachine& machine, const NcclChannels& channels) {
    return machine.node_count <= 2 ? channels.node_bytes_per_s : channels.network_bytes_per_s;
}

// A ring's busBw is what each of its links carries: S/T = busBw N / 2(N-1).
int64_t ring_algorithm_rate(const NcclMachine& machine, int64_t bus_bytes_per_s) {
    return multiply_divide(bus_bytes_per_s, machine.rank_count, 2 * (machine.rank_count - 1));
}

// Simple pays the network twice: the data and the flush after it.
int64_t plugin_latency_ps(const NcclMachine& machine, NcclProtocol protocol) {
    return machine.network_latency_ps * (protocol == NcclProtocol::simple ? 2 : 1);
}

int64_t network_post_ps(const NcclMachine& machine, NcclProtocol protocol) {
    if (machine.node_count == 1) {
        return 0;
    }
    const int64_t post_ns =
        machine.cpu == CpuMaker::amd ? network_post_amd_ns : network_post_intel_ns;
    return post_ns * ps_per_ns * (protocol == NcclProtocol::simple ? 3 : 1);
}

// Why the protocol cannot be used whatever the algorithm; empty when it can.
std::string_view protocol_refusal(const NcclMachine& machine, NcclProtocol protocol) {
    if ((protocol == NcclProtocol::ll && !machine.ll_enabled) ||
        (protocol == NcclProtocol::ll128 && !machine.ll128_enabled)) {
        return "the protocol is switched off";
    }
    if (protocol == NcclProtocol::ll128 && machine.node_link != NodeLink::nvlink) {
        return "LL128 needs NVLink inside the node";
    }
    return "";
}

void fill_ring(const NcclMachine& machine, NcclCell& cell) {
    const size_t protocol = index_of(cell.protocol);
    const bool nvlink = machine.node_link == NodeLink::nvlink;
    const ByProtocol& node_hop_ns = nvlink ? ring_nvlink_hop_ns : ring_pcie_hop_ns;
    // With one rank per node nothing hides the network, and NCCL takes the tree's latency.
    const ByProtocol& network_hop_ns =
        ranks_per_node(machine) == 1 ? tree_network_hop_ns : ring_network_hop_ns;
    cell.launch_ps = ring_launch_ns[protocol] * ps_per_ns;
    cell.network_hop_count = 2 * (machine.node_count - 1);
    cell.network_hop_ps =
        network_hop_ns[protocol] * ps_per_ns + plugin_latency_ps(machine, cell.protocol);
    cell.node_hop_count = 2 * (machine.rank_count - 1) - cell.network_hop_count;
    cell.node_hop_ps =
        std::max(node_hop_ns[protocol] * ps_per_ns, network_post_ps(machine, cell.protocol));

    cell.channel_count = machine.ring.channel_count;
    int64_t rate = cell.channel_count * channel_bytes_per_s(machine, machine.ring);
    if (cell.protocol == NcclProtocol::ll) {
        rate = std::min(rate / 2, ll_bytes_per_s_max(machine));
    } else if (cell.protocol == NcclProtocol::ll128) {
        rate = std::min(permille(rate, 920),
                        cell.channel_count * limit(machine, ring_ll128_mb_per_s_max));
    } else if (machine.node_count > 1) {
        cell.plateau_begin_bytes = ring_plateau_bytes * cell.channel_count * machine.rank_count;
        cell.plateau_permille = machine.gpu == GpuGeneration::volta ? ring_plateau_volta_permille
                                                                    : ring_plateau_permille;
    }
    cell.bus_bytes_per_s = rate;
    cell.algorithm_bytes_per_s = ring_algorithm_rate(machine, rate);
}

void fill_tree(const NcclMachine& machine, NcclCell& cell) {
    const size_t protocol = index_of(cell.protocol);
    const bool nvlink = machine.node_link == NodeLink::nvlink;
    const ByProtocol& node_hop_ns = nvlink ? tree_nvlink_hop_ns : tree_pcie_hop_ns;
    cell.launch_ps = tree_launch_ns[protocol] * ps_per_ns;
    cell.node_hop_count = 2 * (ranks_per_node(machine) - 1);
    cell.node_hop_ps = node_hop_ns[protocol] * ps_per_ns;
    cell.network_hop_count = 2 * floor_log2(machine.node_count);
    cell.network_hop_ps =
        tree_network_hop_ns[protocol] * ps_per_ns + plugin_latency_ps(machine, cell.protocol);

    cell.channel_count = machine.tree.channel_count;
    int64_t rate = cell.channel_count * channel_bytes_per_s(machine, machine.tree);
    rate = std::min(permille(rate, 920), cell.channel_count * limit(machine, tree_mb_per_s_max));
    if (cell.protocol == NcclProtocol::ll) {
        rate = std::min(multiply_divide(rate, 10, 38), ll_bytes_per_s_max(machine));
    } else if (cell.protocol == NcclProtocol::ll128) {
        const bool one_node = machine.node_count == 1;
        const int64_t efficient =
            one_node ? multiply_divide(rate, 7, 9) : multiply_divide(rate, 120, 128);
        rate = std::min(efficient, cell.channel_count * limit(machine, tree_ll128_mb_per_s_max));
    }
    if (machine.tree_pattern_is_plain) {
        rate = permille(rate, 850);
    }
    cell.bus_bytes_per_s = rate;
    cell.algorithm_bytes_per_s = rate / 2;  // up and down
    cell.tree_correction = true;
}

int64_t nvls_block_count(const NcclMachine& machine) {
    if (machine.gpu != GpuGeneration::blackwell) {
        return nvls_hopper_block_count;
    }
    return machine.node_count == 1 ? nvls_blackwell_block_count
                                   : nvls_blackwell_block_count_between_nodes;
}

// NVLS on one node, NVLSTree on several.
void fill_nvls(const NcclMachine& machine, NcclCell& cell) {
    const bool tree = cell.algorithm == NcclAlgorithm::nvls_tree;
    cell.node_hop_count = 1;
    cell.node_hop_ps = nvls_node_ns * ps_per_ns;
    cell.network_hop_count = 2 * floor_log2(machine.node_count);
    cell.network_hop_ps =
        nvls_tree_network_hop_ns * ps_per_ns + plugin_latency_ps(machine, cell.protocol);

    // Reducing and broadcasting overlap, hence twice; one channel's worth goes to the own rank.
    const int64_t count = machine.nvls.channel_count;
    cell.channel_count = machine.nvls.channel_count;
    int64_t rate = permille(machine.nvls.node_bytes_per_s, nvls_permille[index_of(machine.gpu)]);
    rate = 2 * multiply_divide(rate, count - 1, count);
    if (tree) {
        const int64_t network = machine.nvls.network_bytes_per_s;
        rate = std::min({rate,
                         machine.node_count == 2 ? 2 * network : network,
                         limit(machine, nvls_tree_mb_per_s_max)});
    }
    cell.bus_bytes_per_s = count * rate;
    cell.algorithm_bytes_per_s = ring_algorithm_rate(machine, cell.bus_bytes_per_s);
    cell.tree_correction = tree && machine.gpu == GpuGeneration::blackwell;
    if (machine.effects.nvls_pipeline_fill) {
        cell.fill_lane_count = nvls_block_count(machine) * ranks_per_node(machine);
        cell.fill_chunk_bytes_max =
            tree && machine.node_count >= 4 ? nvls_tree_chunk_bytes_from_4_nodes : nvls_chunk_bytes;
    }
}

std::string_view nvls_refusal(const NcclMachine& machine, const NcclCell& cell) {
    const bool tree = cell.algorithm == NcclAlgorithm::nvls_tree;
    if (cell.protocol != NcclProtocol::simple) {
        return "NVLS knows Simple only";
    }
    if (machine.gpu < GpuGeneration::hopper) {
        return "NVLS needs Hopper or later";
    }
    if (machine.nvls.channel_count < 2) {
        return "NVLS has fewer than two channels";
    }
    if (tree != (machine.node_count > 1)) {
        return tree ? "NVLSTree needs several nodes"
                    : "NVLS needs one node, or SHARP in the network";
    }
    return "";
}

void apply_effects(const NcclMachine& machine, NcclCell& cell) {
    cell.launch_ps += machine.effects.launch_ps;
    for (const NcclCellEffect& effect : machine.effects.cells) {
        if (effect.algorithm == cell.algorithm && effect.protocol == cell.protocol) {
            cell.launch_ps += effect.added_latency_ps;
            cell.bus_bytes_per_s = permille(cell.bus_bytes_per_s, effect.rate_permille);
            cell.algorithm_bytes_per_s = permille(cell.algorithm_bytes_per_s, effect.rate_permille);
        }
    }
}

NcclCell build_cell(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol) {
    NcclCell cell;
    cell.algorithm = algorithm;
    cell.protocol = protocol;
    cell.refusal = protocol_refusal(machine, protocol);
    if (!cell.refusal.empty()) {
        return cell;
    }
    if (algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::tree) {
        const bool ring = algorithm == NcclAlgorithm::ring;
        if ((ring ? machine.ring : machine.tree).channel_count == 0) {
            cell.refusal = "the machine has no channel for it";
            return cell;
        }
        ring ? fill_ring(machine, cell) : fill_tree(machine, cell);
    } else {
        cell.refusal = nvls_refusal(machine, cell);
        if (!cell.refusal.empty()) {
            return cell;
        }
        fill_nvls(machine, cell);
    }
    apply_effects(machine, cell);
    return cell;
}

struct Range {
    std::string field;
    int64_t value = 0;
    int64_t min = 0;
    int64_t max = 0;
};

// The first number outside its range.
Status check_ranges(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
        if (range.value < range.min || range.value > range.max) {
            return invalid_field(
                range.field,
                std::to_string(range.value),
                "must be " + std::to_string(range.min) + " to " + std::to_string(range.max));
        }
    }
    return Done{};
}

// Rates count only where they are used.
void append_ranges(const NcclMachine& machine,
                   const std::string& name,
                   const NcclChannels& channels,
                   std::vector<Range>& ranges) {
    const int64_t min = channel_bytes_per_s_min;
    const int64_t max = bandwidth_bytes_per_s_max;
    ranges.push_back({name + ".channel_count", channels.channel_count, 0, channel_count_max});
    if (channels.channel_count != 0) {
        ranges.push_back({name + ".node_bytes_per_s", channels.node_bytes_per_s, min, max});
    }
    if (channels.channel_count != 0 && machine.node_count > 1) {
        ranges.push_back({name + ".network_bytes_per_s", channels.network_bytes_per_s, min, max});
    }
}

Status check_machine(const NcclMachine& machine) {
    const NcclEffects& effects = machine.effects;
    std::vector<Range> ranges{
        {"rank_count", machine.rank_count, 2, rank_count_max},
        {"node_count", machine.node_count, 1, machine.rank_count},
        {"network_latency_ps", machine.network_latency_ps, 0, added_ps_max},
        {"effects.launch_ps", effects.launch_ps, 0, added_ps_max},
    };
    append_ranges(machine, "ring", machine.ring, ranges);
    append_ranges(machine, "tree", machine.tree, ranges);
    append_ranges(machine, "nvls", machine.nvls, ranges);
    for (const NcclCellEffect& effect : effects.cells) {
        ranges.push_back({"effects.rate_permille", effect.rate_permille, 100, 2000});
        ranges.push_back({"effects.added_latency_ps", effect.added_latency_ps, 0, added_ps_max});
    }
    if (auto status = check_ranges(ranges); !status) {
        return status;
    }
    if (machine.rank_count % machine.node_count != 0) {
        return invalid_field(
            "node_count", std::to_string(machine.node_count), "must divide the ranks evenly");
    }
    return Done{};
}

// What of a tree's rate is left at this size. NCCL's index is the logarithm of the size in 64 B.
int64_t tree_correction_permille(const NcclCell& cell, int64_t bytes) {
    if (!cell.tree_correction || bytes < 64) {
        return 1000;
    }
    const int64_t size = floor_log2(bytes / 64);
    const int64_t size_count = cell.algorithm == NcclAlgorithm::tree
                                   ? tree_correction_size_count
                                   : nvls_tree_correction_size_count;
    if (size >= size_count) {
        return 1000;
    }
    return 100 * tree_correction_tenths[index_of(cell.protocol)][static_cast<size_t>(size)];
}

int64_t fill_bytes(const NcclCell& cell, int64_t bytes) {
    if (cell.fill_lane_count == 0) {
        return 0;
    }
    const std::span<const ChunkRule> rules =
        cell.algorithm == NcclAlgorithm::nvls ? std::span<const ChunkRule>(nvls_chunk_rules)
                                              : std::span<const ChunkRule>(nvls_tree_chunk_rules);
    int64_t chunk_bytes = cell.fill_chunk_bytes_max;
    for (const ChunkRule& rule : rules) {
        if (bytes < rule.loop_count * cell.fill_lane_count * chunk_bytes) {
            chunk_bytes = std::min(chunk_bytes, rule.chunk_bytes);
        }
    }
    return 2 * std::min(bytes, cell.fill_lane_count * chunk_bytes);
}

}  // namespace

Result<NcclModel> build_nccl_model(const NcclMachine& machine) {
    if (auto status = check_machine(machine); !status) {
        return status.error();
    }
    NcclModel model;
    bool any_allowed = false;
    for (size_t i = 0; i < model.cells.size(); ++i) {
        model.cells[i] = build_cell(machine,
                                    static_cast<NcclAlgorithm>(i / nccl_protocol_count),
                                    static_cast<NcclProtocol>(i % nccl_protocol_count));
        any_allowed = any_allowed || model.cells[i].refusal.empty();
    }
    if (!any_allowed) {
        return plain_error(ErrorKind::invalid_argument,
                           "the machine has no channels that NCCL could use");
    }
    return model;
}

const NcclCell& cell_of(const NcclModel& model, NcclAlgorithm algorithm, NcclProtocol protocol) {
    return model.cells[static_cast<size_t>(algorithm) * nccl_protocol_count + index_of(protocol)];
}

int64_t latency_ps(const NcclCell& cell, int64_t bytes) {
    RS_CHECK(cell.refusal.empty() && bytes >= 0 && bytes <= bytes_max);
    const int64_t latency = cell.launch_ps + cell.node_hop_count * cell.node_hop_ps +
                            cell.network_hop_count * cell.network_hop_ps;
    return bytes >= cell.plateau_begin_bytes ? permille(latency, cell.plateau_permille) : latency;
}

int64_t time_ps(const NcclCell& cell, int64_t bytes) {
    const int64_t rate =
        permille(cell.algorithm_bytes_per_s, tree_correction_permille(cell, bytes));
    return latency_ps(cell, bytes) + transfer_ps(bytes + fill_bytes(cell, bytes), rate);
}

const NcclCell& choose(const NcclModel& model, int64_t bytes) {
    const NcclCell* best = nullptr;
    for (const NcclCell& cell : model.cells) {
        if (cell.refusal.empty() &&
            (best == nullptr || time_ps(cell, bytes) < time_ps(*best, bytes))) {
            best = &cell;
        }
    }
    RS_CHECK(best != nullptr);
    return *best;
}

std::string_view nccl_name(NcclAlgorithm algorithm) {
    constexpr std::array<std::string_view, nccl_algorithm_count> names{
        "Ring", "Tree", "NVLS", "NVLSTree"};
    return names[static_cast<size_t>(algorithm)];
}

std::string_view nccl_name(NcclProtocol protocol) {
    constexpr std::array<std::string_view, nccl_protocol_count> names{"LL", "LL128", "Simple"};
    return names[index_of(protocol)];
}

}  // namespace ringscope
