// SPDX-License-Identifier: Apache-2.0
// Messages on shared links, against shares worked out by hand.
#include "shared/network.hpp"

#include <algorithm>
#include <map>

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

constexpr int64_t us = 1'000'000;  // picoseconds

// rank r sits on node r; others follow.
Topology bare(int32_t rank_count) {
    Topology topology;
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        topology.rank_nodes.push_back(
            topology.add_node(NodeKind::gpu, "gpu" + std::to_string(rank), 0));
    }
    return topology;
}

void join(Topology& topology, int32_t source, int32_t target, int64_t rate, int64_t latency_ps) {
    topology.add_link({.source_node = source,
                       .target_node = target,
                       .bandwidth_bytes_per_s = rate,
                       .latency_ps = latency_ps});
}

// [message] when it arrives.
std::map<int32_t, int64_t> run_out(Network& network) {
    std::map<int32_t, int64_t> ends_ps;
    Arrival arrival;
    for (Network::Step step{}; (step = network.step(INT64_MAX, arrival)) != Network::Step::none;) {
        if (step == Network::Step::arrival) {
            ends_ps[arrival.message] = arrival.end_ps;
        }
    }
    return ends_ps;
}

// Two ranks under one switch with an uplink of 1 GB/s to a third.
Topology two_to_one(int64_t latency_ps = 0) {
    Topology topology = bare(3);
    const int32_t middle = topology.add_node(NodeKind::network_switch, "switch0");
    join(topology, 0, middle, 10'000'000'000, 0);
    join(topology, 1, middle, 10'000'000'000, 0);
    join(topology, middle, 2, 1'000'000'000, latency_ps);
    return topology;
}

TEST(Network, AMessageAloneTakesItsBytesAndTheLatencyOfItsLinks) {
    const Topology topology = two_to_one(7 * us);
    Network network(topology, {});
    network.send(network.connect(0, 2, 0), 5, 1000, 3 * us);
    EXPECT_EQ(run_out(network)[5], 3 * us + 1 * us + 7 * us);
}

TEST(Network, MessagesOfAConnectionFollowEachOther) {
    const Topology topology = two_to_one(7 * us);
    Network network(topology, {});
    const int32_t connection = network.connect(0, 2, 0);
    for (int32_t message = 0; message < 3; ++message) {
        network.send(connection, message, 1000, 0);
    }
    const auto ends_ps = run_out(network);
    EXPECT_EQ(ends_ps.at(0), 8 * us);
    EXPECT_EQ(ends_ps.at(1), 9 * us);
    EXPECT_EQ(ends_ps.at(2), 10 * us);
}

TEST(Network, TwoThatShareALinkGetHalfEach) {
    const Topology topology = two_to_one();
    Network network(topology, {});
    network.send(network.connect(0, 2, 0), 0, 1000, 0);
    network.send(network.connect(1, 2, 0), 1, 1000, 0);
    const auto ends_ps = run_out(network);
    EXPECT_EQ(ends_ps.at(0), 2 * us);
    EXPECT_EQ(ends_ps.at(1), 2 * us);
}

// 1000 bytes from 0 us, 1000 more from another from 0.5 us: the first has 500 left, which take 1 us
// at half rate; the second then has 500 left at full rate.
TEST(Network, WhoComesLaterTakesHalfOfWhatIsLeft) {
    const Topology topology = two_to_one();
    Network network(topology, {});
    network.send(network.connect(0, 2, 0), 0, 1000, 0);
    const int32_t second = network.connect(1, 2, 0);
    EXPECT_GT(network.next_ps(), us / 2);
    network.send(second, 1, 1000, us / 2);
    const auto ends_ps = run_out(network);
    EXPECT_EQ(ends_ps.at(0), us / 2 + us);
    EXPECT_EQ(ends_ps.at(1), us / 2 + us + us / 2);
}

// Max-min: A over the narrow link alone gets 1, B and C share what is left of the wide one.
TEST(Network, SharesAreMaxMinFair) {
    Topology topology = bare(6);
    const int32_t left = topology.add_node(NodeKind::network_switch, "switch0");
    const int32_t right = topology.add_node(NodeKind::network_switch, "switch1");
    for (int32_t rank = 0; rank < 3; ++rank) {
        join(topology, rank, left, 100'000'000'000, 0);
    }
    join(topology, left, right, 9'000'000'000, 0);
    join(topology, right, 3, 1'000'000'000, 0);
    join(topology, right, 4, 100'000'000'000, 0);
    join(topology, right, 5, 100'000'000'000, 0);
    Network network(topology, {});
    network.send(network.connect(0, 3, 0), 0, 1000, 0);
    network.send(network.connect(1, 4, 0), 1, 4000, 0);
    network.send(network.connect(2, 5, 0), 2, 4000, 0);
    const auto ends_ps = run_out(network);
    EXPECT_EQ(ends_ps.at(0), us);
    EXPECT_EQ(ends_ps.at(1), us);
    EXPECT_EQ(ends_ps.at(2), us);
}

// Thirds of a picosecond: 7 flows of 1 byte at 1 GB/s / 7 end together after 7000 ps, not 7001.
TEST(Network, EqualSharesEndOnTheExactPicosecond) {
    for (int32_t flows = 1; flows <= 64; ++flows) {
        Topology topology = bare(flows + 1);
        const int32_t middle = topology.add_node(NodeKind::network_switch, "switch0");
        for (int32_t rank = 0; rank < flows; ++rank) {
            join(topology, rank, middle, 1'000'000'000'000, 0);
        }
        join(topology, middle, flows, 1'000'000'000, 0);
        Network network(topology, {});
        for (int32_t rank = 0; rank < flows; ++rank) {
            network.send(network.connect(rank, flows, 0), rank, 1000, 0);
        }
        for (const auto& [message, end_ps] : run_out(network)) {
            EXPECT_EQ(end_ps, flows * us) << flows << " flows";
        }
    }
}

// Three equal links: cut-through takes the bytes once, store-and-forward three times.
TEST(Network, StoringOnTheWayTakesTheBytesOncePerLink) {
    Topology topology = bare(2);
    const int32_t first = topology.add_node(NodeKind::network_switch, "switch0");
    const int32_t second = topology.add_node(NodeKind::network_switch, "switch1");
    join(topology, 0, first, 1'000'000'000, 5 * us);
    join(topology, first, second, 1'000'000'000, 5 * us);
    join(topology, second, 1, 1'000'000'000, 5 * us);
    Network cut_through(topology, {});
    cut_through.send(cut_through.connect(0, 1, 0), 0, 1000, 0);
    EXPECT_EQ(run_out(cut_through)[0], 3 * 5 * us + us);
    Network stored(topology, {.forwarding = Forwarding::store_and_forward});
    const int32_t connection = stored.connect(0, 1, 0);
    stored.send(connection, 0, 1000, 0);
    stored.send(connection, 1, 1000, 0);
    auto ends_ps = run_out(stored);
    EXPECT_EQ(ends_ps[0], 3 * (5 * us + us));
    EXPECT_EQ(ends_ps[1], 3 * (5 * us + us) + us);  // one behind the other on each link
}

// One slot: the next message leaves when word of the free slot is back, two latencies after the
// last byte.
TEST(Network, SlotsBoundWhatIsUnderWay) {
    const Topology topology = two_to_one(10 * us);
    for (const int32_t slots : {1, 2, 4}) {
        Network network(topology, {.slots = slots});
        const int32_t connection = network.connect(0, 2, 0);
        for (int32_t message = 0; message < 8; ++message) {
            network.send(connection, message, 1000, 0);
        }
        const int64_t turn_us = 1 + 10 + 10;  // of a slot; longer than all slots' bytes
        const int64_t last_turn = 7 / slots;
        EXPECT_EQ(run_out(network)[7], (last_turn * turn_us + 7 % slots + 1 + 10) * us) << slots;
    }
}

TEST(Network, ACutLinkHoldsItsMessagesUntilItIsRestored) {
    for (const bool shared : {false, true}) {
        const Topology topology = two_to_one();
        Network network(topology, {});
        network.send(network.connect(0, 2, 0), 0, 1000, 0);
        if (shared) {
            network.connect(1, 2, 0);
        }
        EXPECT_GE(network.next_ps(), us / 4);
        const Knob cut{Knob::Kind::link_up, -1, 2, 0, "switch0", ""};
        Knob restored = cut;
        restored.value = 1;
        ASSERT_TRUE(network.apply(cut, us / 4));
        (void)network.next_ps();  // as whoever lets time go on must
        ASSERT_EQ(network.stuck().size(), 1U);
        EXPECT_EQ(topology.link_name(network.stuck()[0].link), "switch0-gpu2");
        ASSERT_TRUE(network.apply(restored, 9 * us));
        EXPECT_EQ(run_out(network)[0], 9 * us + 3 * us / 4);
    }
}

TEST(Network, ASlowSourceSendsAtAFractionOfItsRate) {
    const Topology topology = two_to_one();
    Network network(topology, {});
    network.slow_down(0, 2500, 0);
    network.send(network.connect(0, 2, 0), 0, 1000, 0);
    EXPECT_EQ(run_out(network)[0], 5 * us / 2);
}

// The closed form and the flow are two ways to one result.
TEST(Network, ReckonedAloneAndSharedAgree) {
    Dice dice(11);
    for (int i = 0; i < 200; ++i) {
        Topology topology = bare(2);
        join(topology, 0, 1, 1 + dice.below(1'000'000'000), dice.below(us));
        Network alone(topology, {});
        Network shared(topology, {.slots = 1 << 20});  // a slot to wait for makes it a flow
        std::vector<std::pair<int64_t, int64_t>> sends;
        int64_t now_ps = 0;
        for (int32_t message = 0; message < 10; ++message) {
            sends.emplace_back(now_ps += dice.below(3 * us), dice.below(2000));
        }
        const auto play = [&sends](Network& network) {
            const int32_t connection = network.connect(0, 1, 0);
            std::map<int32_t, int64_t> ends_ps;
            size_t next = 0;
            while (next < sends.size() || network.next_ps() != INT64_MAX) {
                if (next < sends.size() && sends[next].first <= network.next_ps()) {
                    const auto [time_ps, bytes] = sends[next];
                    network.send(connection, static_cast<int32_t>(next++), bytes, time_ps);
                } else if (Arrival arrival;
                           network.step(INT64_MAX, arrival) == Network::Step::arrival) {
                    ends_ps[arrival.message] = arrival.end_ps;
                }
            }
            return ends_ps;
        };
        EXPECT_EQ(play(alone), play(shared));
    }
}

}  // namespace
}  // namespace ringscope
