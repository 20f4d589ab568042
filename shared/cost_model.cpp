// SPDX-License-Identifier: Apache-2.0
#include "shared/cost_model.hpp"

#include <algorithm>
#include <array>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/nccl_presets.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

// Which machine of NCCL's model a topology is.
struct Machine {
    std::string_view topology;
    std::string_view preset;
};
constexpr std::array machines{Machine{"dgx1_v100", "v100-1x8-one-process"},
                              Machine{"dgx_a100", "a100-1x8"},
                              Machine{"hgx_h100", "h100-1x8"},
                              Machine{"hgx_h200", "h200-1x8"},
                              Machine{"b200", "b200-1x8"},
                              Machine{"rail_infiniband", "h100-2x8-infiniband"},
                              Machine{"efa", "h100-2x8-efa"}};

// What NCCL has of ours.
struct Method {
    std::string_view algorithm;
    NcclAlgorithm on_one_node;
    NcclAlgorithm on_several;
};
constexpr std::array methods{Method{"ring", NcclAlgorithm::ring, NcclAlgorithm::ring},
                             Method{"ring_bidirectional", NcclAlgorithm::ring, NcclAlgorithm::ring},
                             Method{"tree", NcclAlgorithm::tree, NcclAlgorithm::tree},
                             Method{"double_tree", NcclAlgorithm::tree, NcclAlgorithm::tree},
                             Method{"in_switch", NcclAlgorithm::nvls, NcclAlgorithm::nvls_tree}};

template <class List, class NameOf>
std::string names_of(const List& list, NameOf name_of) {
    std::string names;
    for (const auto& item : list) {
        names += " " + std::string(name_of(item));
    }
    return names;
}

struct Formula {
    int64_t launch_ps = 0;
    int64_t latency_ps = 0;  // of all steps
    int64_t bytes_per_s = 0;
    std::string choice;
};

Result<Formula> fitted_formula(const RunSpec& run) {
    if (run.fit.empty()) {
        return invalid_field(
            "fit", "", "must be given for cost=fitted, such as 20us+50GB/s,60us+137GB/s");
    }
    const int64_t bytes = buffer_bytes(run.problem);
    size_t best = 0;
    const auto line_ps = [&](size_t i) {
        return run.fit[i].latency_ps + saturating_transfer_ps(bytes, run.fit[i].bytes_per_s);
    };
    for (size_t i = 1; i < run.fit.size(); ++i) {
        best = line_ps(i) < line_ps(best) ? i : best;
    }
    return Formula{0,
                   run.fit[best].latency_ps,
                   run.fit[best].bytes_per_s,
                   "line " + std::to_string(best + 1) + " of the fit"};
}

Result<NcclMachine> machine_of(const RunSpec& run) {
    const auto machine = std::find_if(machines.begin(), machines.end(), [&](const Machine& known) {
        return known.topology == run.topology;
    });
    if (machine == machines.end()) {
        return invalid_field(
            "cost",
            "nccl",
            "knows the topologies" +
                names_of(machines, [](const Machine& known) { return known.topology; }) + ", not " +
                run.topology);
    }
    NcclMachine nccl = find_nccl_preset(machine->preset)->machine;
    constexpr int32_t node_rank_count = 8;
    nccl.rank_count = run.problem.rank_count;
    nccl.node_count =
        nccl.node_count == 1 ? 1 : (run.problem.rank_count + node_rank_count - 1) / node_rank_count;
    return nccl;
}

// The protocol asked for, or the allowed one that is fastest at this size.
const NcclCell* choose_cell(const NcclModel& model, NcclAlgorithm algorithm, const RunSpec& run) {
    const NcclCell* best = nullptr;
    const int64_t bytes = buffer_bytes(run.problem);
    for (const NcclProtocol protocol :
         {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
        const NcclCell& cell = cell_of(model, algorithm, protocol);
        const bool wanted = run.protocol == Protocol::automatic ||
                            static_cast<int>(run.protocol) == static_cast<int>(protocol) + 1;
        if (wanted && cell.refusal.empty() &&
            (best == nullptr || time_ps(cell, bytes) < time_ps(*best, bytes))) {
            best = &cell;
        }
    }
    return best;
}

Result<Formula> nccl_formula(const RunSpec& run) {
    const auto method = std::find_if(methods.begin(), methods.end(), [&](const Method& known) {
        return known.algorithm == run.algorithm;
    });
    if (method == methods.end()) {
        return invalid_field(
            "cost",
            "nccl",
            "knows the algorithms" +
                names_of(methods, [](const Method& known) { return known.algorithm; }) + ", not " +
                run.algorithm);
    }
    const auto machine = machine_of(run);
    if (!machine) {
        return machine.error();
    }
    const auto model = build_nccl_model(*machine);
    if (!model) {
        return model.error();
    }
    const NcclAlgorithm algorithm =
        machine->node_count == 1 ? method->on_one_node : method->on_several;
    const NcclCell* cell = choose_cell(*model, algorithm, run);
    if (cell == nullptr) {
        return invalid_field("protocol",
                             std::string(protocol_names[static_cast<size_t>(run.protocol)]),
                             "is one that NCCL does not use for " +
                                 std::string(nccl_name(algorithm)) + " on this machine");
    }
    const int64_t bytes = buffer_bytes(run.problem);
    const int64_t all_ps = time_ps(*cell, bytes);
    const int64_t wire_ps = saturating_transfer_ps(bytes, cell->algorithm_bytes_per_s);
    return Formula{cell->launch_ps,
                   std::max<int64_t>(0, all_ps - wire_ps - cell->launch_ps),
                   cell->algorithm_bytes_per_s,
                   "NCCL 2.30: " + std::string(nccl_name(cell->algorithm)) + " with " +
                       std::string(nccl_name(cell->protocol))};
}

Result<Formula> formula_of(const RunSpec& run) {
    return run.cost == Cost::fitted ? fitted_formula(run) : nccl_formula(run);
}

// The most that any rank sends, exactly as the schedule says.
int64_t port_bytes(const Schedule& schedule) {
    int64_t most = 0;
    std::vector<Transfer> sends;
    for (int32_t rank = 0; rank < schedule.problem.rank_count; ++rank) {
        int64_t sent = 0;
        for (int32_t lane = 0; lane < schedule.lane_count; ++lane) {
            for (int32_t step = 0; step < schedule.step_count; ++step) {
                sends.clear();
                schedule.append_sends(lane, step, rank, sends);
                for (const Transfer& transfer : sends) {
                    sent += schedule.bytes(transfer);
                }
            }
        }
        most = std::max(most, sent);
    }
    return most;
}

}  // namespace

Result<Topology> build_cost_topology(const RunSpec& run, const Topology& real) {
    const auto formula = formula_of(run);
    if (!formula) {
        return formula.error();
    }
    const auto schedule = build_schedule(run, real);
    if (!schedule) {
        return schedule.error();
    }
    const int64_t bytes = buffer_bytes(run.problem);
    int64_t rate = formula->bytes_per_s;
    if (const int64_t most = port_bytes(*schedule); bytes > 0 && most > 0) {
        rate = std::clamp<int64_t>(
            multiply_divide(std::min(rate, bandwidth_bytes_per_s_max), most, bytes),
            1,
            bandwidth_bytes_per_s_max);
    }
    Topology topology;
    topology.launch_ps = formula->launch_ps;
    topology.host_rank_count = real.host_rank_count;
    for (size_t rank = 0; rank < real.rank_nodes.size(); ++rank) {
        const Node& node = real.nodes[static_cast<size_t>(real.rank_nodes[rank])];
        topology.rank_nodes.push_back(topology.add_node(node.kind, node.name, node.host));
    }
    const int32_t network = topology.add_node(NodeKind::network, "network0");
    topology.reducing_node = real.reducing_node < 0 ? -1 : network;
    const int64_t step_ps = formula->latency_ps / std::max(1, schedule->step_count);
    for (const int32_t node : topology.rank_nodes) {
        topology.add_link({.source_node = node,
                           .target_node = network,
                           .bandwidth_bytes_per_s = rate,
                           .latency_ps = step_ps});
        topology.add_link(
            {.source_node = network, .target_node = node, .bandwidth_bytes_per_s = rate});
    }
    return topology;
}

std::string cost_choice(const RunSpec& run) {
    if (run.cost == Cost::plain) {
        return "";
    }
    const auto formula = formula_of(run);
    return formula ? formula->choice : "";
}

}  // namespace ringscope
