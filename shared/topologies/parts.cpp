// SPDX-License-Identifier: Apache-2.0
#include "shared/topologies/parts.hpp"

#include <algorithm>

namespace ringscope {
namespace {

Error wrong_rank_count(const RunSpec& run, const std::string& allowed) {
    return invalid_field("ranks",
                         std::to_string(run.problem.rank_count),
                         "must be " + allowed + " for topology=" + run.topology);
}

void add_nvswitch(Topology& topology, const ServerModel& model, int32_t host, Server& server) {
    server.nvswitch =
        topology.add_node(NodeKind::nvswitch, "nvswitch" + std::to_string(host), host);
    for (const int32_t gpu : server.gpus) {
        topology.add_cable({.source_node = gpu,
                            .target_node = server.nvswitch,
                            .kind = LinkKind::nvlink,
                            .bandwidth_bytes_per_s = model.nvswitch_bytes_per_s,
                            .latency_ps = nvlink_latency_ps / 2});
    }
}

void add_pcie_switches(Topology& topology, const ServerModel& model, int32_t host, Server& server) {
    const int32_t number = host * (server_gpu_count / model.gpus_per_pcie_switch);
    for (size_t i = 0; i < server.gpus.size(); ++i) {
        if (i % static_cast<size_t>(model.gpus_per_pcie_switch) == 0) {
            const auto next = number + static_cast<int32_t>(server.pcie_switches.size());
            server.pcie_switches.push_back(
                topology.add_node(NodeKind::pcie_switch, "pcie" + std::to_string(next), host));
        }
        topology.add_cable({.source_node = server.gpus[i],
                            .target_node = server.pcie_switches.back(),
                            .kind = LinkKind::pcie,
                            .bandwidth_bytes_per_s = model.pcie_bytes_per_s,
                            .latency_ps = pcie_latency_ps});
    }
}

void add_cpus(Topology& topology, const ServerModel& model, int32_t host, Server& server) {
    const int32_t number = host * (server_gpu_count / model.gpus_per_cpu);
    const auto per_cpu = static_cast<size_t>(model.gpus_per_cpu / model.gpus_per_pcie_switch);
    for (size_t i = 0; i < server.pcie_switches.size(); ++i) {
        if (i % per_cpu == 0) {
            const auto next = number + static_cast<int32_t>(server.cpus.size());
            server.cpus.push_back(
                topology.add_node(NodeKind::cpu, "cpu" + std::to_string(next), host));
        }
        topology.add_cable({.source_node = server.pcie_switches[i],
                            .target_node = server.cpus.back(),
                            .kind = LinkKind::pcie,
                            .bandwidth_bytes_per_s = model.cpu_bytes_per_s,
                            .latency_ps = pcie_latency_ps});
    }
    if (server.cpus.size() == 2) {
        topology.add_cable({.source_node = server.cpus[0],
                            .target_node = server.cpus[1],
                            .kind = LinkKind::socket,
                            .bandwidth_bytes_per_s = model.socket_bytes_per_s,
                            .latency_ps = socket_latency_ps});
    }
}

}  // namespace

Status check_rank_count(const RunSpec& run, int32_t max) {
    if (run.problem.rank_count > max) {
        return wrong_rank_count(run, "1 to " + std::to_string(max));
    }
    return Done{};
}

Link run_link(const RunSpec& run, int32_t source_node, int32_t target_node, LinkKind kind) {
    return {.source_node = source_node,
            .target_node = target_node,
            .kind = kind,
            .bandwidth_bytes_per_s = run.bandwidth_bytes_per_s,
            .latency_ps = run.latency_ps,
            .follows_bandwidth = true,
            .follows_latency = true};
}

void add_port(
    Topology& topology, const RunSpec& run, int32_t rank_node, int32_t network, LinkKind kind) {
    topology.add_link(run_link(run, rank_node, network, kind));
    topology.add_link({.source_node = network,
                       .target_node = rank_node,
                       .kind = kind,
                       .bandwidth_bytes_per_s = run.bandwidth_bytes_per_s,
                       .follows_bandwidth = true});
}

Server add_server(Topology& topology, const ServerModel& model, int32_t host, int32_t gpu_count) {
    Server server;
    for (int32_t i = 0; i < gpu_count; ++i) {
        const std::string number = std::to_string(host * server_gpu_count + i);
        server.gpus.push_back(topology.add_rank("gpu" + number, host));
    }
    if (model.nvswitch_bytes_per_s > 0) {
        add_nvswitch(topology, model, host, server);
    }
    add_pcie_switches(topology, model, host, server);
    add_cpus(topology, model, host, server);
    return server;
}

Result<Topology> build_server(const RunSpec& run, const ServerModel& model, bool nvswitch_reduces) {
    if (const Status status = check_rank_count(run, server_gpu_count); !status) {
        return status.error();
    }
    Topology topology;
    const Server server = add_server(topology, model, 0, run.problem.rank_count);
    topology.reducing_node = nvswitch_reduces ? server.nvswitch : -1;
    return topology;
}

ServerModel h100_server() {
    return {.gpus_per_pcie_switch = 1,
            .gpus_per_cpu = 4,
            .nvswitch_bytes_per_s = 18 * (206 * gb_per_s / 10),
            .pcie_bytes_per_s = 48 * gb_per_s,
            .cpu_bytes_per_s = 40 * gb_per_s,
            .socket_bytes_per_s = 22 * gb_per_s};
}

Result<int32_t> count_servers(const RunSpec& run) {
    const int32_t rank_count = run.problem.rank_count;
    const bool fills_servers =
        rank_count % server_gpu_count == 0 && rank_count <= cluster_rank_count_max;
    if (rank_count > server_gpu_count && !fills_servers) {
        return wrong_rank_count(
            run,
            "1 to 8, or a multiple of 8 up to " + std::to_string(cluster_rank_count_max) + ",");
    }
    return std::max(1, rank_count / server_gpu_count);
}

}  // namespace ringscope
