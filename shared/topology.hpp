// SPDX-License-Identifier: Apache-2.0
// Topology: a directed graph of devices and links, and which route a message takes over it.
//
// Every link has a rate and a latency of its own, per direction; messages that share a link share
// its rate (simulator.hpp). Presets are files in topologies/, listed in topologies/registry.cpp;
// topology=graph is one that a user describes (topology_text.hpp).
//
//     Result<Topology> topology = build_topology(run);
//     Router router(*topology);
//     router.route(source, target, channel);   // link after link
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/run_spec.hpp"

namespace ringscope {

enum class NodeKind : uint8_t {
    gpu,
    nvswitch,
    pcie_switch,
    cpu,
    nic,
    network_switch,
    network,  // ideal: without contention or storing of its own
};
enum class LinkKind : uint8_t { ideal, nvlink, pcie, socket, network };

// By enumerator: what a graph's description and a knob's node names are made of.
inline constexpr std::array<std::string_view, 7> node_kind_names{
    "gpu", "nvswitch", "pcie", "cpu", "nic", "switch", "network"};
inline constexpr std::array<std::string_view, 5> link_kind_names{
    "ideal", "nvlink", "pcie", "socket", "network"};

struct Node {
    NodeKind kind = NodeKind::gpu;
    std::string name;   // "gpu3", "nvswitch0": unique
    int32_t host = -1;  // the machine that it is in; -1: none, as a network switch

    bool operator==(const Node&) const = default;
};

// One direction of a connection. Full duplex: the way back is a link of its own.
struct Link {
    int32_t source_node = 0;
    int32_t target_node = 0;
    LinkKind kind = LinkKind::ideal;
    int64_t bandwidth_bytes_per_s = 0;
    int64_t latency_ps = 0;
    bool follows_bandwidth = false;  // of the run, also when that changes
    bool follows_latency = false;
    bool up = true;

    bool operator==(const Link&) const = default;
};

// What was set for the messages from one rank to another where no single link joins them: a limit
// and a latency of their own, on top of the route's.
struct Pair {
    std::optional<int64_t> bandwidth_bytes_per_s;
    std::optional<int64_t> latency_ps;
    bool up = true;

    bool operator==(const Pair&) const = default;
};

struct Topology {
    std::vector<Node> nodes;
    std::vector<Link> links;
    std::vector<int32_t> rank_nodes;  // [rank]
    int32_t reducing_node = -1;       // a switch that can reduce and multicast; -1: none
    int32_t host_rank_count = 0;      // ranks of each host when they are alike, else 0
    std::map<std::pair<int32_t, int32_t>, Pair> pairs;  // by source and target rank

    // For building one. Both directions are alike in add_cable().
    int32_t add_node(NodeKind kind, std::string name, int32_t host = -1);
    int32_t add_link(const Link& link);
    void add_cable(const Link& link);

    int32_t find_node(std::string_view name) const;                     // -1: none
    int32_t find_link(int32_t source_node, int32_t target_node) const;  // -1: none
    std::string link_name(int32_t link) const;                          // "gpu3-nvswitch0"

    // Turns a knob about links; others change nothing. Errors name the knob: a node or link that
    // does not exist, a rate that no link follows.
    Status apply(const Knob& knob);
};

// Finds routes: the fewest links; among those the widest narrowest link; among those a choice that
// depends on source, target and channel only, so that equal ways are shared out. GPUs do not pass
// on what is for others.
class Router {
  public:
    explicit Router(const Topology& topology);

    // Link indices from one node to another; empty when they are the same node or nothing joins
    // them. Cost: O(links) per source, kept for the last source.
    const std::vector<int32_t>& route(int32_t source_node, int32_t target_node, int32_t channel);

  private:
    void explore(int32_t source_node);

    const Topology& topology_;
    std::vector<std::vector<int32_t>> outgoing_;  // [node] links
    std::vector<std::vector<int32_t>> incoming_;  // [node] links
    int32_t explored_node_ = -1;
    std::vector<int32_t> distance_;  // [node] links from explored_node_, or -1
    std::vector<int64_t> width_;     // [node] of the widest shortest way
    std::vector<int32_t> route_;
};

struct TopologyPreset {
    std::string_view name;
    std::string_view summary;
    std::string_view source;  // where its rates are from; empty when they are the run's own
    // Errors name a key, mostly ranks.
    Result<Topology> (*build)(const RunSpec& run);
};

std::span<const TopologyPreset* const> topology_presets();

// The run's preset with its settings applied (its changes are not: they happen later).
Result<Topology> build_topology(const RunSpec& run);

}  // namespace ringscope
