// SPDX-License-Identifier: Apache-2.0
// How long a schedule takes on topology=uniform, found without the simulator and without anything
// it is made of: in doubles, port by port, as plainly as can be. Closed forms and the simulator are
// held against it.
//
// The network: one port out and one port in per rank, of the same bandwidth. The messages of a
// connection (source, target, channel) follow each other. Those at the head of their connections
// are on the wire, and share the ports max-min fairly: no rate can be raised without lowering one
// that is not higher. A message that has left takes the latency to arrive; what comes from the
// switch had it on the way to the switch. The ports of the switch have room for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "shared/schedule.hpp"

namespace ringscope {

class PortReference {
  public:
    PortReference(const Schedule& schedule, double bytes_per_ps, double latency_ps)
        : schedule_(schedule),
          bytes_per_ps_(bytes_per_ps),
          latency_ps_(latency_ps),
          ranks_(static_cast<size_t>(schedule.lane_count * schedule.participant_count)) {
        for (Rank& rank : ranks_) {
            rank.arrived.resize(static_cast<size_t>(schedule.step_count), 0);
        }
    }

    // When the last message arrives.
    double end_ps() {
        for (int32_t lane = 0; lane < schedule_.lane_count; ++lane) {
            for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
                go_on(lane, rank);
            }
        }
        while (!arrivals_.empty() || any_waiting()) {
            move();
        }
        return now_ps_;
    }

  private:
    struct Message {
        Transfer transfer;
        double bytes_left = 0;
    };
    struct Connection {
        int32_t out_port = -1;  // of the source; -1: the switch, which has room for all
        int32_t in_port = -1;
        std::deque<Message> messages;
        double rate = 0;
    };
    struct Arrival {
        double time_ps = 0;
        Transfer transfer;
    };
    struct Rank {  // in one lane
        int32_t step = 0;
        bool entered = false;          // has sent what `step` asks of it
        std::vector<int32_t> arrived;  // [step]
    };

    Rank& rank_in(int32_t lane, int32_t rank) {
        return ranks_[static_cast<size_t>(lane * schedule_.participant_count + rank)];
    }

    // Sends what it can: a step's messages leave when all of the steps before have arrived.
    void go_on(int32_t lane, int32_t participant) {
        Rank& rank = rank_in(lane, participant);
        std::vector<Transfer> transfers;
        for (; rank.step < schedule_.step_count; ++rank.step, rank.entered = false) {
            if (!rank.entered) {
                transfers.clear();
                schedule_.append_sends(lane, rank.step, participant, transfers);
                for (const Transfer& transfer : transfers) {
                    send(transfer);
                }
                rank.entered = true;
            }
            transfers.clear();
            schedule_.append_receives(lane, rank.step, participant, transfers);
            if (rank.arrived[static_cast<size_t>(rank.step)] < std::ssize(transfers)) {
                return;
            }
        }
    }

    void send(const Transfer& transfer) {
        Connection& connection =
            connections_[{transfer.source_rank, transfer.target_rank, transfer.channel}];
        if (!schedule_.is_switch(transfer.source_rank)) {
            connection.out_port = transfer.source_rank;
        }
        if (!schedule_.is_switch(transfer.target_rank)) {
            connection.in_port = schedule_.participant_count + transfer.target_rank;
        }
        connection.messages.push_back({transfer, static_cast<double>(schedule_.bytes(transfer))});
    }

    bool any_waiting() const {
        return std::any_of(connections_.begin(), connections_.end(), [](const auto& entry) {
            return !entry.second.messages.empty();
        });
    }

    // Progressive filling: the port that gives each of its messages the least settles their rates;
    // then the same without them.
    void share_ports() {
        std::vector<Connection*> open;
        for (auto& [key, connection] : connections_) {
            if (!connection.messages.empty()) {
                open.push_back(&connection);
            }
        }
        const auto port_count = static_cast<size_t>(2 * schedule_.participant_count);
        std::vector<double> left(port_count, bytes_per_ps_);
        while (!open.empty()) {
            std::vector<int32_t> wanted(port_count, 0);
            for (const Connection* connection : open) {
                for (const int32_t port : {connection->out_port, connection->in_port}) {
                    if (port >= 0) {
                        ++wanted[static_cast<size_t>(port)];
                    }
                }
            }
            size_t narrowest = port_count;
            double share = std::numeric_limits<double>::infinity();
            for (size_t port = 0; port < port_count; ++port) {
                if (wanted[port] > 0 && left[port] / wanted[port] < share) {
                    share = left[port] / wanted[port];
                    narrowest = port;
                }
            }
            std::erase_if(open, [&](Connection* connection) {
                if (connection->out_port != static_cast<int32_t>(narrowest) &&
                    connection->in_port != static_cast<int32_t>(narrowest)) {
                    return false;
                }
                connection->rate = share;
                for (const int32_t port : {connection->out_port, connection->in_port}) {
                    if (port >= 0) {
                        left[static_cast<size_t>(port)] -= share;
                    }
                }
                return true;
            });
        }
    }

    // On to the next moment at which a message has left or arrived, and all that happens then.
    // What is due within a billionth counts as due: rounding must not tear apart what is one
    // moment.
    void move() {
        share_ports();
        double span_ps = std::numeric_limits<double>::infinity();
        for (const auto& [key, connection] : connections_) {
            if (!connection.messages.empty()) {
                span_ps =
                    std::min(span_ps, connection.messages.front().bytes_left / connection.rate);
            }
        }
        for (const Arrival& arrival : arrivals_) {
            span_ps = std::min(span_ps, arrival.time_ps - now_ps_);
        }
        span_ps = std::max(span_ps, 0.0);
        now_ps_ += span_ps;
        for (auto& [key, connection] : connections_) {
            if (!connection.messages.empty()) {
                leave(connection, span_ps);
            }
        }
        deliver();
    }

    // What arrives at the same moment is taken in lane by lane, so that ranks that do the same do
    // it in the same order.
    void deliver() {
        std::vector<Transfer> due;
        std::erase_if(arrivals_, [&](const Arrival& arrival) {
            const bool is_due = arrival.time_ps <= now_ps_ * (1 + 1e-12);
            if (is_due) {
                due.push_back(arrival.transfer);
            }
            return is_due;
        });
        std::stable_sort(due.begin(), due.end(), [&](const Transfer& a, const Transfer& b) {
            return schedule_.lane_of(a) < schedule_.lane_of(b);
        });
        for (const Transfer& transfer : due) {
            const int32_t lane = schedule_.lane_of(transfer);
            ++rank_in(lane, transfer.target_rank).arrived[static_cast<size_t>(transfer.step)];
        }
        for (const Transfer& transfer : due) {
            go_on(schedule_.lane_of(transfer), transfer.target_rank);
        }
    }

    void leave(Connection& connection, double span_ps) {
        Message& head = connection.messages.front();
        head.bytes_left -= span_ps * connection.rate;
        if (head.bytes_left > 1e-9 * static_cast<double>(schedule_.bytes(head.transfer))) {
            return;
        }
        const bool from_switch = schedule_.is_switch(head.transfer.source_rank);
        arrivals_.push_back({now_ps_ + (from_switch ? 0 : latency_ps_), head.transfer});
        connection.messages.pop_front();
    }

    const Schedule& schedule_;
    double bytes_per_ps_;
    double latency_ps_;
    double now_ps_ = 0;
    std::vector<Rank> ranks_;  // [lane][participant]
    std::map<std::tuple<int32_t, int32_t, int32_t>, Connection> connections_;
    std::vector<Arrival> arrivals_;
};

}  // namespace ringscope
