// SPDX-License-Identifier: Apache-2.0
#include "shared/ring_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "shared/arrange.hpp"
#include "shared/topology_text.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

using Order = std::vector<int32_t>;

Topology topology_of(std::string_view line) {
    auto topology = build_topology(run_of(line));
    EXPECT_TRUE(topology) << line << ": " << topology.error().message;
    return topology ? *topology : Topology{};
}

// The same machine with its ranks numbered anew.
Topology scrambled(Topology topology, uint64_t seed) {
    Dice dice(seed);
    for (size_t i = topology.rank_nodes.size(); i > 1; --i) {
        std::swap(topology.rank_nodes[i - 1],
                  topology.rank_nodes[static_cast<size_t>(dice.below(static_cast<int64_t>(i)))]);
    }
    return topology;
}

Order best(const Topology& topology) {
    const auto order = best_ring_order(topology);
    EXPECT_TRUE(order) << order.error().message;
    return order ? *order : Order{};
}

void expect_a_ring(const Topology& topology, const Order& order) {
    ASSERT_EQ(order.size(), topology.rank_nodes.size());
    EXPECT_EQ(order.front(), 0);
    Order sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
        EXPECT_EQ(sorted[i], static_cast<int32_t>(i));
    }
}

// How many hops of the ring use each link.
std::vector<int32_t> loads(const Topology& topology, const Order& order) {
    std::vector<int32_t> count(topology.links.size());
    Router router(topology);
    for (size_t i = 0; i < order.size(); ++i) {
        const auto node = [&](size_t position) {
            const int32_t rank = order[position % order.size()];
            return topology.rank_nodes[static_cast<size_t>(rank)];
        };
        for (const int32_t link : router.route(node(i), node(i + 1), 0)) {
            ++count[static_cast<size_t>(link)];
        }
    }
    return count;
}

// Crossings of links between nodes whose names begin like this.
int32_t crossings(const Topology& topology,
                  const Order& order,
                  std::string_view from,
                  std::string_view to) {
    const std::vector<int32_t> count = loads(topology, order);
    int32_t sum = 0;
    for (size_t i = 0; i < count.size(); ++i) {
        const Link& link = topology.links[i];
        if (topology.nodes[static_cast<size_t>(link.source_node)].name.starts_with(from) &&
            topology.nodes[static_cast<size_t>(link.target_node)].name.starts_with(to)) {
            sum += count[i];
        }
    }
    return sum;
}

// The definition, written down a second time: less is better.
struct Badness {
    int64_t load = 0;
    int64_t rate = 1;
    std::map<int64_t, int32_t> crossings;  // by bandwidth
    int64_t latency_ps = 0;
};

Badness badness(const Topology& topology, const Order& order) {
    Badness sum;
    for (const Link& link : topology.links) {
        sum.crossings[link.bandwidth_bytes_per_s] = 0;
    }
    const std::vector<int32_t> count = loads(topology, order);
    for (size_t i = 0; i < count.size(); ++i) {
        const Link& link = topology.links[i];
        if (count[i] * sum.rate > sum.load * link.bandwidth_bytes_per_s) {
            sum.load = count[i];
            sum.rate = link.bandwidth_bytes_per_s;
        }
        sum.crossings[link.bandwidth_bytes_per_s] += count[i];
        sum.latency_ps += count[i] * link.latency_ps;
    }
    return sum;
}

bool worse(const Badness& a, const Badness& b) {
    if (a.load * b.rate != b.load * a.rate) {
        return a.load * b.rate > b.load * a.rate;
    }
    if (a.crossings != b.crossings) {
        return a.crossings > b.crossings;
    }
    return a.latency_ps > b.latency_ps;
}

// GPUs at switches that hang together somehow, some of them joined directly.
Topology random_topology(Dice& dice, int32_t rank_count) {
    Topology topology;
    const auto join = [&](int32_t a, int32_t b) {
        constexpr std::array<int64_t, 4> rates{1, 2, 5, 10};
        if (a != b && topology.find_link(a, b) < 0) {
            topology.add_cable(
                {.source_node = a,
                 .target_node = b,
                 .bandwidth_bytes_per_s = rates[static_cast<size_t>(dice.below(4))] * 1'000'000'000,
                 .latency_ps = 1 + dice.below(5)});
        }
    };
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        topology.add_rank("gpu" + std::to_string(rank), 0);
    }
    const auto switch_count = static_cast<int32_t>(1 + dice.below(4));
    for (int32_t i = 0; i < switch_count; ++i) {
        topology.add_node(NodeKind::network_switch, "switch" + std::to_string(i));
        if (i > 0) {
            join(rank_count + i, rank_count + static_cast<int32_t>(dice.below(i)));
        }
    }
    for (int32_t rank = 0; rank < rank_count; ++rank) {
        join(rank, rank_count + static_cast<int32_t>(dice.below(switch_count)));
    }
    for (int64_t extra = dice.below(8); extra > 0; --extra) {
        join(static_cast<int32_t>(dice.below(rank_count + switch_count)),
             static_cast<int32_t>(dice.below(rank_count + switch_count)));
    }
    return topology;
}

TEST(RingOrder, NoOrderIsBetterOnSmallGraphs) {
    Dice dice(1);
    for (int i = 0; i < 150; ++i) {
        const auto rank_count = static_cast<int32_t>(2 + dice.below(i < 140 ? 5 : 6));
        const Topology topology = random_topology(dice, rank_count);
        const Order found = best(topology);
        expect_a_ring(topology, found);
        const Badness least = badness(topology, found);
        Order order(static_cast<size_t>(rank_count));
        std::iota(order.begin(), order.end(), 0);
        do {
            ASSERT_FALSE(worse(least, badness(topology, order)))
                << print_topology(topology, TopologyForm::file);
        } while (std::next_permutation(order.begin() + 1, order.end()));
    }
}

TEST(RingOrder, LargerRingsAreNeverWorseThanTheNaturalOne) {
    Dice dice(2);
    for (int i = 0; i < 10; ++i) {
        const auto rank_count = static_cast<int32_t>(10 + dice.below(20));
        const Topology topology = random_topology(dice, rank_count);
        const Order found = best(topology);
        expect_a_ring(topology, found);
        Order natural(static_cast<size_t>(rank_count));
        std::iota(natural.begin(), natural.end(), 0);
        EXPECT_FALSE(worse(badness(topology, found), badness(topology, natural)));
        EXPECT_EQ(best(topology), found);
    }
}

TEST(RingOrder, WhereAllOrdersAreAlikeTheNaturalOneStays) {
    for (const std::string line : {"ranks=1",
                                   "ranks=2",
                                   "ranks=9",
                                   "ranks=40",
                                   "topology=hgx_h100",
                                   "topology=full_mesh&ranks=16",
                                   "topology=leaf_spine&ranks=32",
                                   "topology=pcie_box_2socket"}) {
        const Topology topology = topology_of(line);
        Order natural(topology.rank_nodes.size());
        std::iota(natural.begin(), natural.end(), 0);
        EXPECT_EQ(best(topology), natural) << line;
    }
}

TEST(RingOrder, TheHybridCubeMeshNeedsNoPcie) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const Topology topology = scrambled(topology_of("topology=dgx1_v100"), seed);
        const Order order = best(topology);
        expect_a_ring(topology, order);
        const std::vector<int32_t> count = loads(topology, order);
        for (size_t i = 0; i < count.size(); ++i) {
            if (count[i] > 0) {
                EXPECT_EQ(topology.links[i].kind, LinkKind::nvlink);
                EXPECT_EQ(topology.links[i].bandwidth_bytes_per_s, 40'000'000'000)
                    << "a ring of double links exists";
            }
        }
    }
}

TEST(RingOrder, TwoSocketsAreCrossedOncePerDirection) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const Topology topology = scrambled(topology_of("topology=pcie_box_2socket"), seed);
        const Order order = best(topology);
        EXPECT_EQ(crossings(topology, order, "cpu0", "cpu1"), 1);
        EXPECT_EQ(crossings(topology, order, "cpu1", "cpu0"), 1);
    }
}

TEST(RingOrder, EachLeafIsEnteredAndLeftOnce) {
    for (const int32_t rank_count : {16, 32, 64}) {
        const Topology topology =
            scrambled(topology_of("topology=leaf_spine&oversubscription=4&ranks=" +
                                  std::to_string(rank_count)),
                      static_cast<uint64_t>(rank_count));
        const Order order = best(topology);
        expect_a_ring(topology, order);
        const int32_t leaf_count = rank_count == 16 ? 4 : rank_count == 32 ? 4 : 8;
        EXPECT_EQ(crossings(topology, order, "leaf", "spine"), leaf_count);
        EXPECT_EQ(crossings(topology, order, "spine", "leaf"), leaf_count);
    }
}

TEST(RingOrder, ServersAreLeftOnceAndAlongARail) {
    const Topology topology = scrambled(topology_of("topology=rail_infiniband&ranks=64"), 3);
    const Order order = best(topology);
    EXPECT_EQ(crossings(topology, order, "nic", "leaf"), 8);
    EXPECT_EQ(crossings(topology, order, "leaf", "spine"), 0);
}

TEST(RingOrder, OnATorusAllNeighboursAreOneHopAway) {
    for (const std::string line : {"topology=torus_2d&ranks=9",
                                   "topology=torus_2d&ranks=16",
                                   "topology=torus_2d&ranks=25",
                                   "topology=torus_2d&ranks=36",
                                   "topology=torus_2d&ranks=63",
                                   "topology=torus_2d&ranks=64",
                                   "topology=torus_3d&ranks=27",
                                   "topology=torus_3d&ranks=64"}) {
        for (const uint64_t seed : {0, 1, 2}) {
            const Topology plain = topology_of(line);
            const Topology topology = seed == 0 ? plain : scrambled(plain, seed);
            const Order order = best(topology);
            expect_a_ring(topology, order);
            EXPECT_EQ(crossings(topology, order, "router", "router"),
                      std::ssize(topology.rank_nodes))
                << line << " " << seed;
        }
    }
}

TEST(RingOrder, ALinkThatIsSlowOrCutIsAvoided) {
    for (const std::string setting : {"set=link.3-4.bandwidth:5GB/s", "set=link.3-4.up:0"}) {
        for (const std::string ranks : {"8", "12"}) {
            for (const std::string name : {"uniform", "full_mesh"}) {
                const Topology topology =
                    topology_of("ranks=" + ranks + "&topology=" + name + "&" + setting);
                const Order order = best(topology);
                for (size_t i = 0; i < order.size(); ++i) {
                    EXPECT_FALSE(order[i] == 3 && order[(i + 1) % order.size()] == 4)
                        << name << " " << ranks << " " << setting;
                }
            }
        }
    }
}

TEST(RingOrder, ARunCanAskForIt) {
    const auto arrangement =
        arrange(run_of("topology=dgx1_v100&ring=best"), topology_of("topology=dgx1_v100"));
    ASSERT_TRUE(arrangement);
    EXPECT_EQ(arrangement->orders, (std::vector<Order>{{0, 3, 2, 1, 5, 6, 7, 4}}));
    EXPECT_EQ(best_ring_order(topology_of("ranks=513")).error().message,
              "ring=best: is searched for among at most 512 ranks; leave it out or name the order");
}

}  // namespace
}  // namespace ringscope
