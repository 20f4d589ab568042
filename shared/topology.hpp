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

#include <array>
#include <cstdint>
#include <functional>
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
    int32_t bandwidth_divisor = 1;  // of one that follows: how much narrower than the run's it is
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
    std::vector<Node> nodes;  // grow by add_node() only, links by add_link() and add_cable()
    std::vector<Link> links;
    std::vector<int32_t> rank_nodes;  // [rank]
    int32_t reducing_node = -1;       // a switch that can reduce and multicast; -1: none
    int64_t launch_ps = 0;            // before any rank does anything, by the cost model
    int32_t host_rank_count = 0;      // ranks of each host when they are alike, else 0
    std::map<std::pair<int32_t, int32_t>, Pair> pairs;  // by source and target rank

    // What finds things: kept by add_node() and add_link().
    std::map<std::string, int32_t, std::less<>> node_indices;  // by name
    std::vector<std::vector<int32_t>> outgoing;                // [node] links

    bool operator==(const Topology&) const = default;

    // For building one. Both directions are alike in add_cable().
    int32_t add_node(NodeKind kind, std::string name, int32_t host = -1);
    int32_t add_link(const Link& link);
    void add_cable(const Link& link);
    int32_t add_rank(std::string name, int32_t host = -1);  // a GPU; returns the node

    int32_t find_node(std::string_view name) const;                     // -1: none
    int32_t find_link(int32_t source_node, int32_t target_node) const;  // -1: none
    std::string link_name(int32_t link) const;                          // "gpu3-nvswitch0"

    // Turns a knob about links; others change nothing. Errors name the knob: a node or link that
    // does not exist, a rate that no link follows.
    Status apply(const Knob& knob);
};

// The rate of a link that is this much narrower than the run's.
int64_t narrowed(int64_t bandwidth_bytes_per_s, int32_t divisor);

// Ranks of each host, when the ranks come host after host with as many in each; else 0.
int32_t count_host_ranks(const Topology& topology);

// Finds routes: the fewest links; among those the widest narrowest link; among those a choice that
// depends on target and channel only, so that equal ways are shared out. GPUs do not pass on what
// is for others.
//
// The choice is that of static routing by target (D-mod-K, as in InfiniBand's fat trees): when
// every rank sends to the rank d further on, no two of them share a link between full levels of
// switches. Hashing, as most Ethernet does it, would let some of them collide.
//
// It knows the topology as it was when the router was made. Links that were down then are used only
// where nothing else leads to the target; links that go down later keep their routes, as cables
// that are cut keep theirs until somebody routes anew.
class Router {
  public:
    explicit Router(const Topology& topology);

    // Link indices from one node to another; empty when they are the same node or nothing joins
    // them. Cost: O(nodes + links that are no further from the source than the target) for a new
    // source, which is kept, and O(route x equal ways) else.
    const std::vector<int32_t>& route(int32_t source_node, int32_t target_node, int32_t channel);

    // Whether there is a route, also over links that are down. Cost: as route().
    bool reaches(int32_t source_node, int32_t target_node);

  private:
    // What is known from one source: ways over links that are up, or over all.
    struct Ways {
        bool also_down = false;
        int32_t source_node = -1;
        std::vector<int32_t> queue;     // nodes by distance
        size_t next = 0;                // of the queue: whose links were not followed yet
        std::vector<int32_t> distance;  // [node] links from the source, or -1
        std::vector<int64_t> width;     // [node] of the widest shortest way
        std::vector<int32_t> last;      // [node] last link of one shortest way, or -1
        std::vector<int32_t> other;     // [link] last link of another, or -1
    };
    const Ways& ways_to(int32_t source_node, int32_t target_node);
    void explore(Ways& ways, int32_t source_node, int32_t target_node) const;
    void follow_links(Ways& ways, int32_t node) const;

    std::vector<Link> links_;
    std::vector<std::vector<int32_t>> outgoing_;  // [node] links
    std::vector<bool> passes_on_;                 // [node]
    std::vector<int32_t> number_;                 // [node] what the choice goes by
    Ways ways_up_;
    Ways ways_all_;
    std::vector<int32_t> equal_;
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
