// SPDX-License-Identifier: Apache-2.0
#include "shared/network.hpp"

#include <algorithm>
#include <utility>

#include "shared/units.hpp"

namespace ringscope {
namespace {

// Rates are shared in units of 2^-12 bytes per second, and what is left of a message is counted in
// 2^-20 bytes: a transfer of a second is then right to a picosecond.
constexpr int share_bits = 12;
constexpr int left_bits = 20;
constexpr int64_t slowdown_one = 1000;
constexpr int64_t ticks_per_ps = 1024;  // of the end of a flow, before it is rounded

using Wide = __int128;

// ceil(a b / c), at most time_ps_max.
int64_t scale(int64_t a, int64_t b, int64_t c) {
    const Wide whole = (Wide{a} * b + c - 1) / c;
    return whole > time_ps_max ? time_ps_max : static_cast<int64_t>(whole);
}

// Until `left` has flown. A share that is a fraction was rounded down; a thousandth of a picosecond
// is forgiven for that, so that equal shares end on the picosecond where they should.
int64_t flow_ps(int64_t left, int64_t share, bool exact) {
    const Wide ticks_num = Wide{left} * ps_per_s * (ticks_per_ps >> (left_bits - share_bits));
    const Wide ticks = ticks_num / share;
    const bool rest = exact && ticks_num % share != 0;
    const Wide whole = exact ? (ticks + (rest ? 1 : 0) + ticks_per_ps - 1) / ticks_per_ps
                             : (ticks + ticks_per_ps - 2) / ticks_per_ps;
    return whole > time_ps_max ? time_ps_max : static_cast<int64_t>(whole);
}

}  // namespace

Network::Network(const Topology& topology, const NetworkOptions& options)
    : topology_(std::make_unique<Topology>(topology)),
      router_(std::make_unique<Router>(*topology_)),
      options_(options),
      links_(topology.links.size()) {}

int32_t Network::node_of(int32_t participant) const {
    return participant < std::ssize(topology_->rank_nodes)
               ? topology_->rank_nodes[static_cast<size_t>(participant)]
               : topology_->reducing_node;
}

int32_t Network::connect(int32_t source, int32_t target, int32_t channel) {
    if (static_cast<size_t>(source) >= connections_of_.size()) {
        connections_of_.resize(static_cast<size_t>(source) + 1);
    }
    auto& known = connections_of_[static_cast<size_t>(source)];
    const int64_t key = int64_t{target} * (INT32_MAX) + channel;
    const auto place = std::lower_bound(
        known.begin(), known.end(), key, [](const auto& a, int64_t b) { return a.first < b; });
    if (place != known.end() && place->first == key) {
        return place->second;
    }
    const auto index = static_cast<int32_t>(connections_.size());
    known.insert(place, {key, index});
    Connection connection;
    connection.source = source;
    connection.target = target;
    connection.channel = channel;
    connections_.push_back(std::move(connection));
    first_stretches_.push_back(-1);
    find_route(index);
    return index;
}

int64_t Network::wire_ps(int64_t bytes, int64_t rate_bytes_per_s) {
    constexpr int64_t narrow_bytes = INT64_MAX / ps_per_s / 2;  // the product fits 64 bits
    if (bytes <= narrow_bytes) {
        return (bytes * ps_per_s + rate_bytes_per_s - 1) / rate_bytes_per_s;
    }
    const Wide whole = (Wide{bytes} * ps_per_s + rate_bytes_per_s - 1) / rate_bytes_per_s;
    return whole > time_ps_max ? time_ps_max : static_cast<int64_t>(whole);
}

void Network::find_route(int32_t index) {
    Connection& connection = connections_[static_cast<size_t>(index)];
    const int32_t source_node = node_of(connection.source);
    const int32_t target_node = node_of(connection.target);
    RS_CHECK(source_node >= 0 && target_node >= 0);
    connection.links = router_->route(source_node, target_node, connection.channel);
    if (source_node == target_node || !connection.links.empty()) {
        build_stretches(index);
    }
}

// One stretch, or one for each link behind which there is somebody who stores.
void Network::build_stretches(int32_t index) {
    std::vector<std::vector<int32_t>> parts(1);
    for (const int32_t link : connections_[static_cast<size_t>(index)].links) {
        const int32_t source = topology_->links[static_cast<size_t>(link)].source_node;
        const bool stored = options_.forwarding == Forwarding::store_and_forward &&
                            topology_->nodes[static_cast<size_t>(source)].kind != NodeKind::network;
        if (stored && !parts.back().empty()) {
            parts.emplace_back();
        }
        parts.back().push_back(link);
    }
    int32_t before = -1;
    for (std::vector<int32_t>& links : parts) {
        Stretch stretch;
        stretch.links = std::move(links);
        stretch.connection = index;
        stretch.first = before < 0;
        const int32_t added = add_stretch(std::move(stretch));
        if (before < 0) {
            first_stretches_[static_cast<size_t>(index)] = added;
        } else {
            stretches_[static_cast<size_t>(before)].next = added;
        }
        before = added;
    }
}

int32_t Network::add_stretch(Stretch stretch) {
    const auto index = static_cast<int32_t>(stretches_.size());
    reckon_constants(stretch);
    stretch.flowing = must_flow(stretch);
    for (const int32_t link : stretch.links) {
        auto& sharers = links_[static_cast<size_t>(link)].stretches;
        for (const int32_t other : sharers) {
            turn_into_flow(other, now_ps_);
        }
        stretch.flowing = stretch.flowing || !sharers.empty();
        sharers.push_back(index);
    }
    stretches_.push_back(std::move(stretch));
    return index;
}

// A closed form needs a rate and no one to wait for.
bool Network::must_flow(const Stretch& stretch) const {
    return options_.slots > 0 || stretch.rate_bytes_per_s == 0;
}

void Network::reckon_constants(Stretch& stretch) {
    const Connection& connection = connections_[static_cast<size_t>(stretch.connection)];
    int64_t narrowest = INT64_MAX;
    int64_t latency_ps = 0;
    bool up = true;
    for (const int32_t index : stretch.links) {
        const Link& link = topology_->links[static_cast<size_t>(index)];
        narrowest = std::min(narrowest, link.bandwidth_bytes_per_s);
        latency_ps = add_times(latency_ps, link.latency_ps);
        up = up && link.up;
    }
    stretch.limit_bytes_per_s = INT64_MAX;
    if (const auto found = topology_->pairs.find({connection.source, connection.target});
        found != topology_->pairs.end()) {
        const Pair& pair = found->second;
        stretch.limit_bytes_per_s = pair.bandwidth_bytes_per_s.value_or(INT64_MAX);
        if (pair.latency_ps) {
            latency_ps = stretch.first ? *pair.latency_ps : 0;
        }
        up = up && pair.up;
        stretch.limit_bytes_per_s = pair.up ? stretch.limit_bytes_per_s : 0;
    }
    if (const auto slow = slowdowns_.find(connection.source);
        slow != slowdowns_.end() && narrowest != INT64_MAX) {
        const int64_t rate = std::min(narrowest, stretch.limit_bytes_per_s);
        const int64_t slowed = multiply_divide(rate, slowdown_one, slow->second);
        stretch.limit_bytes_per_s = rate == 0 ? 0 : std::max<int64_t>(1, slowed);
    }
    stretch.rate_bytes_per_s = up ? std::min(narrowest, stretch.limit_bytes_per_s) : 0;
    stretch.latency_ps = latency_ps;
    stretch.known_bytes = -1;
}

std::vector<int64_t> Network::link_bytes() const {
    std::vector<int64_t> bytes(links_.size(), 0);
    for (const Stretch& stretch : stretches_) {
        for (const int32_t link : stretch.links) {
            bytes[static_cast<size_t>(link)] += stretch.bytes;
        }
    }
    return bytes;
}

void Network::enter(int32_t index, const Packet& packet, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    if (stretch.flowing) {
        stretch.bytes += packet.bytes;
        enter_flow(index, packet, now_ps);
        return;
    }
    Packet& sent = send_alone(index, stretch, packet.bytes, now_ps);
    sent.message = packet.message;
    sent.first_begin_ps = stretch.first ? sent.begin_ps : packet.first_begin_ps;
}

void Network::push_air(int32_t index, const Packet& packet) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    Packet flying = packet;
    flying.end_ps =
        std::max(add_times(packet.wire_end_ps, stretch.latency_ps), stretch.last_end_ps);
    stretch.last_end_ps = flying.end_ps;
    stretch.air.add() = flying;
    push_arrival(index, flying.end_ps);
}

// After their times have changed.
void Network::push_arrivals_anew(int32_t index) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    ++stretch.arrival_version;
    for (size_t i = 0; i < stretch.air.size(); ++i) {
        push_arrival(index, stretch.air[i].end_ps);
    }
}

void Network::enter_flow(int32_t index, const Packet& packet, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    Packet& waiting = stretch.waiting.add();
    waiting = packet;
    waiting.ready_ps = now_ps;
    if (!stretch.active) {
        start_flow(index, now_ps);
    }
}

// Puts the front message on the wire, if it has a slot. One without bytes, or on no link at all,
// leaves at once.
void Network::start_flow(int32_t index, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    while (!stretch.active && !stretch.waiting.empty()) {
        if (stretch.first && options_.slots > 0) {
            if (stretch.under_way >= options_.slots) {
                return;
            }
            ++stretch.under_way;
        }
        Packet& packet = stretch.waiting.front();
        packet.begin_ps = now_ps;
        if (stretch.first) {
            packet.first_begin_ps = now_ps;
        }
        if (stretch.links.empty() || (packet.bytes == 0 && stretch.rate_bytes_per_s > 0)) {
            packet.wire_end_ps = now_ps;
            push_air(index, packet);
            stretch.waiting.pop();
            continue;
        }
        stretch.active = true;
        stretch.left = packet.bytes << left_bits;
        stretch.since_ps = now_ps;
        stretch.share = 0;
        for (const int32_t link : stretch.links) {
            links_[static_cast<size_t>(link)].flows.push_back(index);
            touch(link);
        }
    }
}

void Network::stop_flow(Stretch& stretch, int32_t index) {
    stretch.active = false;
    stretch.share = 0;
    ++stretch.version;
    for (const int32_t link : stretch.links) {
        auto& flows = links_[static_cast<size_t>(link)].flows;
        const auto place = std::find(flows.begin(), flows.end(), index);
        *place = flows.back();
        flows.pop_back();
        touch(link);
    }
}

void Network::end_flow(int32_t index, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    stop_flow(stretch, index);
    Packet packet = stretch.waiting.front();
    stretch.waiting.pop();
    packet.wire_end_ps = now_ps;
    push_air(index, packet);
    start_flow(index, now_ps);
}

// Of the front message, in 2^-20 bytes, now.
int64_t Network::left_of(const Stretch& stretch) const {
    const int64_t passed_ps = now_ps_ - stretch.since_ps;
    const Wide flown =
        Wide{stretch.share} * passed_ps / ps_per_s * (int64_t{1} << (left_bits - share_bits)) +
        Wide{stretch.share} * passed_ps % ps_per_s * (int64_t{1} << (left_bits - share_bits)) /
            ps_per_s;
    return flown >= stretch.left ? 0 : stretch.left - static_cast<int64_t>(flown);
}

// From closed form to flow: what has left stays reckoned, the message on the wire becomes the front
// flow, those behind it wait.
void Network::turn_into_flow(int32_t index, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    if (stretch.flowing) {
        return;
    }
    stretch.flowing = true;
    const auto reckoned = std::exchange(stretch.air, {});
    stretch.last_end_ps = 0;
    for (size_t i = 0; i < reckoned.size(); ++i) {
        const Packet& packet = reckoned[i];
        if (packet.wire_end_ps <= now_ps) {
            stretch.air.add() = packet;
            stretch.last_end_ps = packet.end_ps;
            continue;
        }
        stretch.waiting.add() = packet;
    }
    push_arrivals_anew(index);
    if (stretch.waiting.empty() || stretch.waiting.front().begin_ps > now_ps) {
        start_flow(index, now_ps);
        return;
    }
    const Packet& front = stretch.waiting.front();
    const int64_t all_ps = front.wire_end_ps - front.begin_ps;
    stretch.active = true;
    stretch.left = multiply_divide_up(
        front.bytes << left_bits, front.wire_end_ps - now_ps, std::max<int64_t>(1, all_ps));
    stretch.since_ps = now_ps;
    stretch.share = 0;
    for (const int32_t link : stretch.links) {
        links_[static_cast<size_t>(link)].flows.push_back(index);
        touch(link);
    }
}

// Whatever is not the arrival of a message at its target.
bool Network::step_otherwise(const Item& item, Arrival& arrival) {
    Stretch& stretch = stretches_[static_cast<size_t>(item.stretch)];
    switch (item.happening) {
        case Happening::arrival:
            if (item.version != stretch.arrival_version) {
                return false;
            }
            if (stretch.next >= 0) {
                pass_on(item.stretch);
                return false;
            }
            take_front(stretch, arrival);
            push_slot(stretch, arrival.end_ps);
            return true;
        case Happening::wire_end:
            if (item.version == stretch.version && stretch.active) {
                end_flow(item.stretch, now_ps_);
            }
            return false;
        case Happening::slot:
            --stretch.under_way;
            start_flow(item.stretch, now_ps_);
            return false;
    }
    return false;
}

// A node on the way has the whole message and sends it on.
void Network::pass_on(int32_t index) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    const Packet packet = stretch.air.front();
    stretch.air.pop();
    enter(stretch.next, packet, packet.end_ps);
}

// Word of the free slot goes back the same way.
void Network::push_slot(const Stretch& stretch, int64_t arrived_ps) {
    if (options_.slots == 0) {
        return;
    }
    const int32_t first = first_stretches_[static_cast<size_t>(stretch.connection)];
    int64_t back_ps = arrived_ps;
    for (int32_t at = first; at >= 0; at = stretches_[static_cast<size_t>(at)].next) {
        back_ps = add_times(back_ps, stretches_[static_cast<size_t>(at)].latency_ps);
    }
    queue_.push(back_ps, {first, 0, Happening::slot});
}

void Network::touch(int32_t link) {
    LinkState& state = links_[static_cast<size_t>(link)];
    if (!state.dirty) {
        state.dirty = true;
        dirty_links_.push_back(link);
    }
}

// Reckons the shares of all flows that depend on a link where something has changed.
void Network::settle() {
    ++mark_;
    std::vector<int32_t> dirty;
    std::swap(dirty, dirty_links_);
    for (const int32_t link : dirty) {
        links_[static_cast<size_t>(link)].dirty = false;
    }
    std::vector<int32_t>& links = scratch_links_;
    std::vector<int32_t>& flows = scratch_flows_;
    for (const int32_t link : dirty) {
        if (links_[static_cast<size_t>(link)].mark == mark_) {
            continue;
        }
        links.clear();
        flows.clear();
        collect(link, links, flows);
        reckon(links, flows);
    }
    dirty.clear();
    if (dirty_links_.empty()) {
        std::swap(dirty, dirty_links_);  // keeps its memory
    }
}

// All links and flows that depend on each other, from one link on.
void Network::collect(int32_t link, std::vector<int32_t>& links, std::vector<int32_t>& flows) {
    links_[static_cast<size_t>(link)].mark = mark_;
    links.push_back(link);
    for (size_t next = 0; next < links.size(); ++next) {
        for (const int32_t flow : links_[static_cast<size_t>(links[next])].flows) {
            Stretch& stretch = stretches_[static_cast<size_t>(flow)];
            if (stretch.mark == mark_) {
                continue;
            }
            stretch.mark = mark_;
            stretch.fixed = false;
            flows.push_back(flow);
            for (const int32_t other : stretch.links) {
                LinkState& state = links_[static_cast<size_t>(other)];
                if (state.mark != mark_) {
                    state.mark = mark_;
                    links.push_back(other);
                }
            }
        }
    }
}

// Progressive filling: all shares grow together; where a link is full, or a flow at its limit,
// those flows are fixed and the others grow on.
void Network::reckon(const std::vector<int32_t>& links, const std::vector<int32_t>& flows) {
    for (const int32_t index : links) {
        const Link& link = topology_->links[static_cast<size_t>(index)];
        LinkState& state = links_[static_cast<size_t>(index)];
        state.free_share = link.up ? link.bandwidth_bytes_per_s << share_bits : 0;
        state.full_share = state.free_share;
        state.open_flows = static_cast<int32_t>(state.flows.size());
    }
    std::vector<int32_t> limited;
    for (const int32_t flow : flows) {
        if (stretches_[static_cast<size_t>(flow)].limit_bytes_per_s != INT64_MAX) {
            limited.push_back(flow);
        }
    }
    open_count_ = static_cast<int64_t>(flows.size());
    while (open_count_ > 0) {
        int64_t share = INT64_MAX;
        for (const int32_t index : links) {
            const LinkState& state = links_[static_cast<size_t>(index)];
            if (state.open_flows > 0) {
                share = std::min(share, state.free_share / state.open_flows);
            }
        }
        int64_t limit = INT64_MAX;
        for (const int32_t flow : limited) {
            const Stretch& stretch = stretches_[static_cast<size_t>(flow)];
            if (!stretch.fixed) {
                limit = std::min(limit, stretch.limit_bytes_per_s << share_bits);
            }
        }
        if (limit < share) {
            for (const int32_t flow : limited) {
                const Stretch& stretch = stretches_[static_cast<size_t>(flow)];
                if (!stretch.fixed && stretch.limit_bytes_per_s << share_bits == limit) {
                    fix_flow(flow, limit, true);
                }
            }
            continue;
        }
        for (const int32_t index : links) {
            const LinkState& state = links_[static_cast<size_t>(index)];
            if (state.open_flows > 0 && state.free_share / state.open_flows <= share) {
                const bool exact = state.free_share == state.full_share &&
                                   state.free_share % state.open_flows == 0;
                fix_flows(index, share, exact);
            }
        }
    }
}

void Network::fix_flows(int32_t link, int64_t share, bool exact) {
    for (const int32_t flow : links_[static_cast<size_t>(link)].flows) {
        if (!stretches_[static_cast<size_t>(flow)].fixed) {
            fix_flow(flow, share, exact);
        }
    }
}

void Network::fix_flow(int32_t index, int64_t share, bool exact) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    stretch.fixed = true;
    --open_count_;
    for (const int32_t link : stretch.links) {
        LinkState& state = links_[static_cast<size_t>(link)];
        state.free_share -= share;
        --state.open_flows;
    }
    set_share(index, share, exact);
}

void Network::set_share(int32_t index, int64_t share, bool exact) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    if (share == stretch.share && share > 0) {
        return;  // its end is in the queue already
    }
    stretch.left = left_of(stretch);
    stretch.since_ps = now_ps_;
    stretch.share = share;
    ++stretch.version;
    if (share > 0) {
        queue_.push(add_times(now_ps_, flow_ps(stretch.left, share, exact)),
                    {index, stretch.version, Happening::wire_end});
    }
}

Status Network::apply(const Knob& knob, int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    if (const Status status = topology_->apply(knob); !status) {
        return status.error();
    }
    refresh(now_ps);
    return Done{};
}

void Network::slow_down(int32_t participant, int64_t thousandths, int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    slowdowns_[participant] = thousandths;
    refresh(now_ps);
}

// After links have changed: gives every stretch its constants anew, and what is under way the times
// that follow.
void Network::refresh(int64_t now_ps) {
    for (size_t i = 0; i < connections_.size(); ++i) {
        if (first_stretches_[i] < 0) {
            try_again(static_cast<int32_t>(i), now_ps);
        }
    }
    for (size_t index = 0; index < stretches_.size(); ++index) {
        refresh_stretch(static_cast<int32_t>(index), now_ps);
    }
}

// What nothing joined before may be joined now.
void Network::try_again(int32_t index, int64_t now_ps) {
    router_ = std::make_unique<Router>(*topology_);
    find_route(index);
    if (first_stretches_[static_cast<size_t>(index)] < 0) {
        return;
    }
    std::vector<Packet> packets;
    std::swap(packets, connections_[static_cast<size_t>(index)].unreachable);
    for (const Packet& packet : packets) {
        enter(first_stretches_[static_cast<size_t>(index)], packet, now_ps);
    }
}

void Network::refresh_stretch(int32_t index, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    const int64_t old_rate = stretch.rate_bytes_per_s;
    const int64_t old_limit = stretch.limit_bytes_per_s;
    const int64_t old_latency_ps = stretch.latency_ps;
    if (!stretch.flowing) {
        Stretch changed = stretch;
        reckon_constants(changed);
        if (must_flow(changed)) {
            turn_into_flow(index, now_ps);  // by the old rate up to now
        }
    }
    reckon_constants(stretch);
    if (!stretch.flowing) {
        if (stretch.rate_bytes_per_s != old_rate || stretch.latency_ps != old_latency_ps) {
            retime(stretch, old_rate, old_latency_ps, now_ps);
            push_arrivals_anew(index);
        }
        return;
    }
    if (stretch.rate_bytes_per_s != old_rate || stretch.limit_bytes_per_s != old_limit) {
        for (const int32_t link : stretch.links) {
            touch(link);
        }
        start_flow(index, now_ps);
    }
    if (stretch.latency_ps != old_latency_ps && !stretch.air.empty()) {
        int64_t last_end_ps = 0;
        for (size_t i = 0; i < stretch.air.size(); ++i) {
            Packet& packet = stretch.air[i];
            if (old_latency_ps > 0) {
                packet.end_ps = add_times(
                    now_ps, scale(packet.end_ps - now_ps, stretch.latency_ps, old_latency_ps));
            }
            last_end_ps = packet.end_ps = std::max(packet.end_ps, last_end_ps);
        }
        stretch.last_end_ps = last_end_ps;
        push_arrivals_anew(index);
    }
}

// Gives the messages of a stretch alone the times they have by its new rate and latency from now
// on: what is left of each on the wire or in the air is scaled.
void Network::retime(Stretch& stretch, int64_t old_rate, int64_t old_latency_ps, int64_t now_ps) {
    int64_t free_ps = std::min(stretch.free_ps, now_ps);
    int64_t last_end_ps = 0;
    for (size_t i = 0; i < stretch.air.size(); ++i) {
        Packet& packet = stretch.air[i];
        if (packet.wire_end_ps <= now_ps) {  // in the air
            if (old_latency_ps > 0) {
                packet.end_ps = add_times(
                    now_ps, scale(packet.end_ps - now_ps, stretch.latency_ps, old_latency_ps));
            }
        } else {
            if (packet.begin_ps <= now_ps) {  // on the wire
                packet.wire_end_ps = add_times(
                    now_ps, scale(packet.wire_end_ps - now_ps, old_rate, stretch.rate_bytes_per_s));
            } else {  // waiting
                packet.begin_ps = std::max(packet.ready_ps, free_ps);
                packet.wire_end_ps =
                    add_times(packet.begin_ps, wire_ps(packet.bytes, stretch.rate_bytes_per_s));
                if (stretch.first) {
                    packet.first_begin_ps = packet.begin_ps;
                }
            }
            packet.end_ps = add_times(packet.wire_end_ps, stretch.latency_ps);
            free_ps = packet.wire_end_ps;
        }
        last_end_ps = packet.end_ps = std::max(packet.end_ps, last_end_ps);
    }
    stretch.last_end_ps = last_end_ps;
    stretch.free_ps = free_ps;
}

void Network::drop_waiting(int32_t index, int64_t now_ps) {
    turn_into_flow(index, now_ps);
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    if (stretch.active) {
        stop_flow(stretch, index);
    }
    stretch.waiting.clear();
}

void Network::silence(int32_t participant, int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    for (size_t i = 0; i < connections_.size(); ++i) {
        Connection& connection = connections_[i];
        if (connection.source != participant && connection.target != participant) {
            continue;
        }
        connection.unreachable.clear();
        for (int32_t at = first_stretches_[i]; at >= 0;
             at = stretches_[static_cast<size_t>(at)].next) {
            const bool for_it = connection.target == participant;
            if (!for_it && at != first_stretches_[i]) {
                break;  // what has left it goes on
            }
            drop_waiting(at, now_ps);
            Stretch& stretch = stretches_[static_cast<size_t>(at)];
            if (for_it) {
                stretch.air.clear();
                stretch.last_end_ps = 0;
                ++stretch.arrival_version;
            }
        }
    }
}

// Looks for other ways round links that are down, for what is stuck behind them.
bool Network::reroute(int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    router_ = std::make_unique<Router>(*topology_);
    bool any = false;
    const size_t count = connections_.size();
    for (size_t i = 0; i < count; ++i) {
        const int32_t first = first_stretches_[i];
        if (first < 0 || stretches_[static_cast<size_t>(first)].rate_bytes_per_s > 0) {
            continue;
        }
        const std::vector<int32_t> before = connections_[i].links;
        const auto stuck = stretches_[static_cast<size_t>(first)].waiting;
        find_route(static_cast<int32_t>(i));
        const Connection& connection = connections_[i];
        const int32_t other = first_stretches_[i];
        const bool usable =
            other != first && stretches_[static_cast<size_t>(other)].rate_bytes_per_s > 0;
        if (!usable || connection.links == before) {
            continue;
        }
        drop_waiting(first, now_ps);
        for (size_t k = 0; k < stuck.size(); ++k) {
            enter(first_stretches_[i], stuck[k], now_ps);
        }
        any = true;
    }
    return any;
}

std::vector<Stuck> Network::stuck() const {
    std::vector<Stuck> all;
    for (const Connection& connection : connections_) {
        for (const Packet& packet : connection.unreachable) {
            all.push_back({connection.source, connection.target, packet.message, -1});
        }
    }
    for (const Stretch& stretch : stretches_) {
        if (stretch.waiting.empty() || stretch.rate_bytes_per_s > 0 || stretch.links.empty()) {
            continue;
        }
        const Connection& connection = connections_[static_cast<size_t>(stretch.connection)];
        const auto down =
            std::find_if(stretch.links.begin(), stretch.links.end(), [&](int32_t link) {
                return !topology_->links[static_cast<size_t>(link)].up;
            });
        for (size_t i = 0; i < stretch.waiting.size(); ++i) {
            all.push_back({connection.source,
                           connection.target,
                           stretch.waiting[i].message,
                           down == stretch.links.end() ? -1 : *down});
        }
    }
    return all;
}

}  // namespace ringscope
