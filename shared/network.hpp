// SPDX-License-Identifier: Apache-2.0
// Network: messages on the links of a topology, in simulated time. It knows nothing of collectives.
//
// Messages from one participant to another on one channel use one connection and follow each other
// on it. A message flows over all links of its route at once (cut-through), or over one after the
// other (store-and-forward). Its rate is its max-min fair share: no flow can get more without
// taking from one that has less (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2).
// When its last byte has left it needs the latency of the links, then it has arrived.
//
//     int32_t connection = network.connect(0, 1, /*channel=*/0);
//     network.send(connection, /*message=*/7, bytes, now_ps);
//     while (network.next_ps() <= until) { Arrival arrival; if (network.step(arrival)) ... }
//
// Two ways to the same result. A stretch (a connection, or one link of it when messages are stored
// on the way) that shares no link with another is reckoned in closed form, message by message;
// there a queue entry per message is all. As soon as another stretch uses one of its links it is
// turned into a flow: each moment at which a flow begins or ends, the shares of those that depend
// on each other are reckoned anew.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "shared/event_queue.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"

namespace ringscope {

struct NetworkOptions {
    Forwarding forwarding = Forwarding::cut_through;
    int32_t slots = 0;  // messages of a connection that are under way at most; 0: any number
};

// A message that has arrived.
struct Arrival {
    int32_t message = 0;
    int64_t begin_ps = 0;     // its first byte left
    int64_t wire_end_ps = 0;  // its last byte left the last stretch
    int64_t end_ps = 0;
};

// A message that does not move.
struct Stuck {
    int32_t source = 0;
    int32_t target = 0;
    int32_t message = 0;
    int32_t link = -1;  // the link that is down; -1 when the pair is, or nothing joins them
};

class Network {
  public:
    // Participants beyond the topology's ranks are its reducing node.
    Network(const Topology& topology, const NetworkOptions& options);

    const Topology& topology() const { return *topology_; }

    // The same arguments give the same connection.
    int32_t connect(int32_t source, int32_t target, int32_t channel);
    const std::vector<int32_t>& connection_links(int32_t connection) const {
        return connections_[static_cast<size_t>(connection)].links;
    }

    // Hands over a message; `message` is the caller's own number, which comes back on arrival.
    void send(int32_t connection, int32_t message, int64_t bytes, int64_t now_ps);

    // When something happens next; INT64_MAX when nothing will.
    int64_t next_ps();
    // Carries out one happening of the time next_ps(). True when a message arrived by it.
    bool step(Arrival& arrival);

    // The number of the message that probably arrives some steps from now, or -1. Fetches on the
    // way the memory of those that come after it: in a large run each message would wait for it.
    int32_t message_ahead();

    // Turns a knob about links at now_ps. Errors: as Topology::apply.
    Status apply(const Knob& knob, int64_t now_ps);
    // Of everything that `participant` sends from now on: `thousandths` times as slow.
    void slow_down(int32_t participant, int64_t thousandths, int64_t now_ps);
    // Forgets every message that has not left its source yet, and those to the participant.
    void silence(int32_t participant, int64_t now_ps);

    // Sends what is stuck behind a link that is down another way, where there is one. True when
    // anything found one.
    bool reroute(int64_t now_ps);

    std::vector<Stuck> stuck() const;

    // [link] How many bytes went over it so far, of messages that were put on it.
    std::vector<int64_t> link_bytes() const;

  private:
    struct Packet {
        int32_t message = 0;
        int64_t bytes = 0;
        int64_t ready_ps = 0;     // the stretch has it
        int64_t begin_ps = 0;     // its first byte leaves
        int64_t wire_end_ps = 0;  // its last byte has left
        int64_t end_ps = 0;       // its last byte has arrived at the end of the stretch
        int64_t first_begin_ps = 0;
    };
    // First in, first out, without a node per element.
    class PacketQueue {
      public:
        bool empty() const { return head_ == packets_.size(); }
        Packet& front() { return packets_[head_]; }
        Packet& back() { return packets_.back(); }
        const Packet* begin() const { return packets_.data() + head_; }
        const Packet* end() const { return packets_.data() + packets_.size(); }
        Packet* begin() { return packets_.data() + head_; }
        Packet* end() { return packets_.data() + packets_.size(); }
        void push(const Packet& packet) { add() = packet; }
        Packet& add();  // at the end, to be filled in
        void pop() { ++head_; }
        void clear() {
            packets_.clear();
            head_ = 0;
        }

      private:
        std::vector<Packet> packets_;
        size_t head_ = 0;
    };
    // What every message of a stretch alone touches comes first, in two cache lines.
    struct alignas(64) Stretch {
        int64_t free_ps = 0;           // alone: when the wire is free again
        int64_t latency_ps = 0;        //
        int64_t known_bytes = -1;      // alone: the last message's, and its time on the wire
        int64_t known_wire_ps = 0;     //
        int64_t bytes = 0;             // of all messages put on it
        int64_t rate_bytes_per_s = 0;  // alone: of the narrowest link
        int32_t next = -1;             // stretch, when the message is stored and sent on
        int32_t arrival_version = 0;   // of its arrivals in the queue
        bool first = true;
        bool flowing = false;                   // reckoned as a flow
        bool active = false;                    // as such: its front message is on the wire
        bool fixed = false;                     // while reckoning
        PacketQueue air;                        // left, or alone: reckoned; not arrived
        PacketQueue waiting;                    // flowing: the front one is on the wire when active
        int64_t limit_bytes_per_s = INT64_MAX;  // of its pair, and of a slow source
        int64_t share = 0;                      // flowing: rate, in 2^-12 bytes per second
        int64_t left = 0;                       // flowing: of the front message, in 2^-20 bytes
        int64_t since_ps = 0;                   // flowing: when `left` was so
        int64_t mark = 0;                       // of the last reckoning that saw it
        int32_t version = 0;                    // of the end of its flow in the queue
        int32_t under_way = 0;                  // first stretch: messages that hold a slot
        int32_t connection = 0;
        std::vector<int32_t> links;
    };
    struct Connection {
        int32_t source = 0;
        int32_t target = 0;
        int32_t channel = 0;
        std::vector<int32_t> links;
        std::vector<Packet> unreachable;
    };
    struct LinkState {
        std::vector<int32_t> stretches;  // that use it
        std::vector<int32_t> flows;      // active ones
        bool dirty = false;
        int64_t mark = 0;        // of the last reckoning that saw it
        int64_t free_share = 0;  // while reckoning, as are the next two
        int64_t full_share = 0;
        int32_t open_flows = 0;
    };
    enum class Happening : uint8_t { arrival, wire_end, slot };
    struct Item {
        int32_t stretch = 0;
        int32_t version = 0;
        Happening happening = Happening::arrival;
    };

    int32_t node_of(int32_t participant) const;
    int32_t add_stretch(Stretch stretch);
    void find_route(int32_t connection);
    void build_stretches(int32_t connection);
    void try_again(int32_t connection, int64_t now_ps);
    void reckon_constants(Stretch& stretch);
    bool must_flow(const Stretch& stretch) const;
    static int64_t add_times(int64_t a, int64_t b) {
        return a > time_ps_max - b ? time_ps_max : a + b;
    }
    static int64_t wire_ps(int64_t bytes, int64_t rate_bytes_per_s);

    void enter(int32_t index, const Packet& packet, int64_t now_ps);
    void enter_flow(int32_t index, const Packet& packet, int64_t now_ps);
    void send_alone(int32_t index, Stretch& stretch, const Packet& packet, int64_t now_ps);
    void start_flow(int32_t index, int64_t now_ps);
    void end_flow(int32_t index, int64_t now_ps);
    void stop_flow(Stretch& stretch, int32_t index);
    void turn_into_flow(int32_t index, int64_t now_ps);
    void push_air(int32_t index, const Packet& packet);
    void push_arrival(int32_t index);
    void take_front(int32_t index, Stretch& stretch, Arrival& arrival);
    bool step_otherwise(const Item& item, Arrival& arrival);
    void pass_on(int32_t index);
    void push_slot(const Stretch& stretch, int64_t arrived_ps);
    void retime(Stretch& stretch, int64_t old_rate, int64_t old_latency_ps, int64_t now_ps);
    void refresh_stretch(int32_t index, int64_t now_ps);
    void drop_waiting(int32_t index, int64_t now_ps);
    int64_t left_of(const Stretch& stretch) const;
    void settle();
    void collect(int32_t link, std::vector<int32_t>& links, std::vector<int32_t>& flows);
    void reckon(const std::vector<int32_t>& links, const std::vector<int32_t>& flows);
    void set_share(int32_t index, int64_t share, bool exact);
    void fix_flows(int32_t link, int64_t share, bool exact);
    void fix_flow(int32_t index, int64_t share, bool exact);
    void touch(int32_t link);
    void refresh(int64_t now_ps);

    std::unique_ptr<Topology> topology_;
    std::unique_ptr<Router> router_;
    NetworkOptions options_;
    std::vector<Connection> connections_;
    std::vector<int32_t> first_stretches_;  // [connection] -1: nothing joins its ends
    std::vector<Stretch> stretches_;
    std::vector<LinkState> links_;
    std::vector<std::vector<std::pair<int64_t, int32_t>>> connections_of_;  // [source]
    std::vector<int32_t> dirty_links_;
    std::map<int32_t, int64_t> slowdowns_;  // [participant] thousandths
    std::vector<int32_t> scratch_links_;
    std::vector<int32_t> scratch_flows_;
    int64_t open_count_ = 0;  // flows, while reckoning
    EventQueue<Item> queue_;
    int64_t now_ps_ = 0;
    int64_t mark_ = 0;
};

// What follows is done for every message and therefore here, for the compiler to see.

inline Network::Packet& Network::PacketQueue::add() {
    if (head_ == packets_.size()) {
        clear();
    } else if (head_ >= 64 && head_ * 2 >= packets_.size()) {
        packets_.erase(packets_.begin(), packets_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
    return packets_.emplace_back();
}

inline void Network::send(int32_t connection, int32_t message, int64_t bytes, int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    const int32_t first = first_stretches_[static_cast<size_t>(connection)];
    Packet packet;
    packet.message = message;
    packet.bytes = bytes;
    if (first < 0) [[unlikely]] {
        connections_[static_cast<size_t>(connection)].unreachable.push_back(packet);
        return;
    }
    enter(first, packet, now_ps);
}

inline void Network::enter(int32_t index, const Packet& packet, int64_t now_ps) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    stretch.bytes += packet.bytes;
    if (stretch.flowing) {
        enter_flow(index, packet, now_ps);
    } else {
        send_alone(index, stretch, packet, now_ps);
    }
}

inline void Network::send_alone(int32_t index,
                                Stretch& stretch,
                                const Packet& packet,
                                int64_t now_ps) {
    if (packet.bytes != stretch.known_bytes) {
        stretch.known_bytes = packet.bytes;
        stretch.known_wire_ps = wire_ps(packet.bytes, stretch.rate_bytes_per_s);
    }
    const bool first = stretch.air.empty();
    const int64_t last_end_ps = first ? 0 : stretch.air.back().end_ps;
    Packet& sent = stretch.air.add();
    sent.message = packet.message;
    sent.bytes = packet.bytes;
    sent.ready_ps = now_ps;
    sent.begin_ps = std::max(now_ps, stretch.free_ps);
    sent.wire_end_ps = add_times(sent.begin_ps, stretch.known_wire_ps);
    // A message sent before a cut in latency is not overtaken.
    sent.end_ps = std::max(add_times(sent.wire_end_ps, stretch.latency_ps), last_end_ps);
    sent.first_begin_ps = stretch.first ? sent.begin_ps : packet.first_begin_ps;
    stretch.free_ps = sent.wire_end_ps;
    if (first) {
        queue_.push(sent.end_ps, {index, stretch.arrival_version, Happening::arrival});
    }
}

inline void Network::push_arrival(int32_t index) {
    Stretch& stretch = stretches_[static_cast<size_t>(index)];
    queue_.push(stretch.air.front().end_ps, {index, stretch.arrival_version, Happening::arrival});
}

inline int64_t Network::next_ps() {
    if (!dirty_links_.empty() && queue_.next_ps() > now_ps_) {
        settle();
    }
    return queue_.next_ps();
}

inline void Network::take_front(int32_t index, Stretch& stretch, Arrival& arrival) {
    const Packet& front = stretch.air.front();
    arrival = {front.message, front.first_begin_ps, front.wire_end_ps, front.end_ps};
    stretch.air.pop();
    if (!stretch.air.empty()) {
        push_arrival(index);
    }
}

inline int32_t Network::message_ahead() {
    constexpr size_t stretch_ahead = 12;
    constexpr size_t packet_ahead = 8;
    constexpr size_t known_ahead = 5;
    if (const Item* item = queue_.ahead(stretch_ahead)) {
        const Stretch* stretch = &stretches_[static_cast<size_t>(item->stretch)];
        __builtin_prefetch(stretch);
        __builtin_prefetch(reinterpret_cast<const char*>(stretch) + 64);
    }
    if (const Item* item = queue_.ahead(packet_ahead)) {
        __builtin_prefetch(stretches_[static_cast<size_t>(item->stretch)].air.begin());
    }
    if (const Item* item = queue_.ahead(known_ahead)) {
        const Stretch& stretch = stretches_[static_cast<size_t>(item->stretch)];
        return stretch.air.empty() ? -1 : stretch.air.begin()->message;
    }
    return -1;
}

inline bool Network::step(Arrival& arrival) {
    const auto entry = queue_.pop();
    now_ps_ = std::max(now_ps_, entry.time_ps);
    const Item& item = entry.item;
    Stretch& stretch = stretches_[static_cast<size_t>(item.stretch)];
    if (item.happening == Happening::arrival && !stretch.flowing && stretch.next < 0 &&
        item.version == stretch.arrival_version) [[likely]] {
        take_front(item.stretch, stretch, arrival);
        return true;
    }
    return step_otherwise(item, arrival);
}

}  // namespace ringscope
