// SPDX-License-Identifier: Apache-2.0
#include "shared/topology.hpp"

#include <algorithm>

namespace ringscope {

int32_t Topology::add_node(NodeKind kind, std::string name, int32_t host) {
    nodes.push_back({kind, std::move(name), host});
    return static_cast<int32_t>(nodes.size()) - 1;
}

int32_t Topology::add_link(const Link& link) {
    links.push_back(link);
    return static_cast<int32_t>(links.size()) - 1;
}

void Topology::add_cable(const Link& link) {
    add_link(link);
    Link back = link;
    std::swap(back.source_node, back.target_node);
    add_link(back);
}

int32_t Topology::find_node(std::string_view name) const {
    const auto found = std::find_if(
        nodes.begin(), nodes.end(), [name](const Node& node) { return node.name == name; });
    return found == nodes.end() ? -1 : static_cast<int32_t>(found - nodes.begin());
}

int32_t Topology::find_link(int32_t source_node, int32_t target_node) const {
    const auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) {
        return link.source_node == source_node && link.target_node == target_node;
    });
    return found == links.end() ? -1 : static_cast<int32_t>(found - links.begin());
}

std::string Topology::link_name(int32_t link) const {
    const Link& named = links[static_cast<size_t>(link)];
    return nodes[static_cast<size_t>(named.source_node)].name + "-" +
           nodes[static_cast<size_t>(named.target_node)].name;
}

namespace {

Error no_such(const Knob& knob, const std::string& what) {
    return invalid_field(knob_name(knob), show_knob_value(knob), what);
}

// Every link that follows the run's rate; those of single pairs were set apart before, so they are
// brought back.
Status apply_bandwidth(Topology& topology, const Knob& knob) {
    bool any = false;
    for (Link& link : topology.links) {
        if (link.follows_bandwidth) {
            link.bandwidth_bytes_per_s = knob.value;
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

Status apply_to_link(Topology& topology, const Knob& knob) {
    const auto end = [&](int32_t rank, const std::string& name) {
        if (rank < 0) {
            return topology.find_node(name);
        }
        const bool known = rank < std::ssize(topology.rank_nodes);
        return known ? topology.rank_nodes[static_cast<size_t>(rank)] : -1;
    };
    const int32_t source = end(knob.rank, knob.source_node);
    const int32_t target = end(knob.target_rank, knob.target_node);
    if (source < 0 || target < 0) {
        return no_such(knob, "names a node that this topology does not have");
    }
    const int32_t index = topology.find_link(source, target);
    if (index >= 0) {
        Link& link = topology.links[static_cast<size_t>(index)];
        switch (knob.kind) {
            case Knob::Kind::link_bandwidth:
                link.bandwidth_bytes_per_s = knob.value;
                break;
            case Knob::Kind::link_latency:
                link.latency_ps = knob.value;
                break;
            case Knob::Kind::link_up:
                link.up = knob.value != 0;
                break;
            default:
                break;
        }
        return Done{};
    }
    if (knob.rank < 0 || knob.target_rank < 0) {
        return no_such(knob, "names two nodes that no link of this topology joins");
    }
    Pair& pair = topology.pairs[{knob.rank, knob.target_rank}];
    switch (knob.kind) {
        case Knob::Kind::link_bandwidth:
            pair.bandwidth_bytes_per_s = knob.value;
            break;
        case Knob::Kind::link_latency:
            pair.latency_ps = knob.value;
            break;
        case Knob::Kind::link_up:
            pair.up = knob.value != 0;
            break;
        default:
            break;
    }
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
    : topology_(topology),
      outgoing_(topology.nodes.size()),
      incoming_(topology.nodes.size()),
      distance_(topology.nodes.size()),
      width_(topology.nodes.size()) {
    for (size_t i = 0; i < topology.links.size(); ++i) {
        const Link& link = topology.links[i];
        outgoing_[static_cast<size_t>(link.source_node)].push_back(static_cast<int32_t>(i));
        incoming_[static_cast<size_t>(link.target_node)].push_back(static_cast<int32_t>(i));
    }
}

// Breadth first.
void Router::explore(int32_t source_node) {
    std::fill(distance_.begin(), distance_.end(), -1);
    distance_[static_cast<size_t>(source_node)] = 0;
    width_[static_cast<size_t>(source_node)] = INT64_MAX;
    std::vector<int32_t> queue{source_node};
    for (size_t next = 0; next < queue.size(); ++next) {
        const int32_t node = queue[next];
        const auto here = static_cast<size_t>(node);
        if (node != source_node && topology_.nodes[here].kind == NodeKind::gpu) {
            continue;
        }
        for (const int32_t index : outgoing_[here]) {
            const Link& link = topology_.links[static_cast<size_t>(index)];
            const auto there = static_cast<size_t>(link.target_node);
            const int64_t width = std::min(width_[here], link.bandwidth_bytes_per_s);
            if (distance_[there] < 0) {
                distance_[there] = distance_[here] + 1;
                width_[there] = width;
                queue.push_back(link.target_node);
            } else if (distance_[there] == distance_[here] + 1) {
                width_[there] = std::max(width_[there], width);
            }
        }
    }
    explored_node_ = source_node;
}

const std::vector<int32_t>& Router::route(int32_t source_node,
                                          int32_t target_node,
                                          int32_t channel) {
    route_.clear();
    if (explored_node_ != source_node) {
        explore(source_node);
    }
    if (source_node == target_node || distance_[static_cast<size_t>(target_node)] < 0) {
        return route_;
    }
    // Backwards from the target, over the widest of the shortest ways; equal ones take turns.
    const int64_t width = width_[static_cast<size_t>(target_node)];
    for (int32_t node = target_node; node != source_node;) {
        std::vector<int32_t> equal;
        for (const int32_t index : incoming_[static_cast<size_t>(node)]) {
            const Link& link = topology_.links[static_cast<size_t>(index)];
            const auto before = static_cast<size_t>(link.source_node);
            const bool passes =
                link.source_node == source_node || topology_.nodes[before].kind != NodeKind::gpu;
            if (passes && distance_[before] == distance_[static_cast<size_t>(node)] - 1 &&
                std::min(width_[before], link.bandwidth_bytes_per_s) >= width) {
                equal.push_back(index);
            }
        }
        RS_CHECK(!equal.empty());
        const auto turn = static_cast<size_t>(source_node + target_node + channel);
        route_.push_back(equal[turn % equal.size()]);
        node = topology_.links[static_cast<size_t>(route_.back())].source_node;
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
