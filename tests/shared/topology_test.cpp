// SPDX-License-Identifier: Apache-2.0
// What must be true of every topology preset, of routes, and of knobs about links.
#include "shared/topology.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "shared/topology_text.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Topology topology_of(std::string_view line) {
    auto topology = build_topology(run_of(line));
    EXPECT_TRUE(topology) << line << ": " << topology.error().message;
    return topology ? *topology : Topology{};
}

std::string error_of(std::string_view line) {
    const auto topology = build_topology(run_of(line));
    EXPECT_FALSE(topology) << line;
    return topology ? "" : topology.error().message;
}

std::vector<int32_t> route_of(const Topology& topology,
                              int32_t source_rank,
                              int32_t target_rank,
                              int32_t channel = 0) {
    return Router(topology).route(topology.rank_nodes[static_cast<size_t>(source_rank)],
                                  topology.rank_nodes[static_cast<size_t>(target_rank)],
                                  channel);
}

// "gpu0 nvswitch0 gpu1"
std::string way(const Topology& topology, const std::vector<int32_t>& route) {
    std::string text;
    for (const int32_t index : route) {
        const Link& link = topology.links[static_cast<size_t>(index)];
        if (text.empty()) {
            text = topology.nodes[static_cast<size_t>(link.source_node)].name;
        }
        text += " " + topology.nodes[static_cast<size_t>(link.target_node)].name;
    }
    return text;
}

std::string way_between(const Topology& topology, int32_t source_rank, int32_t target_rank) {
    return way(topology, route_of(topology, source_rank, target_rank));
}

int64_t latency_ps(const Topology& topology, int32_t source_rank, int32_t target_rank) {
    int64_t sum = 0;
    for (const int32_t index : route_of(topology, source_rank, target_rank)) {
        sum += topology.links[static_cast<size_t>(index)].latency_ps;
    }
    return sum;
}

int64_t width(const Topology& topology, int32_t source_rank, int32_t target_rank) {
    int64_t least = INT64_MAX;
    for (const int32_t index : route_of(topology, source_rank, target_rank)) {
        least = std::min(least, topology.links[static_cast<size_t>(index)].bandwidth_bytes_per_s);
    }
    return least;
}

// Every preset that needs no graph, with every number of ranks out of these that it takes.
struct Case {
    std::string name;
    Topology topology;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const TopologyPreset* preset : topology_presets()) {
        for (const int32_t rank_count : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 40, 64, 72}) {
            RunSpec run = small_run(rank_count, 1000);
            run.topology = std::string(preset->name);
            run.oversubscription = 3;
            if (auto topology = build_topology(run)) {
                list.push_back({run.topology + " of " + std::to_string(rank_count), *topology});
            }
        }
    }
    return list;
}

TEST(Topology, EveryPresetIsThereForAtLeastTheSmallNumbers) {
    std::map<std::string, int> count;
    for (const Case& known : cases()) {
        ++count[known.name.substr(0, known.name.find(' '))];
    }
    for (const TopologyPreset* preset : topology_presets()) {
        EXPECT_GE(count[std::string(preset->name)], preset->name == "graph" ? 0 : 7)
            << preset->name;
        EXPECT_FALSE(preset->summary.empty());
    }
}

TEST(Topology, EveryPresetIsWellFormed) {
    for (const auto& [name, topology] : cases()) {
        std::set<std::string> names;
        for (const Node& node : topology.nodes) {
            EXPECT_TRUE(is_node_name(node.name)) << name << ": " << node.name;
            EXPECT_TRUE(names.insert(node.name).second) << name << ": " << node.name;
            EXPECT_EQ(&topology.nodes[static_cast<size_t>(topology.find_node(node.name))], &node);
        }
        std::set<std::pair<int32_t, int32_t>> joined;
        for (const Link& link : topology.links) {
            EXPECT_GT(link.bandwidth_bytes_per_s, 0) << name;
            EXPECT_GE(link.latency_ps, 0) << name;
            EXPECT_TRUE(joined.emplace(link.source_node, link.target_node).second) << name;
        }
        for (const auto& [source, target] : joined) {
            EXPECT_TRUE(joined.contains({target, source})) << name << ": one way only";
            const int32_t link = topology.find_link(source, target);
            ASSERT_GE(link, 0) << name;
            EXPECT_EQ(topology.links[static_cast<size_t>(link)].target_node, target);
        }
        EXPECT_LE(std::ssize(topology.nodes), graph_node_count_max) << name;
        EXPECT_LE(std::ssize(topology.links), graph_link_count_max) << name;
    }
}

TEST(Topology, EveryRankReachesEveryOtherAndNoRouteGoesThroughAGpu) {
    for (const auto& [name, topology] : cases()) {
        Router router(topology);
        for (const int32_t source : topology.rank_nodes) {
            for (const int32_t target : topology.rank_nodes) {
                const std::vector<int32_t> route = router.route(source, target, 0);
                int32_t node = source;
                int64_t sum_ps = 0;
                for (const int32_t index : route) {
                    const Link& link = topology.links[static_cast<size_t>(index)];
                    EXPECT_EQ(link.source_node, node) << name;
                    EXPECT_TRUE(node == source ||
                                topology.nodes[static_cast<size_t>(node)].kind != NodeKind::gpu)
                        << name;
                    node = link.target_node;
                    sum_ps += link.latency_ps;
                }
                ASSERT_EQ(node, target) << name;
                EXPECT_EQ(sum_ps == 0, source == target) << name << ": a message takes time";
            }
        }
    }
}

TEST(Topology, RoutesDependOnNothingButTheirEnds) {
    for (const auto& [name, topology] : cases()) {
        Router router(topology);
        Dice dice(5);
        const auto count = std::ssize(topology.rank_nodes);
        for (int i = 0; i < 50; ++i) {
            const auto source = static_cast<int32_t>(dice.below(count));
            const auto target = static_cast<int32_t>(dice.below(count));
            const auto channel = static_cast<int32_t>(dice.below(4));
            EXPECT_EQ(router.route(topology.rank_nodes[static_cast<size_t>(source)],
                                   topology.rank_nodes[static_cast<size_t>(target)],
                                   channel),
                      route_of(topology, source, target, channel))
                << name;
        }
    }
}

TEST(Topology, TooManyRanksAreRefusedWithTheRange) {
    EXPECT_EQ(error_of("ranks=9&topology=dgx1_v100"),
              "ranks=9: must be 1 to 8 for topology=dgx1_v100");
    EXPECT_EQ(error_of("ranks=257&topology=full_mesh"),
              "ranks=257: must be 1 to 256 for topology=full_mesh");
    for (const std::string name : {"rail_infiniband", "one_nic", "efa"}) {
        for (const std::string ranks : {"9", "12", "2056"}) {
            EXPECT_EQ(error_of("ranks=" + ranks + "&topology=" + name),
                      "ranks=" + ranks + ": must be 1 to 8, or a multiple of 8 up to 2048, for " +
                          "topology=" + name);
        }
    }
    EXPECT_EQ(error_of("ranks=10&topology=torus_2d&group=3"),
              "group=3: must divide ranks=10 into the rows of topology=torus_2d");
}

TEST(Topology, NvswitchServersStripeOverTheSwitchAndHaveAWayRoundIt) {
    const std::map<std::string, int64_t> rates{{"dgx_a100", 240'000'000'000},
                                               {"hgx_h100", 370'800'000'000},
                                               {"hgx_h200", 370'800'000'000},
                                               {"b200", 721'800'000'000}};
    for (const auto& [name, rate] : rates) {
        const Topology topology = topology_of("topology=" + name);
        EXPECT_EQ(way_between(topology, 0, 7), "gpu0 nvswitch0 gpu7");
        EXPECT_EQ(width(topology, 0, 7), rate) << name;
        EXPECT_EQ(latency_ps(topology, 0, 7), 600'000) << name;
        EXPECT_EQ(topology.host_rank_count, 8);
        EXPECT_EQ(topology.reducing_node,
                  name == "dgx_a100" ? -1 : topology.find_node("nvswitch0"));
        const Topology cut = topology_of("set=link.gpu0-nvswitch0.up:0&topology=" + name);
        EXPECT_EQ(way_between(cut, 7, 0), "gpu7 nvswitch0 gpu0") << "the other direction stays";
        EXPECT_EQ(way_between(cut, 0, 7),
                  name == "dgx_a100" ? "gpu0 pcie0 cpu0 cpu1 pcie3 gpu7"
                                     : "gpu0 pcie0 cpu0 cpu1 pcie7 gpu7");
    }
}

TEST(Topology, TheHybridCubeMeshHasSixLinksPerGpuAndPcieForTheRest) {
    const Topology topology = topology_of("topology=dgx1_v100");
    for (const int32_t gpu : topology.rank_nodes) {
        int64_t rate = 0;
        for (const Link& link : topology.links) {
            rate += link.source_node == gpu && link.kind == LinkKind::nvlink
                        ? link.bandwidth_bytes_per_s
                        : 0;
        }
        EXPECT_EQ(rate, 6 * 20'000'000'000LL);
    }
    EXPECT_EQ(way_between(topology, 0, 3), "gpu0 gpu3");
    EXPECT_EQ(width(topology, 0, 3), 40'000'000'000);
    EXPECT_EQ(latency_ps(topology, 0, 3), 600'000);
    EXPECT_EQ(way_between(topology, 0, 5), "gpu0 pcie0 cpu0 cpu1 pcie2 gpu5");
    EXPECT_EQ(width(topology, 0, 5), 6'000'000'000);
    EXPECT_EQ(latency_ps(topology, 0, 5), 1'050'000);
}

TEST(Topology, PcieBoxesShareTheirUplinks) {
    const Topology one = topology_of("topology=pcie_box");
    EXPECT_EQ(way_between(one, 0, 3), "gpu0 pcie0 gpu3");
    EXPECT_EQ(way_between(one, 0, 4), "gpu0 pcie0 cpu0 pcie1 gpu4");
    EXPECT_EQ(latency_ps(one, 0, 4), 1'000'000);
    const Topology two = topology_of("topology=pcie_box_2socket");
    EXPECT_EQ(way_between(two, 3, 4), "gpu3 pcie1 cpu0 cpu1 pcie2 gpu4");
    EXPECT_EQ(width(two, 3, 4), 10'000'000'000);
}

TEST(Topology, RailsMeetAtTheirLeafAndOthersOverASpine) {
    const Topology topology = topology_of("topology=rail_infiniband&ranks=64");
    EXPECT_EQ(way_between(topology, 3, 11), "gpu3 pcie3 nic3 leaf3 nic11 pcie11 gpu11");
    EXPECT_EQ(latency_ps(topology, 3, 11), 2'700'000);
    EXPECT_EQ(width(topology, 3, 11), 48'000'000'000);
    const std::string cross = way_between(topology, 3, 12);
    EXPECT_TRUE(cross.starts_with("gpu3 pcie3 nic3 leaf3 spine")) << cross;
    EXPECT_TRUE(cross.ends_with(" leaf4 nic12 pcie12 gpu12")) << cross;
    EXPECT_EQ(latency_ps(topology, 3, 12), 3'100'000);
    EXPECT_EQ(width(topology, 3, 12), 48'000'000'000);
    EXPECT_EQ(topology.host_rank_count, 8);
    EXPECT_EQ(topology.reducing_node, -1);
    const Topology large = topology_of("topology=rail_infiniband&ranks=2048");
    EXPECT_GE(large.find_node("leaf63"), 0);
    EXPECT_GE(large.find_node("spine31"), 0);
    EXPECT_LT(large.find_node("leaf64"), 0);
}

TEST(Topology, OtherClustersHaveTheLatencyTheySayTheyHave) {
    const Topology one_nic = topology_of("topology=one_nic&ranks=16");
    EXPECT_EQ(way_between(one_nic, 0, 8), "gpu0 pcie0 cpu0 nic0 switch0 nic1 cpu2 pcie8 gpu8");
    EXPECT_EQ(latency_ps(one_nic, 0, 8), 3'200'000);
    EXPECT_EQ(latency_ps(one_nic, 7, 15), 3'300'000);
    EXPECT_EQ(width(one_nic, 0, 8), 24'000'000'000);
    EXPECT_EQ(width(one_nic, 7, 15), 22'000'000'000) << "between the sockets";
    const Topology efa = topology_of("topology=efa&ranks=16");
    EXPECT_EQ(way_between(efa, 0, 9), "gpu0 pcie0 nic0 network0 nic9 pcie9 gpu9");
    EXPECT_EQ(latency_ps(efa, 0, 9), 20'000'000);
    EXPECT_EQ(width(efa, 0, 9), 48'000'000'000);
}

TEST(Topology, WhereTheRatesAreTheRunsTheyFollowItsKnobs) {
    const std::string rates = "&ranks=16&bandwidth=12GB/s&latency=3us&topology=";
    for (const std::string name : {"uniform", "full_mesh", "single_switch", "ethernet"}) {
        const Topology topology = topology_of(rates + name);
        EXPECT_EQ(width(topology, 2, 13), 12'000'000'000) << name;
        EXPECT_EQ(latency_ps(topology, 2, 13), 3'000'000) << name;
    }
    for (const std::string name : {"leaf_spine", "fat_tree", "torus_2d", "torus_3d"}) {
        const Topology topology = topology_of(rates + name);
        EXPECT_EQ(width(topology, 0, 1), 12'000'000'000) << name;
        EXPECT_EQ(latency_ps(topology, 0, 1), 3'000'000) << name;
    }
    const Topology fewer = topology_of(rates + "leaf_spine&oversubscription=4");
    EXPECT_GE(fewer.find_node("spine0"), 0);
    EXPECT_LT(fewer.find_node("spine1"), 0) << "a quarter of four";
    EXPECT_EQ(width(fewer, 0, 15), 12'000'000'000);
    Topology topology = topology_of(rates + "leaf_spine&oversubscription=3");
    EXPECT_GE(topology.find_node("spine3"), 0);
    EXPECT_EQ(width(topology, 0, 15), 4'000'000'000);
    EXPECT_EQ(latency_ps(topology, 0, 15), 3'600'000);
    EXPECT_TRUE(topology.apply({.kind = Knob::Kind::bandwidth, .value = 1'000'000'000}));
    EXPECT_TRUE(topology.apply({.kind = Knob::Kind::latency, .value = 7}));
    EXPECT_EQ(width(topology, 0, 1), 1'000'000'000);
    EXPECT_EQ(width(topology, 0, 15), 333'333'333);
    EXPECT_EQ(latency_ps(topology, 0, 1), 7);
    Topology fixed = topology_of("topology=hgx_h100");
    EXPECT_EQ(fixed.apply({.kind = Knob::Kind::bandwidth, .value = 1}).error().message,
              "bandwidth=1 B/s: turns nothing: the links of this topology have their own rates");
}

TEST(Topology, ATorusIsAsNearToASquareAsItsRanksAllow) {
    const std::map<std::string, size_t> hops_to_rank_4{{"ranks=16&topology=torus_2d", 1},
                                                       {"ranks=8&topology=torus_2d", 1},
                                                       {"ranks=12&topology=torus_2d", 1},
                                                       {"ranks=12&topology=torus_2d&group=2", 2},
                                                       {"ranks=7&topology=torus_2d", 3},
                                                       {"ranks=64&topology=torus_3d", 1},
                                                       {"ranks=16&topology=torus_3d", 1}};
    for (const auto& [line, hops] : hops_to_rank_4) {
        const Topology topology = topology_of(line);
        EXPECT_EQ(route_of(topology, 0, 4).size(), hops + 2) << line;
        EXPECT_EQ(topology.host_rank_count, 0);
    }
    const Topology cube = topology_of("ranks=64&topology=torus_3d");
    EXPECT_EQ(way_between(cube, 0, 48), "gpu0 router0 router48 gpu48");
    EXPECT_EQ(way_between(cube, 0, 3), "gpu0 router0 router3 gpu3");
}

TEST(Topology, AFatTreeHasAsMuchRateAtEveryLevel) {
    for (const int32_t rank_count : {16, 54, 128}) {  // k = 4, 6, 8: full trees
        const Topology topology =
            topology_of("topology=fat_tree&ranks=" + std::to_string(rank_count));
        std::map<std::string, int64_t> up;  // by the kind of the lower end
        for (const Link& link : topology.links) {
            const std::string& name = topology.nodes[static_cast<size_t>(link.source_node)].name;
            const std::string& above = topology.nodes[static_cast<size_t>(link.target_node)].name;
            if (name.starts_with("gpu") ||
                (name.starts_with("edge") && above.starts_with("aggregation")) ||
                (name.starts_with("aggregation") && above.starts_with("core"))) {
                ++up[name.substr(0, 3)];
            }
        }
        EXPECT_EQ(up,
                  (std::map<std::string, int64_t>{
                      {"gpu", rank_count}, {"edg", rank_count}, {"agg", rank_count}}))
            << rank_count;
    }
}

TEST(Router, WhenAllSendEquallyFarNobodySharesALinkBetweenSwitches) {
    for (const std::string line : {"topology=leaf_spine&ranks=16",
                                   "topology=leaf_spine&ranks=64",
                                   "topology=fat_tree&ranks=16",
                                   "topology=fat_tree&ranks=54",
                                   "topology=fat_tree&ranks=64",
                                   "topology=fat_tree&ranks=128"}) {
        const Topology topology = topology_of(line);
        const auto rank_count = static_cast<int32_t>(topology.rank_nodes.size());
        Router router(topology);
        for (int32_t distance = 1; distance < rank_count; ++distance) {
            std::vector<int32_t> use(topology.links.size());
            for (int32_t rank = 0; rank < rank_count; ++rank) {
                for (const int32_t link : router.route(rank, (rank + distance) % rank_count, 0)) {
                    ASSERT_EQ(use[static_cast<size_t>(link)]++, 0)
                        << line << ", " << distance << " on: " << topology.link_name(link);
                }
            }
        }
    }
}

TEST(Router, CrossRailTrafficUsesEverySpine) {
    const Topology topology = topology_of("topology=rail_infiniband&ranks=512");  // two units
    Router router(topology);
    std::map<std::string, int> use;
    for (int32_t rank = 0; rank < 256; ++rank) {
        for (const int32_t index :
             router.route(topology.rank_nodes[static_cast<size_t>(rank)],
                          topology.rank_nodes[static_cast<size_t>(rank) + 256],
                          0)) {
            if (topology.link_name(index).starts_with("leaf0-spine")) {
                ++use[topology.link_name(index)];
            }
        }
    }
    EXPECT_EQ(use.size(), 8U);
    for (const auto& [link, count] : use) {
        EXPECT_EQ(count, 32 / 8) << link;
    }
}

TEST(Router, EqualWaysAreSharedOutAmongAllPairs) {
    const Topology topology = topology_of("topology=leaf_spine&ranks=64");
    std::map<std::string, int> by_spine;
    for (int32_t source = 0; source < 8; ++source) {
        for (int32_t target = 8; target < 64; ++target) {
            const std::string text = way_between(topology, source, target);
            const size_t spine = text.find("spine");
            ASSERT_NE(spine, std::string::npos);
            ++by_spine[text.substr(spine, 6)];
        }
    }
    EXPECT_EQ(by_spine.size(), 8U);
    for (const auto& [spine, count] : by_spine) {
        EXPECT_EQ(count, 8 * 56 / 8) << spine;
    }
    std::set<std::string> by_channel;
    for (int32_t channel = 0; channel < 8; ++channel) {
        by_channel.insert(way(topology, route_of(topology, 0, 63, channel)));
    }
    EXPECT_EQ(by_channel.size(), 8U);
}

Topology parsed(const std::string& compact) {
    const auto topology =
        parse_topology("graph", compact, TopologyForm::compact, small_run(2, 1000));
    EXPECT_TRUE(topology) << topology.error().message;
    return topology ? *topology : Topology{};
}

TEST(Router, TakesTheWidestOfTheShortest) {
    const Topology topology = parsed(
        "node,a,gpu;node,b,gpu;node,x,switch;node,y,switch;node,z,switch;node,w,switch;"
        "link,a,x,9GB/s,1us,network;link,x,b,1GB/s,1us,network;"
        "link,a,y,5GB/s,9us,network;link,y,b,6GB/s,1us,network;"
        "link,a,z,2GB/s,1us,network;link,z,b,9GB/s,1us,network;"
        "link,y,w,9GB/s,1us,network;link,w,b,9GB/s,1us,network;"
        "rank,0,a;rank,1,b");
    EXPECT_EQ(way_between(topology, 0, 1), "a y b");
    EXPECT_EQ(way_between(topology, 1, 0), "b y a");
}

TEST(Router, AvoidsLinksThatAreDownUnlessNothingElseLeadsThere) {
    const std::string graph =
        "node,a,gpu;node,b,gpu;node,x,switch;node,y,switch;"
        "link,a,b,9GB/s,1us,nvlink;link,a,x,1GB/s,1us,pcie;link,x,y,1GB/s,1us,pcie;"
        "link,y,b,1GB/s,1us,pcie;rank,0,a;rank,1,b";
    Topology topology = parsed(graph);
    Router before(topology);
    EXPECT_EQ(way(topology, before.route(0, 1, 0)), "a b");
    const auto cut = [&](const std::string& knob) {
        ASSERT_TRUE(topology.apply(*parse_knob(KnobUse::set, knob, 2))) << knob;
    };
    cut("link.0-1.up:0");
    EXPECT_EQ(way_between(topology, 0, 1), "a x y b");
    EXPECT_EQ(way_between(topology, 1, 0), "b a") << "the other direction is another link";
    EXPECT_EQ(way(topology, before.route(1, 0, 0)), "b a");
    EXPECT_EQ(way(topology, before.route(0, 1, 0)), "a b") << "a router knows what was";
    cut("link.x-y.up:0");
    EXPECT_EQ(way_between(topology, 0, 1), "a b") << "both are cut, so the shortest it is";
    EXPECT_TRUE(Router(topology).reaches(0, 1));
}

TEST(Knobs, NameLinksByNodesOrRanksAndSayWhatIsThere) {
    const Topology topology = topology_of(
        "topology=hgx_h100&set=link.gpu0-nvswitch0.bandwidth:1GB/s&"
        "set=link.nvswitch0-gpu0.latency:7us&set=link.0-nvswitch0.up:0&set=link.0-1.latency:9us");
    const Link& up = topology.links[static_cast<size_t>(
        topology.find_link(topology.find_node("gpu0"), topology.find_node("nvswitch0")))];
    const Link& down = topology.links[static_cast<size_t>(
        topology.find_link(topology.find_node("nvswitch0"), topology.find_node("gpu0")))];
    EXPECT_EQ(up.bandwidth_bytes_per_s, 1'000'000'000);
    EXPECT_FALSE(up.up);
    EXPECT_EQ(down.latency_ps, 7'000'000);
    EXPECT_TRUE(down.up);
    EXPECT_EQ(topology.pairs.at({0, 1}).latency_ps, 9'000'000) << "no single link joins them";
    EXPECT_EQ(error_of("topology=hgx_h100&set=link.gpu0-nvlink0.up:0"),
              "link.gpu0-nvlink0.up=no: names nvlink0, a node that this topology does not have; "
              "those that it has are called gpu0, nvswitch0, pcie0, cpu0");
    EXPECT_EQ(error_of("topology=hgx_h100&set=link.pcie0-cpu1.latency:1us"),
              "link.pcie0-cpu1.latency=1 us: names two nodes that no link of this topology joins; "
              "from pcie0 there are links to gpu0, cpu0");
}

TEST(Topology, LargeOnesAreBuiltAndRoutedInNoTime) {
    for (const std::string line : {"topology=rail_infiniband&ranks=1024",
                                   "topology=uniform&ranks=4096",
                                   "topology=fat_tree&ranks=4096",
                                   "topology=torus_3d&ranks=4096"}) {
        const Topology topology = topology_of(line);
        const size_t count = topology.rank_nodes.size();
        Router router(topology);
        size_t link_count = 0;
        for (size_t rank = 0; rank < count; ++rank) {
            link_count +=
                router.route(topology.rank_nodes[rank], topology.rank_nodes[(rank + 1) % count], 0)
                    .size();
        }
        EXPECT_GE(link_count, 2 * count) << line;
    }
    std::string line = "ranks=4096";
    for (int i = 0; i < 1000; ++i) {
        const std::string rank = std::to_string(4 * i);
        line += "&set=link.gpu" + rank + "-network0.latency:1us";
    }
    const Topology topology = topology_of(line);
    EXPECT_EQ(latency_ps(topology, 3996, 0), 1'000'000);
}

}  // namespace
}  // namespace ringscope
