// SPDX-License-Identifier: Apache-2.0
#include "shared/idle_keys.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/topology.hpp"

namespace ringscope {
namespace {

bool fails_somehow(const RunSpec& run) {
    const auto breaks = [](const Knob& knob) {
        return knob.kind == Knob::Kind::link_up || knob.kind == Knob::Kind::link_fault ||
               knob.kind == Knob::Kind::rank_alive || knob.kind == Knob::Kind::rank_frozen;
    };
    return std::any_of(run.settings.begin(), run.settings.end(), breaks) ||
           std::any_of(run.changes.begin(), run.changes.end(), [&](const Change& change) {
               return breaks(change.knob);
           });
}

template <auto flag>
bool any_link(const Topology& topology) {
    return std::any_of(
        topology.links.begin(), topology.links.end(), [](const Link& link) { return link.*flag; });
}

// Whether a message is ever stored on its way.
bool stores(const Topology& topology) {
    return std::any_of(topology.links.begin(), topology.links.end(), [&](const Link& link) {
        const Node& node = topology.nodes[static_cast<size_t>(link.source_node)];
        const bool a_rank =
            std::find(topology.rank_nodes.begin(), topology.rank_nodes.end(), link.source_node) !=
            topology.rank_nodes.end();
        return !a_rank && node.kind != NodeKind::network;
    });
}

bool ranks_reduce(const Schedule& schedule) {
    return !schedule.with_switch && schedule.problem.collective != Collective::all_gather &&
           schedule.problem.collective != Collective::broadcast;
}

std::string network_reason(const RunSpec& run, const Topology& topology, std::string_view key) {
    if (key == "bandwidth" && !any_link<&Link::follows_bandwidth>(topology)) {
        return run.cost == Cost::plain
                   ? "the links of topology=" + run.topology + " have their own rates"
                   : "the cost model says what things take";
    }
    if (key == "latency" && !any_link<&Link::follows_latency>(topology)) {
        return run.cost == Cost::plain
                   ? "the links of topology=" + run.topology + " have their own latencies"
                   : "the cost model says what things take";
    }
    if (key == "forwarding" && !stores(topology)) {
        return "no message passes a switch that could store it";
    }
    return "";
}

}  // namespace

std::string idle_reason(const RunSpec& run, std::string_view key) {
    if (key == "graph" && run.topology != "graph") {
        return "only topology=graph reads it";
    }
    if (key == "oversubscription" && run.topology != "leaf_spine") {
        return "topology=" + run.topology + " has no uplinks to make narrower";
    }
    if (key == "protocol" && run.cost != Cost::nccl) {
        return "only cost=nccl knows protocols";
    }
    if (key == "fit" && run.cost != Cost::fitted) {
        return "only cost=fitted reads it";
    }
    if ((key == "recovery" || key == "timeout") && !fails_somehow(run)) {
        return "nothing fails in this run";
    }
    const auto topology = build_topology(run);
    const auto schedule = topology ? build_schedule(run, *topology) : topology.error();
    if (!topology || !schedule) {
        return "";
    }
    if (schedule->message_count() == 0 && key != "ranks" && key != "algorithm") {
        return "one rank alone has nothing to send";
    }
    if (key == "group" && !schedule->algorithm->uses_groups) {
        return "algorithm=" + run.algorithm + " has no groups";
    }
    if (key == "reduce" && !ranks_reduce(*schedule)) {
        return "no rank reduces anything";
    }
    return network_reason(run, *topology, key);
}

}  // namespace ringscope
