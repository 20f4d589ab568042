// SPDX-License-Identifier: Apache-2.0
// A graph of messages on SimGrid's flow-level network: what the agreement rows of scripts/bench
// simulator are held against. Reads standard input, one record a line,
//
//     link NAME BYTES_PER_S                       one direction
//     host NAME
//     route SOURCE TARGET LINK...
//     message SOURCE TARGET BYTES LATENCY_S CONDITION...
//
// and prints the second at which the last message has arrived. A condition is left:K or
// arrived:K: the message starts when the last byte of message K, counted from 0, has left its
// source, or when it is there, one latency later.
//
// The rates of the flows, which is what is hard, are SimGrid's, its corrections for TCP switched
// off. The latencies are waited for outside its links: a link with a latency would be shared in
// inverse proportion to the latencies of the flows' routes, as TCP does, not equally.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

namespace {

struct Message {
    sg4::Host* source = nullptr;
    sg4::Host* target = nullptr;
    uint64_t bytes = 0;
    double latency_s = 0;
    size_t condition_count = 0;
    sg4::SemaphorePtr conditions_met = sg4::Semaphore::create(0);
    std::vector<size_t> starts_when_left;  // those that wait for this one
    std::vector<size_t> starts_when_arrived;
};

struct Network {
    sg4::NetZone* zone = sg4::create_full_zone("network");
    std::vector<Message> messages;

    void read(const std::string& line);
    void read_message(std::istringstream& fields);
    void release(const std::vector<size_t>& waiting);
    void carry(Message& message);
};

void Network::read(const std::string& line) {
    const sg4::Engine& engine = *sg4::Engine::get_instance();
    std::istringstream fields(line);
    std::string record;
    std::string name;
    fields >> record;
    if (record == "link") {
        double bytes_per_s = 0;
        fields >> name >> bytes_per_s;
        zone->create_link(name, bytes_per_s)->set_latency(0)->seal();
    } else if (record == "host") {
        fields >> name;
        zone->create_host(name, /*speed=*/1.0)->seal();
    } else if (record == "route") {
        std::string target;
        std::vector<sg4::LinkInRoute> links;
        fields >> name >> target;
        for (std::string link; fields >> link;) {
            links.emplace_back(engine.link_by_name(link));
        }
        zone->add_route(engine.netpoint_by_name_or_null(name),
                        engine.netpoint_by_name_or_null(target),
                        nullptr,
                        nullptr,
                        links,
                        /*symmetrical=*/false);
    } else if (record == "message") {
        read_message(fields);
    }
}

void Network::read_message(std::istringstream& fields) {
    Message message;
    std::string source;
    std::string target;
    fields >> source >> target >> message.bytes >> message.latency_s;
    message.source = sg4::Host::by_name(source);
    message.target = sg4::Host::by_name(target);
    const size_t index = messages.size();
    for (std::string condition; fields >> condition; ++message.condition_count) {
        const size_t colon = condition.find(':');
        Message& before = messages.at(std::stoul(condition.substr(colon + 1)));
        const bool left = condition.substr(0, colon) == "left";
        (left ? before.starts_when_left : before.starts_when_arrived).push_back(index);
    }
    messages.push_back(message);
}

void Network::release(const std::vector<size_t>& waiting) {
    for (const size_t index : waiting) {
        messages[index].conditions_met->release();
    }
}

void Network::carry(Message& message) {
    for (size_t met = 0; met < message.condition_count; ++met) {
        message.conditions_met->acquire();
    }
    sg4::Comm::sendto(message.source, message.target, message.bytes);
    release(message.starts_when_left);
    sg4::this_actor::sleep_for(message.latency_s);
    release(message.starts_when_arrived);
}

}  // namespace

int main(int argc, char** argv) {
    xbt_log_control_set("xbt_cfg.thresh:warning");  // It would tell of every setting.
    sg4::Engine engine(&argc, argv);
    for (const char* setting : {"network/model:CM02",
                                "network/bandwidth-factor:1",
                                "network/latency-factor:1",
                                "network/weight-S:0",
                                "network/crosstraffic:0",
                                "network/TCP-gamma:1e30",
                                "surf/precision:1e-12",
                                "maxmin/precision:1e-9"}) {
        engine.set_config(setting);
    }
    Network network;
    for (std::string line; std::getline(std::cin, line);) {
        network.read(line);
    }
    network.zone->seal();
    for (Message& message : network.messages) {
        sg4::Actor::create(
            "message", message.source, [&network, &message] { network.carry(message); });
    }
    engine.run();
    std::cout.precision(15);
    std::cout << sg4::Engine::get_clock() << '\n';
}
