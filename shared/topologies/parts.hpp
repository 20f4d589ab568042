// SPDX-License-Identifier: Apache-2.0
// What the presets in this folder are made of: checked rank counts, links of the run's own rates,
// and the server that most machines are variants of.
//
// Rates are NCCL's effective ones (src/graph/topo.h and topo.cc, 2.30), in bytes per second and
// direction, because a preset is to say what software gets, not what a data sheet adds up:
// NVLink 2 and 3 20 GB/s a link, NVLink 4 20.6, NVLink 5 40.1; PCIe x16 12 GB/s in generation 3, 24
// in 4, 48 in 5; 12 GB/s per 100 Gb/s of network.
//
// Latencies add up over a route. They are placed so that the sums between ranks are NCCL's
// constants of a ring step with its lightest protocol, LL (src/graph/tuning.cc): NVLink 0.6 us,
// PCIe 1.0 us, network 2.7 us. How a sum is shared out among the links of a route is an estimate
// throughout.
#pragma once

#include "shared/topology.hpp"

namespace ringscope {

inline constexpr int64_t gb_per_s = 1'000'000'000;

// A GPU and another, directly: NCCL's 0.6 us; with an NVSwitch between them half of it each way.
inline constexpr int64_t nvlink_latency_ps = 600'000;

// Four of these links lead from a GPU through its switch, the CPU and another switch to another
// GPU: NCCL's 1.0 us. (The switch itself takes 0.1 us of it: Broadcom's PEX88000 105 ns, Linley
// Newsletter of 2019-09-24.)
inline constexpr int64_t pcie_latency_ps = 250'000;

// Remote less local memory on a two-socket Xeon SP, 139 and 89 ns (qdpma.com, The Case for Single
// Processor): a load's way there and back, so rather too much than too little.
inline constexpr int64_t socket_latency_ps = 50'000;

// A network card and the switch: with two PCIe links on either side the sum is NCCL's 2.7 us.
inline constexpr int64_t nic_latency_ps = 850'000;

// From switch to switch on Ethernet: Spectrum-2's 300 ns (Linley Newsletter of 2017-07-31).
inline constexpr int64_t switch_latency_ps = 300'000;

// Errors: more ranks than `max`.
Status check_rank_count(const RunSpec& run, int32_t max);

// A link of the run's rates. Where a message passes several links, one of them has the latency.
Link run_link(const RunSpec& run, int32_t source_node, int32_t target_node, LinkKind kind);

// A rank's port into the network: up with the run's latency, down with none, so that a message
// from rank to rank takes the run's latency.
void add_port(
    Topology& topology, const RunSpec& run, int32_t rank_node, int32_t network, LinkKind kind);

// A server: GPUs in pairs (or ones, or fours) beneath PCIe switches, these beneath one or two CPUs,
// and perhaps all GPUs at an NVSwitch. Every GPU is a rank; GPUs without a rank are left out, and
// so is what would be beneath nothing.
struct ServerModel {
    int32_t gpus_per_pcie_switch = 1;
    int32_t gpus_per_cpu = 4;
    int64_t nvswitch_bytes_per_s = 0;  // of each GPU; 0: there is no NVSwitch
    int64_t pcie_bytes_per_s = 0;      // of x16
    int64_t cpu_bytes_per_s = 0;       // of x16 for what goes through the CPU
    int64_t socket_bytes_per_s = 0;    // from CPU to CPU
};

struct Server {
    std::vector<int32_t> gpus;
    std::vector<int32_t> pcie_switches;  // the GPUs' in their order
    std::vector<int32_t> cpus;
    int32_t nvswitch = -1;
};

inline constexpr int32_t server_gpu_count = 8;

// Adds one with up to eight GPUs. All its numbers go on from the hosts before it: the third host of
// a cluster has gpu16 to gpu23 and nvswitch2.
Server add_server(Topology& topology, const ServerModel& model, int32_t host, int32_t gpu_count);

// A single server whose GPUs are the run's ranks. Errors: more ranks than eight.
Result<Topology> build_server(const RunSpec& run, const ServerModel& model, bool nvswitch_reduces);

// The server of hgx_h100, which the clusters are made of as well.
ServerModel h100_server();

// A cluster of such servers. Its ranks are at most eight, on one server, or full servers of eight.
inline constexpr int32_t cluster_rank_count_max = 2048;

// Errors: a number of ranks that fills no servers.
Result<int32_t> count_servers(const RunSpec& run);

}  // namespace ringscope
