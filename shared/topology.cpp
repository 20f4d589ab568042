// SPDX-License-Identifier: Apache-2.0
#include "shared/topology.hpp"

#include <algorithm>

#include "shared/cost_model.hpp"

namespace ringscope {

int32_t Topology::add_node(NodeKind kind, std::string name, int32_t host) {
    const auto index = static_cast<int32_t>(nodes.size());
    const bool is_new = node_indices.emplace(name, index).second;
    RS_CHECK(is_new);
    nodes.push_back({kind, std::move(name), host});
    outgoing.emplace_back();
    return index;
}

int32_t Topology::add_link(const Link& link) {
    const auto index = static_cast<int32_t>(links.size());
    links.push_back(link);
    outgoing[static_cast<size_t>(link.source_node)].push_back(index);
    return index;
}

void Topology::add_cable(const Link& link) {
    add_link(link);
    Link back = link;
    std::swap(back.source_node, back.target_node);
    add_link(back);
}

int32_t Topology::add_rank(std::string name, int32_t host) {
    const int32_t node = add_node(NodeKind::gpu, std::move(name), host);
    rank_nodes.push_back(node);
    return node;
}

int32_t Topology::find_node(std::string_view name) const {
    const auto found = node_indices.find(name);
    return found == node_indices.end() ? -1 : found->second;
}

int32_t Topology::find_link(int32_t source_node, int32_t target_node) const {
    for (const int32_t index : outgoing[static_cast<size_t>(source_node)]) {
        if (links[static_cast<size_t>(index)].target_node == target_node) {
            return index;
        }
    }
    return -1;
}

std::string Topology::link_name(int32_t link) const {
    const Link& named = links[static_cast<size_t>(link)];
    return nodes[static_cast<size_t>(named.source_node)].name + "-" +
           nodes[static_cast<size_t>(named.target_node)].name;
}

int64_t narrowed(int64_t bandwidth_bytes_per_s, int32_t divisor) {
    return std::max<int64_t>(1, bandwidth_bytes_per_s / divisor);
}

int32_t count_host_ranks(const Topology& topology) {
    const auto host_of = [&](size_t rank) {
        return topology.nodes[static_cast<size_t>(topology.rank_nodes[rank])].host;
    };
    const size_t rank_count = topology.rank_nodes.size();
    size_t count = 1;
    while (count < rank_count && host_of(count) == host_of(0)) {
        ++count;
    }
    std::vector<int32_t> hosts;
    for (size_t rank = 0; rank < rank_count; ++rank) {
        if (rank % count == 0) {
            hosts.push_back(host_of(rank));
        }
        if (host_of(rank) < 0 || host_of(rank) != hosts.back()) {
            return 0;
        }
    }
    std::sort(hosts.begin(), hosts.end());
    const bool repeated = std::adjacent_find(hosts.begin(), hosts.end()) != hosts.end();
    return repeated || rank_count % count != 0 ? 0 : static_cast<int32_t>(count);
}

namespace {

Error no_such(const Knob& knob, const std::string& what) {
    return invalid_field(knob_name(knob), show_knob_value(knob), what);
}

// The first few nodes' names, one for each kind of name: "gpu0, nvswitch0, pcie0".
std::string sample_names(const Topology& topology) {
    constexpr size_t sample_count_max = 8;
    std::string text;
    std::vector<std::string> stems;
    for (const Node& node : topology.nodes) {
        const std::string stem = node.name.substr(0, node.name.find_last_not_of("0123456789") + 1);
        if (stems.size() == sample_count_max ||
            std::find(stems.begin(), stems.end(), stem) != stems.end()) {
            continue;
        }
        text += (stems.empty() ? "" : ", ") + node.name;
        stems.push_back(stem);
    }
    return text;
}

// The nodes that a link leads to from here, or the first few of them.
std::string neighbour_names(const Topology& topology, int32_t node) {
    constexpr size_t neighbour_count_max = 8;
    const std::vector<int32_t>& outgoing = topology.outgoing[static_cast<size_t>(node)];
    std::string text;
    for (size_t i = 0; i < outgoing.size() && i < neighbour_count_max; ++i) {
        const Link& link = topology.links[static_cast<size_t>(outgoing[i])];
        text += (i == 0 ? "" : ", ") + topology.nodes[static_cast<size_t>(link.target_node)].name;
    }
    return text + (outgoing.size() > neighbour_count_max ? " and more" : "");
}

// Every link that follows the run's rate; those of single pairs were set apart before, so they are
// brought back.
Status apply_bandwidth(Topology& topology, const Knob& knob) {
    bool any = false;
    for (Link& link : topology.links) {
        if (link.follows_bandwidth) {
            link.bandwidth_bytes_per_s = narrowed(knob.value, link.bandwidth_divisor);
            any = true;
        }
    }
    for (auto& [ranks, pair] : topology.pairs) {
        pair.bandwidth_bytes_per_s.reset();
    }
    return any ? Status(Done{})
               : no_such(knob, "turns nothing: the links of this topology have their own rates");
}

Status apply_latency(Topology& topology, const Knob& knob) {
    bool any = false;
    for (Link& link : topology.links) {
        if (link.follows_latency) {
            link.latency_ps = knob.value;
            any = true;
        }
    }
    for (auto& [ranks, pair] : topology.pairs) {
        pair.latency_ps.reset();
    }
    return any ? Status(Done{})
               : no_such(knob,
                         "turns nothing: the links of this topology have their own latencies");
}

// The node at one end of a knob's link: a rank's, or the one with that name.
Result<int32_t> find_end(const Topology& topology,
                         const Knob& knob,
                         int32_t rank,
                         const std::string& name) {
    if (rank >= 0) {
        if (rank < std::ssize(topology.rank_nodes)) {
            return topology.rank_nodes[static_cast<size_t>(rank)];
        }
        return no_such(knob, "names a rank that this topology does not have");
    }
    const int32_t node = topology.find_node(name);
    if (node < 0) {
        return no_such(knob,
                       "names " + name +
                           ", a node that this topology does not have; those that it has are "
                           "called " +
                           sample_names(topology));
    }
    return node;
}

template <class LinkOrPair>
void turn(LinkOrPair& target, const Knob& knob) {
    switch (knob.kind) {
        case Knob::Kind::link_bandwidth:
            target.bandwidth_bytes_per_s = knob.value;
            break;
        case Knob::Kind::link_latency:
            target.latency_ps = knob.value;
            break;
        case Knob::Kind::link_up:
            target.up = knob.value != 0;
            break;
        default:
            break;
    }
}

Status apply_to_link(Topology& topology, const Knob& knob) {
    const auto source = find_end(topology, knob, knob.rank, knob.source_node);
    if (!source) {
        return source.error();
    }
    const auto target = find_end(topology, knob, knob.target_rank, knob.target_node);
    if (!target) {
        return target.error();
    }
    if (const int32_t index = topology.find_link(*source, *target); index >= 0) {
        turn(topology.links[static_cast<size_t>(index)], knob);
        return Done{};
    }
    if (knob.rank < 0 || knob.target_rank < 0) {
        const std::string& name = topology.nodes[static_cast<size_t>(*source)].name;
        return no_such(knob,
                       "names two nodes that no link of this topology joins; from " + name +
                           " there are links to " + neighbour_names(topology, *source));
    }
    turn(topology.pairs[{knob.rank, knob.target_rank}], knob);
    return Done{};
}

}  // namespace

Status Topology::apply(const Knob& knob) {
    switch (knob.kind) {
        case Knob::Kind::bandwidth:
            return apply_bandwidth(*this, knob);
        case Knob::Kind::latency:
            return apply_latency(*this, knob);
        case Knob::Kind::link_bandwidth:
        case Knob::Kind::link_latency:
        case Knob::Kind::link_up:
        case Knob::Kind::link_fault:
            return apply_to_link(*this, knob);
        default:
            return Done{};
    }
}

Router::Router(const Topology& topology)
    : links_(topology.links),
      outgoing_(topology.outgoing),
      passes_on_(topology.nodes.size()),
      number_(topology.nodes.size()) {
    for (size_t i = 0; i < topology.nodes.size(); ++i) {
        passes_on_[i] = topology.nodes[i].kind != NodeKind::gpu;
        number_[i] = static_cast<int32_t>(i);
    }
    std::map<int32_t, int32_t> ranks_before;  // by host
    for (const int32_t node : topology.rank_nodes) {
        const int32_t host = topology.nodes[static_cast<size_t>(node)].host;
        number_[static_cast<size_t>(node)] = std::max(0, host) + ranks_before[host]++;
    }
    for (Ways* ways : {&ways_up_, &ways_all_}) {
        ways->width.resize(topology.nodes.size());
        ways->other.resize(topology.links.size());
    }
    ways_all_.also_down = true;
}

// Breadth first, until all shortest ways to the target are known.
void Router::explore(Ways& ways, int32_t source_node, int32_t target_node) const {
    if (ways.source_node != source_node) {
        ways.source_node = source_node;
        ways.distance.assign(outgoing_.size(), -1);
        ways.last.assign(outgoing_.size(), -1);
        ways.distance[static_cast<size_t>(source_node)] = 0;
        ways.width[static_cast<size_t>(source_node)] = INT64_MAX;
        ways.queue = {source_node};
        ways.next = 0;
    }
    const int32_t& distance = ways.distance[static_cast<size_t>(target_node)];
    for (; ways.next < ways.queue.size(); ++ways.next) {
        const int32_t node = ways.queue[ways.next];
        if (distance >= 0 && ways.distance[static_cast<size_t>(node)] >= distance) {
            return;
        }
        if (node == source_node || passes_on_[static_cast<size_t>(node)]) {
            follow_links(ways, node);
        }
    }
}

// The last links of all shortest ways to a node form a list: last, other, other ...
void Router::follow_links(Ways& ways, int32_t node) const {
    const auto here = static_cast<size_t>(node);
    for (const int32_t index : outgoing_[here]) {
        const Link& link = links_[static_cast<size_t>(index)];
        if (!link.up && !ways.also_down) {
            continue;
        }
        const auto there = static_cast<size_t>(link.target_node);
        if (ways.distance[there] < 0) {
            ways.distance[there] = ways.distance[here] + 1;
            ways.width[there] = 0;
            ways.queue.push_back(link.target_node);
        }
        if (ways.distance[there] == ways.distance[here] + 1) {
            const int64_t width = std::min(ways.width[here], link.bandwidth_bytes_per_s);
            ways.width[there] = std::max(ways.width[there], width);
            ways.other[static_cast<size_t>(index)] = ways.last[there];
            ways.last[there] = index;
        }
    }
}

const Router::Ways& Router::ways_to(int32_t source_node, int32_t target_node) {
    for (Ways* ways : {&ways_up_, &ways_all_}) {
        explore(*ways, source_node, target_node);
        if (ways->distance[static_cast<size_t>(target_node)] >= 0) {
            return *ways;
        }
    }
    return ways_all_;
}

bool Router::reaches(int32_t source_node, int32_t target_node) {
    return ways_to(source_node, target_node).distance[static_cast<size_t>(target_node)] >= 0;
}

const std::vector<int32_t>& Router::route(int32_t source_node,
                                          int32_t target_node,
                                          int32_t channel) {
    route_.clear();
    const Ways& ways = ways_to(source_node, target_node);
    if (ways.distance[static_cast<size_t>(target_node)] <= 0) {
        return route_;
    }
    // Backwards from the target, over the widest of the shortest ways.
    const int64_t width = ways.width[static_cast<size_t>(target_node)];
    int32_t turn = number_[static_cast<size_t>(target_node)] + channel;
    for (int32_t node = target_node; node != source_node;) {
        equal_.clear();
        for (int32_t index = ways.last[static_cast<size_t>(node)]; index >= 0;
             index = ways.other[static_cast<size_t>(index)]) {
            const Link& link = links_[static_cast<size_t>(index)];
            const auto before = static_cast<size_t>(link.source_node);
            if (std::min(ways.width[before], link.bandwidth_bytes_per_s) >= width) {
                equal_.push_back(index);
            }
        }
        RS_CHECK(!equal_.empty());
        const auto count = static_cast<int32_t>(equal_.size());
        route_.push_back(equal_[static_cast<size_t>(turn % count)]);
        turn /= count;
        node = links_[static_cast<size_t>(route_.back())].source_node;
    }
    std::reverse(route_.begin(), route_.end());
    return route_;
}

Result<Topology> build_topology(const RunSpec& run) {
    for (const TopologyPreset* preset : topology_presets()) {
        if (preset->name != run.topology) {
            continue;
        }
        auto topology = preset->build(run);
        if (!topology) {
            return topology.error();
        }
        RS_CHECK(std::ssize(topology->rank_nodes) == run.problem.rank_count);
        topology->host_rank_count = count_host_ranks(*topology);
        if (run.cost != Cost::plain) {
            topology = build_cost_topology(run, *topology);
            if (!topology) {
                return topology.error();
            }
        }
        for (const Knob& knob : run.settings) {
            if (const Status status = topology->apply(knob); !status) {
                return status.error();
            }
        }
        return topology;
    }
    RS_CHECK(false && "a RunSpec names a preset that is not in the registry");
    return Topology{};
}

}  // namespace ringscope
