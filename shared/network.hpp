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
//     for (Arrival arrival; network.step(until_ps, arrival) != Network::Step::none;) ...
//
// Two ways to the same result. A stretch (a connection, or one link of it when messages are stored
// on the way) that shares no link with another is reckoned in closed form, message by message;
// there a queue entry per message is all. As soon as another stretch uses one of its links it is
// turned into a flow: each moment at which a flow begins or ends, the shares of those that depend
// on each other are reckoned anew.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
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
    // Carries out one happening of the time next_ps(), unless that is after limit_ps: then `none`.
    // `arrival`: a message arrived by it.
    enum class Step : uint8_t { none, other, arrival };
    Step step(int64_t limit_ps, Arrival& arrival);

    int64_t now_ps() const { return now_ps_; }

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
        size_t size() const { return packets_.size() - head_; }
        const Packet& operator[](size_t i) const { return packets_[head_ + i]; }
        Packet& front() { return packets_[head_]; }
        Packet& back() { return packets_.back(); }
        Packet& add() {  // at the end, to be filled in
            if (head_ >= 64 && head_ * 2 >= packets_.size()) {
                packets_.erase(packets_.begin(),
                               packets_.begin() + static_cast<std::ptrdiff_t>(head_));
                head_ = 0;
            }
            return packets_.emplace_back();
        }
        void pop() {
            if (++head_ == packets_.size()) {
                clear();
            }
        }
        void clear() {
            packets_.clear();
            head_ = 0;
        }

      private:
        std::vector<Packet> packets_;
        size_t head_ = 0;
    };
    // The same, with room for two in the object itself, as there are seldom more.
    class ShortQueue {
      public:
        bool empty() const { return size_ == 0; }
        size_t size() const { return size_; }
        const Packet& operator[](size_t i) const {
            return i < 2 ? near_[(head_ + i) & 1] : far_[i - 2];
        }
        Packet& operator[](size_t i) { return const_cast<Packet&>(std::as_const(*this)[i]); }
        Packet& front() { return near_[head_]; }
        Packet& add() {
            const uint32_t i = size_++;
            return i < 2 ? near_[(head_ + i) & 1] : far_.add();
        }
        void pop() {
            if (--size_ >= 2) [[unlikely]] {
                near_[head_] = far_.front();
                far_.pop();
            }
            head_ ^= 1;
        }
        void clear() {
            size_ = 0;
            far_.clear();
        }

      private:
        uint32_t head_ = 0;
        uint32_t size_ = 0;
        std::array<Packet, 2> near_;
        PacketQueue far_;
    };
    // What every message of a stretch alone touches comes first, and together.
    struct alignas(64) Stretch {
        int64_t free_ps = 0;          // alone: when the wire is free again
        int64_t latency_ps = 0;       //
        int64_t known_bytes = -1;     // alone: the last message's, and its time on the wire
        int64_t known_wire_ps = 0;    //
        int64_t last_end_ps = 0;      // of the last message that left, or alone was put on it
        int64_t bytes = 0;            // of all messages put on it
        int32_t next = -1;            // stretch, when the message is stored and sent on
        int32_t arrival_version = 0;  // of its arrivals in the queue
        bool first = true;
        bool flowing = false;                   // reckoned as a flow
        bool active = false;                    // as such: its front message is on the wire
        bool fixed = false;                     // while reckoning
        ShortQueue air;                         // left, or alone: reckoned; not arrived
        PacketQueue waiting;                    // flowing: the front one is on the wire when active
        int64_t rate_bytes_per_s = 0;           // alone: of the narrowest link
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
    Packet& send_alone(int32_t index, Stretch& stretch, int64_t bytes, int64_t now_ps);
    void start_flow(int32_t index, int64_t now_ps);
    void end_flow(int32_t index, int64_t now_ps);
    void stop_flow(Stretch& stretch, int32_t index);
    void turn_into_flow(int32_t index, int64_t now_ps);
    void push_air(int32_t index, const Packet& packet);
    void push_arrival(int32_t index, int64_t end_ps);
    void push_arrivals_anew(int32_t index);
    static void take_front(Stretch& stretch, Arrival& arrival);
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

[[gnu::always_inline]] inline void Network::send(int32_t connection,
                                                 int32_t message,
                                                 int64_t bytes,
                                                 int64_t now_ps) {
    now_ps_ = std::max(now_ps_, now_ps);
    const int32_t first = first_stretches_[static_cast<size_t>(connection)];
    if (first >= 0) [[likely]] {
        Stretch& stretch = stretches_[static_cast<size_t>(first)];
        if (!stretch.flowing) [[likely]] {
            Packet& sent = send_alone(first, stretch, bytes, now_ps);
            sent.message = message;
            sent.first_begin_ps = sent.begin_ps;
            return;
        }
    }
    Packet packet;
    packet.message = message;
    packet.bytes = bytes;
    if (first < 0) {
        connections_[static_cast<size_t>(connection)].unreachable.push_back(packet);
    } else {
        enter(first, packet, now_ps);
    }
}

// Its times are reckoned; who it is, is for the caller to fill in.
[[gnu::always_inline]] inline Network::Packet& Network::send_alone(int32_t index,
                                                                   Stretch& stretch,
                                                                   int64_t bytes,
                                                                   int64_t now_ps) {
    stretch.bytes += bytes;
    if (bytes != stretch.known_bytes) {
        stretch.known_bytes = bytes;
        stretch.known_wire_ps = wire_ps(bytes, stretch.rate_bytes_per_s);
    }
    Packet& sent = stretch.air.add();
    sent.bytes = bytes;
    sent.ready_ps = now_ps;
    sent.begin_ps = std::max(now_ps, stretch.free_ps);
    sent.wire_end_ps = add_times(sent.begin_ps, stretch.known_wire_ps);
    // A message sent before a cut in latency is not overtaken.
    sent.end_ps = std::max(add_times(sent.wire_end_ps, stretch.latency_ps), stretch.last_end_ps);
    stretch.last_end_ps = sent.end_ps;
    stretch.free_ps = sent.wire_end_ps;
    queue_.push(sent.end_ps, {index, stretch.arrival_version, Happening::arrival});
    return sent;
}

inline void Network::push_arrival(int32_t index, int64_t end_ps) {
    const int32_t version = stretches_[static_cast<size_t>(index)].arrival_version;
    queue_.push(end_ps, {index, version, Happening::arrival});
}

inline int64_t Network::next_ps() {
    if (!dirty_links_.empty() && queue_.next_ps() > now_ps_) {
        settle();
    }
    return queue_.next_ps();
}

[[gnu::always_inline]] inline void Network::take_front(Stretch& stretch, Arrival& arrival) {
    const Packet& front = stretch.air.front();
    arrival = {front.message, front.first_begin_ps, front.wire_end_ps, front.end_ps};
    stretch.air.pop();
}

[[gnu::always_inline]] inline Network::Step Network::step(int64_t limit_ps, Arrival& arrival) {
    if (!dirty_links_.empty()) [[unlikely]] {
        (void)next_ps();
    }
    const auto* front = queue_.front();
    if (front == nullptr || front->time_ps > limit_ps) {
        return Step::none;
    }
    const Item item = front->item;
    now_ps_ = std::max(now_ps_, front->time_ps);
    queue_.pop_front(front);
    Stretch& stretch = stretches_[static_cast<size_t>(item.stretch)];
    if (item.happening == Happening::arrival && !stretch.flowing && stretch.next < 0 &&
        item.version == stretch.arrival_version) [[likely]] {
        take_front(stretch, arrival);
        return Step::arrival;
    }
    return step_otherwise(item, arrival) ? Step::arrival : Step::other;
}

}  // namespace ringscope
