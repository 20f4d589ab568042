// SPDX-License-Identifier: Apache-2.0
#include "shared/topology_text.hpp"

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

constexpr const char* two_gpus =
    "ringscope-topology 1\n"
    "# a comment, and an empty line\n"
    "\n"
    "node gpu0 gpu host=0   # another\r\n"
    "node\tgpu1 gpu host=0\n"
    "node nvswitch0 nvswitch reduces\n"
    "link gpu0 nvswitch0 240GB/s 700ns nvlink\n"
    "link gpu1 nvswitch0 bandwidth/4 latency nvlink one-way\n"
    "link nvswitch0 gpu1 bandwidth 1us network one-way down\n"
    "rank 1 gpu1\n"
    "rank 0 gpu0";

Result<Topology> read_file(std::string_view text, const RunSpec& run = {}) {
    return parse_topology("graph", text, TopologyForm::file, run);
}

TEST(TopologyText, SaysWhatAGraphIs) {
    const auto topology = read_file(two_gpus, run_of("bandwidth=10GB/s&latency=3us"));
    ASSERT_TRUE(topology) << topology.error().message;
    EXPECT_EQ(topology->nodes[1], (Node{NodeKind::gpu, "gpu1", 0}));
    EXPECT_EQ(topology->nodes[2], (Node{NodeKind::nvswitch, "nvswitch0", -1}));
    EXPECT_EQ(topology->reducing_node, 2);
    EXPECT_EQ(topology->rank_nodes, (std::vector<int32_t>{0, 1}));
    EXPECT_EQ(topology->host_rank_count, 2);
    ASSERT_EQ(topology->links.size(), 4U);
    EXPECT_EQ(topology->links[1],
              (Link{.source_node = 2,
                    .target_node = 0,
                    .kind = LinkKind::nvlink,
                    .bandwidth_bytes_per_s = 240'000'000'000,
                    .latency_ps = 700'000}));
    EXPECT_EQ(topology->links[2],
              (Link{.source_node = 1,
                    .target_node = 2,
                    .kind = LinkKind::nvlink,
                    .bandwidth_bytes_per_s = 2'500'000'000,
                    .latency_ps = 3'000'000,
                    .follows_bandwidth = true,
                    .follows_latency = true,
                    .bandwidth_divisor = 4}));
    EXPECT_FALSE(topology->links[3].up);
    EXPECT_EQ(print_topology(*topology, TopologyForm::compact),
              "node,gpu0,gpu,host=0;node,gpu1,gpu,host=0;node,nvswitch0,nvswitch,reduces;"
              "link,gpu0,nvswitch0,240GB/s,700ns,nvlink;"
              "link,gpu1,nvswitch0,bandwidth/4,latency,nvlink,one-way;"
              "link,nvswitch0,gpu1,bandwidth,1us,network,one-way,down;rank,0,gpu0;rank,1,gpu1");
}

TEST(TopologyText, EveryPresetSurvivesPrintingAndReading) {
    for (const TopologyPreset* preset : topology_presets()) {
        for (const int32_t rank_count : {1, 2, 5, 8, 24, 64, 512}) {
            RunSpec run = small_run(rank_count, 1000);
            run.topology = std::string(preset->name);
            run.oversubscription = 3;
            run.bandwidth_bytes_per_s = 12'345'678'901;
            const auto topology = build_topology(run);
            if (!topology) {
                continue;
            }
            for (const TopologyForm form : {TopologyForm::file, TopologyForm::compact}) {
                if (rank_count == 512 && form == TopologyForm::compact) {
                    continue;  // the same, only longer
                }
                const std::string text = print_topology(*topology, form);
                const auto again = parse_topology("graph", text, form, run);
                ASSERT_TRUE(again) << preset->name << rank_count << again.error().message;
                EXPECT_EQ(*again, *topology) << preset->name << " " << rank_count;
                EXPECT_EQ(print_topology(*again, form), text);
            }
        }
    }
}

TEST(TopologyText, AGraphInARunLineIsThePresetItWasPrintedFrom) {
    for (const std::string name : {"dgx1_v100", "hgx_h100", "leaf_spine", "torus_2d"}) {
        const auto preset = build_topology(run_of("topology=" + name));
        const std::string line =
            "topology=graph&graph=" + print_topology(*preset, TopologyForm::compact);
        const RunSpec run = run_of(line);
        EXPECT_EQ(run_of(print_run(run)), run);
        EXPECT_LT(line.size(), size_t{5000}) << name;
        const auto graph = build_topology(run);
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(*graph, *preset);
    }
    const auto none = build_topology(run_of("topology=graph"));
    EXPECT_NE(none.error().message.find("--topology-file FILE"), std::string::npos);
    const auto other = build_topology(
        run_of("ranks=3&topology=graph&graph=node,a,gpu;node,b,gpu;link,a,b,1GB/s,1us,nvlink;"
               "rank,0,a;rank,1,b"));
    EXPECT_EQ(other.error().message, "ranks=3: must be 2, the number of ranks in the graph");
}

struct Wrong {
    std::string text;
    std::string message;
};

TEST(TopologyText, AMistakeIsToldWithLineWordAndWhatIsAllowed) {
    const std::string head = "ringscope-topology 1\nnode a gpu\nnode b gpu\nnode x switch\n";
    const std::string kinds = "must be one of gpu nvswitch pcie cpu nic switch network";
    const Wrong wrongs[] = {
        {"", "graph=: must begin with the line \"ringscope-topology 1\""},
        {"\n\nringscope-topology 2",
         "graph=ringscope-topology: line 3, word 1: must be the line \"ringscope-topology 1\""},
        {head, "graph=: must name the node of each rank: rank 0 NODE, rank 1 NODE"},
        {head + "edge a b", "graph=edge: line 5, word 1: must be node, link or rank"},
        {head + "node c", "graph=c: line 5, at its end: must go on: node NAME KIND"},
        {head + "node 3 gpu",
         "graph=3: line 5, word 2: must be a name of lower-case letters, digits and _, a letter "
         "first, at most 24"},
        {head + "node a cpu", "graph=a: line 5, word 2: is the name of another node already"},
        {head + "node c tpu", "graph=tpu: line 5, word 3: " + kinds},
        {head + "node c gpu host=x",
         "graph=host=x: line 5, word 4: must be host=0 to host=65535, or reduces"},
        {head + "node c gpu reduces\nnode d gpu reduces",
         "graph=reduces: line 6, word 4: must be said of one node only, once"},
        {head + "link a",
         "graph=a: line 5, at its end: must go on: link FROM TO RATE LATENCY KIND"},
        {head + "link a c 1GB/s 1us pcie",
         "graph=c: line 5, word 3: must be the name of a node in a line before this one"},
        {head + "link a a 1GB/s 1us pcie",
         "graph=a: line 5, word 3: must be another node than the one before"},
        {head + "link a x fast 1us pcie",
         "graph=fast: line 5, word 4: must be a rate from 1B/s to 1000TB/s, such as 50GB/s or "
         "400Gb/s, or bandwidth, the run's own, or a part of it such as bandwidth/4"},
        {head + "link a x 0 1us pcie",
         "graph=0: line 5, word 4: must be a rate from 1B/s to 1000TB/s, such as 50GB/s or "
         "400Gb/s, or bandwidth, the run's own, or a part of it such as bandwidth/4"},
        {head + "link a x 1GB/s soon pcie",
         "graph=soon: line 5, word 5: must be a time from 0s to 1000s, such as 500ns or 1.5us, or "
         "latency, the run's own"},
        {head + "link a x 1GB/s 1us rope",
         "graph=rope: line 5, word 6: must be one of ideal nvlink pcie socket network"},
        {head + "link a x 1GB/s 1us pcie twice",
         "graph=twice: line 5, word 7: must be one-way or down"},
        {head + "link a x 1GB/s 1us pcie\nlink x a 1GB/s 1us pcie",
         "graph=a: line 6, word 3: has a link from x to a already; add their rates up in one"},
        {head + "rank 4096 a", "graph=4096: line 5, word 2: must be a whole number from 0 to 4095"},
        {head + "rank 0 a\nrank 0 b", "graph=0: line 6, word 2: is a rank that has a node already"},
        {head + "rank 0 a\nrank 1 a", "graph=a: line 6, word 3: is another rank's node already"},
        {head + "rank 0 a b", "graph=b: line 5, word 4: must not follow: rank NUMBER NODE"},
        {head + "rank 1 a", "graph=rank 0: is missing; the ranks must be 0 to n-1, each once"},
        {head + "link a x 1GB/s 1us pcie\nlink b x 1GB/s 1us pcie one-way\nrank 0 a\nrank 1 b",
         "graph=a to b: is no way there is: every rank must reach every other, and GPUs pass "
         "nothing on; join them by a switch, a cpu or a network"},
        {head + "node c gpu\nlink a b 1GB/s 1us nvlink\nlink b c 1GB/s 1us nvlink\nrank 0 a\n"
                "rank 1 b\nrank 2 c",
         "graph=a to c: is no way there is: every rank must reach every other, and GPUs pass "
         "nothing on; join them by a switch, a cpu or a network"},
    };
    for (const auto& [text, message] : wrongs) {
        const auto topology = read_file(text);
        ASSERT_FALSE(topology) << text;
        EXPECT_EQ(topology.error().message, message);
        EXPECT_EQ(topology.error().field, "graph");
    }
}

TEST(TopologyText, TheSameMistakesAreFoundInTheCompactForm) {
    const auto topology =
        parse_topology("graph", "node,a,gpu;;node,b,gup", TopologyForm::compact, RunSpec{});
    EXPECT_EQ(topology.error().message,
              "graph=gup: line 3, word 3: must be one of gpu nvswitch pcie cpu nic switch network");
}

TEST(TopologyText, TooMuchIsRefused) {
    std::string nodes = "ringscope-topology 1\n";
    for (int i = 0; i <= graph_node_count_max; ++i) {
        nodes += "node n" + std::to_string(i) + " switch\n";
    }
    EXPECT_EQ(read_file(nodes).error().message,
              "graph=n8192: line 8194, word 2: is one too many: at most 8192 nodes");
    std::string links = "ringscope-topology 1\n";
    for (int i = 0; i < 300; ++i) {
        links += "node n" + std::to_string(i) + " switch\n";
    }
    for (int i = 0; i < 300; ++i) {
        for (int j = 0; j < i; ++j) {
            links += "link n" + std::to_string(i) + " n" + std::to_string(j) + " 1GB/s 0s ideal\n";
        }
    }
    EXPECT_NE(read_file(links).error().message.find("at most 65536 links"), std::string::npos);
    EXPECT_EQ(read_file(std::string(graph_text_bytes_max + 1, 'x')).error().message,
              "graph=4194305 characters: must have at most 4194304");
}

// Nothing that is written crashes it, and what it takes it can print.
TEST(TopologyText, MutatedTextsAreReadOrRefused) {
    const std::string words[] = {
        "node",    "link", "rank",       "gpu0", "gpu", "reduces",
        "host=",   "-1",   "bandwidth/", "0",    "1",   "99999999999999999999",
        "one-way", "\n",   " ",          "#",    ";",   ",",
        "latency", "\xff", "down"};
    const std::string file = two_gpus;
    const auto small = read_file(file);
    const std::string compact = print_topology(*small, TopologyForm::compact);
    Dice dice(11);
    int taken = 0;
    for (int i = 0; i < 5'000; ++i) {
        const TopologyForm form = i % 2 == 0 ? TopologyForm::file : TopologyForm::compact;
        std::string text = i % 2 == 0 ? file : compact;
        for (int64_t edits = 1 + dice.below(4); edits > 0; --edits) {
            const auto place = static_cast<size_t>(dice.below(std::ssize(text)));
            const auto length = static_cast<size_t>(dice.below(8));
            const std::string& word = words[dice.below(std::ssize(words))];
            if (dice.below(3) == 0) {
                text[place] = static_cast<char>(dice.below(256));
            } else {
                text.replace(place, length, dice.below(2) == 0 ? word : "");
            }
        }
        const auto topology = parse_topology("graph", text, form, RunSpec{});
        if (!topology) {
            EXPECT_FALSE(topology.error().message.empty());
            EXPECT_LT(topology.error().message.size(), size_t{400});
            continue;
        }
        ++taken;
        const auto again =
            parse_topology("graph", print_topology(*topology, form), form, RunSpec{});
        ASSERT_TRUE(again) << text;
        EXPECT_EQ(*again, *topology) << text;
    }
    EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace ringscope
