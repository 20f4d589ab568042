// SPDX-License-Identifier: Apache-2.0
#include "shared/critical_path.hpp"

#include <algorithm>
#include <tuple>

#include "shared/units.hpp"

namespace ringscope {

Way Ways::way(int32_t source, int32_t target, int32_t channel) {
    const auto [place, fresh] = known_.try_emplace({source, target});
    if (!fresh) {
        return place->second;
    }
    const auto node = [this](int32_t participant) {
        return participant < std::ssize(topology_.rank_nodes)
                   ? topology_.rank_nodes[static_cast<size_t>(participant)]
                   : topology_.reducing_node;
    };
    Way way{INT64_MAX, 0};
    for (const int32_t index : router_.route(node(source), node(target), channel)) {
        const Link& link = topology_.links[static_cast<size_t>(index)];
        way.bandwidth_bytes_per_s = std::min(way.bandwidth_bytes_per_s, link.bandwidth_bytes_per_s);
        way.latency_ps += link.latency_ps;
    }
    if (const auto found = topology_.pairs.find({source, target}); found != topology_.pairs.end()) {
        const Pair& pair = found->second;
        way.bandwidth_bytes_per_s =
            std::min(way.bandwidth_bytes_per_s, pair.bandwidth_bytes_per_s.value_or(INT64_MAX));
        way.latency_ps = pair.latency_ps.value_or(way.latency_ps);
    }
    return place->second = way;
}

int64_t Ways::fastest_bytes_per_s() const {
    int64_t fastest = 1;
    for (const Link& link : topology_.links) {
        fastest = std::max(fastest, link.bandwidth_bytes_per_s);
    }
    return fastest;
}

namespace {

class PathFinder {
  public:
    PathFinder(const Schedule& schedule, std::span<const Event> events, int64_t begin_ps)
        : schedule_(schedule), events_(events), begin_ps_(begin_ps) {
        for (size_t i = 0; i < events.size(); ++i) {
            const Transfer& transfer = events[i].transfer;
            received_[{transfer.target_rank, schedule.lane_of(transfer)}].push_back(
                static_cast<int32_t>(i));
            sent_[{transfer.source_rank, transfer.target_rank, transfer.channel}].push_back(
                static_cast<int32_t>(i));
        }
    }

    CriticalPath find(Ways* ways) {
        CriticalPath path;
        int32_t at = static_cast<int32_t>(events_.size()) - 1;
        int64_t until_ps = events_[static_cast<size_t>(at)].end_ps;
        while (at >= 0 && path.hops.size() <= events_.size()) {
            const Event& event = events_[static_cast<size_t>(at)];
            const int32_t data = last_data(at);
            const int32_t before = message_before(at);
            const int64_t ready_ps =
                data < 0 ? begin_ps_ : events_[static_cast<size_t>(data)].end_ps;
            const bool link_held = before >= 0 && event.begin_ps > ready_ps &&
                                   events_[static_cast<size_t>(before)].end_ps > ready_ps;
            PathHop hop{at, data < 0 ? Reason::start : Reason::data, 0};
            int64_t next_until_ps = ready_ps;
            if (link_held) {
                hop.reason = Reason::link;
                next_until_ps = event.begin_ps;
            } else if (event.begin_ps > ready_ps) {
                hop.reason = Reason::late;
                hop.wait_ps = event.begin_ps - ready_ps;
            }
            if (ways != nullptr) {
                split(event, until_ps, hop.wait_ps, *ways, path.split);
            }
            path.hops.push_back(hop);
            until_ps = next_until_ps;
            at = link_held ? before : data;
        }
        std::reverse(path.hops.begin(), path.hops.end());
        return path;
    }

  private:
    // The hop that last brought the sender something that this one waited for, or -1.
    int32_t last_data(int32_t at) const {
        const Event& event = events_[static_cast<size_t>(at)];
        const auto found =
            received_.find({event.transfer.source_rank, schedule_.lane_of(event.transfer)});
        if (found == received_.end()) {
            return -1;
        }
        const std::vector<int32_t>& all = found->second;
        auto later = std::lower_bound(all.begin(), all.end(), at);
        while (later != all.begin()) {
            const Event& candidate = events_[static_cast<size_t>(*--later)];
            if (candidate.end_ps <= event.begin_ps &&
                candidate.transfer.step < event.transfer.step) {
                return *later;
            }
        }
        return -1;
    }

    // The message that left just before on the same connection, or -1.
    int32_t message_before(int32_t at) const {
        const Transfer& transfer = events_[static_cast<size_t>(at)].transfer;
        const auto& all = sent_.at({transfer.source_rank, transfer.target_rank, transfer.channel});
        const auto here = std::lower_bound(all.begin(), all.end(), at);
        return here == all.begin() ? -1 : *std::prev(here);
    }

    // Of the time from the hop's begin until the next on the path could go on.
    static void split(
        const Event& event, int64_t until_ps, int64_t wait_ps, Ways& ways, PathSplit& split) {
        const Transfer& transfer = event.transfer;
        const Way way = ways.way(transfer.source_rank, transfer.target_rank, transfer.channel);
        int64_t left_ps = until_ps - event.begin_ps;
        const auto take = [&left_ps](int64_t part_ps) {
            const int64_t taken_ps = std::clamp<int64_t>(part_ps, 0, left_ps);
            left_ps -= taken_ps;
            return taken_ps;
        };
        const int64_t ideal_ps = transfer_ps(event.bytes, ways.fastest_bytes_per_s());
        const int64_t own_ps = transfer_ps(event.bytes, way.bandwidth_bytes_per_s);
        split.latency_ps += until_ps == event.end_ps ? take(way.latency_ps) : 0;
        split.wire_ps += take(ideal_ps);
        split.slow_link_ps += take(own_ps - ideal_ps);
        split.sharing_ps += left_ps;
        split.late_ps += wait_ps;
    }

    const Schedule& schedule_;
    std::span<const Event> events_;
    int64_t begin_ps_;
    std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> received_;  // (rank, lane)
    std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<int32_t>> sent_;
};

}  // namespace

CriticalPath find_critical_path(const Schedule& schedule,
                                std::span<const Event> events,
                                int64_t begin_ps,
                                Ways* ways) {
    if (events.empty()) {
        return {};
    }
    return PathFinder(schedule, events, begin_ps).find(ways);
}

}  // namespace ringscope
