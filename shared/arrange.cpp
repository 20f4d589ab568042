// SPDX-License-Identifier: Apache-2.0
#include "shared/arrange.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/ring_order.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

// Host after host; in each of them the ranks are turned round by one from channel to channel.
std::vector<std::vector<int32_t>> orders_through_hosts(int32_t rank_count,
                                                       int32_t host_rank_count) {
    std::vector<std::vector<int32_t>> orders;
    for (int32_t channel = 0; channel < host_rank_count; ++channel) {
        std::vector<int32_t> order;
        for (int32_t rank = 0; rank < rank_count; ++rank) {
            const int32_t host = rank / host_rank_count;
            const int32_t place = (rank + channel) % host_rank_count;
            order.push_back(host * host_rank_count + place);
        }
        orders.push_back(std::move(order));
    }
    return orders;
}

// How many pieces make messages at most this long.
int32_t piece_count_for(const Schedule& schedule, int64_t segment_bytes) {
    // In every algorithm the first, the last or one in the middle sends the longest.
    const int32_t n = schedule.problem.rank_count;
    int64_t longest = 0;
    std::vector<Transfer> sends;
    for (const int32_t position : {0, 1 % n, n / 2, n - 1}) {
        const int32_t rank = schedule.orders.front()[static_cast<size_t>(position)];
        for (int32_t step = 0; step < schedule.step_count; ++step) {
            sends.clear();
            schedule.append_sends(0, step, rank, sends);
            for (const Transfer& transfer : sends) {
                longest = std::max(longest, schedule.bytes(transfer));
            }
        }
    }
    const int64_t pieces = (longest + segment_bytes - 1) / segment_bytes;
    return static_cast<int32_t>(std::clamp<int64_t>(pieces, 1, INT32_MAX));
}

}  // namespace

Result<Arrangement> arrange(const RunSpec& run, const Topology& topology) {
    const int32_t rank_count = run.problem.rank_count;
    Arrangement arrangement;
    arrangement.channel_count = run.channels;
    arrangement.piece_count = run.chunks;
    arrangement.group_size = run.group;
    const int32_t host_rank_count = topology.host_rank_count;
    const bool in_hosts =
        host_rank_count > 1 && host_rank_count < rank_count && rank_count % host_rank_count == 0;
    if (arrangement.group_size == 0 && in_hosts) {
        arrangement.group_size = host_rank_count;
    }
    if (arrangement.group_size > 0 && rank_count % arrangement.group_size != 0) {
        return invalid_field("group",
                             std::to_string(arrangement.group_size),
                             "must divide ranks=" + std::to_string(rank_count));
    }
    if (!run.ring.empty()) {
        arrangement.orders = {run.ring};
    } else if (run.best_ring) {
        auto order = best_ring_order(topology);
        if (!order) {
            return order.error();
        }
        arrangement.orders = {std::move(*order)};
    } else if (in_hosts) {
        arrangement.orders = orders_through_hosts(rank_count, host_rank_count);
    }
    return arrangement;
}

Result<Schedule> build_schedule(const RunSpec& run,
                                const Topology& topology,
                                const std::vector<int32_t>& members) {
    auto arrangement = arrange(run, topology);
    if (!arrangement) {
        return arrangement.error();
    }
    Problem problem = run.problem;
    if (!members.empty()) {
        arrangement->members = members;
        arrangement->rank_limit = problem.rank_count;
        problem.rank_count = static_cast<int32_t>(members.size());
        if (arrangement->group_size > 0 && problem.rank_count % arrangement->group_size != 0) {
            arrangement->group_size = 0;
        }
    }
    if (run.segment_bytes > 0) {
        arrangement->piece_count = 1;
        const auto whole = build_schedule(run.algorithm, problem, *arrangement);
        if (!whole) {
            return whole.error();
        }
        arrangement->piece_count = piece_count_for(*whole, run.segment_bytes);
        if (arrangement->piece_count > piece_count_max) {
            return invalid_field("segment",
                                 print_bytes(run.segment_bytes),
                                 "would cut each message into " +
                                     std::to_string(arrangement->piece_count) +
                                     " pieces; at most " + std::to_string(piece_count_max) +
                                     " are allowed, so name a longer one");
        }
    }
    return build_schedule(run.algorithm, problem, *arrangement);
}

Result<Schedule> build_schedule(const RunSpec& run) {
    const auto topology = build_topology(run);
    if (!topology) {
        return topology.error();
    }
    return build_schedule(run, *topology);
}

}  // namespace ringscope
