// SPDX-License-Identifier: Apache-2.0
// The command line, as a script sees it: exit status, standard output, standard error.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "shared/simulator.hpp"
#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"
#include "tests/native/program.hpp"

namespace ringscope {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;

TEST(Command, SimulateTellsTheUniformRingAsOneJsonObject) {
    const Finished finished = run_program({"simulate",
                                           "--ranks",
                                           "8",
                                           "--bytes",
                                           "64MiB",
                                           "--bandwidth",
                                           "50GB/s",
                                           "--latency",
                                           "500ns",
                                           "--json"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    const json result = json::parse(finished.output);
    EXPECT_EQ(result["duration_ps"], int64_t{14} * (500'000 + 167'772'160));
    EXPECT_EQ(result["run"], "algorithm=ring&ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns");
    EXPECT_EQ(result["lower_bound_ps"], 2'348'810'240);
    EXPECT_EQ(result["messages"], 112);
    EXPECT_EQ(result["wire_bytes_per_rank"], 117'440'512);
    EXPECT_EQ(result["verified"], true);
    EXPECT_EQ(result["outcome"], "ok");
    EXPECT_EQ(result["clock"], "simulated");
    const auto trace = simulate(*parse_run(result["run"].get<std::string>()));
    EXPECT_EQ(result["trace_hash"], trace_hash(*trace));
    for (const char* name :
         {"algbw_bytes_per_s", "busbw_bytes_per_s", "bottleneck", "cpu_s", "peak_rss_bytes"}) {
        EXPECT_TRUE(result.contains(name)) << name;
    }
    EXPECT_GT(result["peak_rss_bytes"], 0);
}

TEST(Command, SimulateOfManyRanksKeepsNoEvents) {
    const Finished finished =
        run_program({"simulate", "--ranks", "512", "--bytes", "1MiB", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const json result = json::parse(finished.output);
    EXPECT_EQ(result["messages"], 523'264);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they use far more
    // All events at once would not fit in this.
    EXPECT_LT(result["peak_rss_bytes"], 523'264 * sizeof(Event));
#endif
}

TEST(Command, FlagsAndRunLineAreOneVocabulary) {
    const std::vector<std::string> flags{"simulate",
                                         "--ranks",
                                         "4",
                                         "--bytes",
                                         "1MiB",
                                         "--set",
                                         "link.0-1.latency:2us",
                                         "--set",
                                         "rank.2.start:1us",
                                         "--change",
                                         "10us:bandwidth:5GB/s",
                                         "--json"};
    const std::string line =
        "ranks=4&bytes=1MiB&set=link.0-1.latency:2us&set=rank.2.start:1us&change=10us:bandwidth:"
        "5GB/s";
    const json by_flags = json::parse(run_program(flags).output);
    const json by_line = json::parse(run_program({"simulate", "--run", line, "--json"}).output);
    const json by_both =
        json::parse(run_program({"simulate", "--run", line, "--seed", "1", "--json"}).output);
    EXPECT_EQ(by_flags["trace_hash"], by_line["trace_hash"]);
    EXPECT_EQ(by_flags["trace_hash"], by_both["trace_hash"]);
}

TEST(Command, TraceOnStandardOutputIsTheTraceAndNothingElse) {
    const Finished finished =
        run_program({"simulate", "--ranks", "4", "--bytes", "1MiB", "--trace", "-"});
    EXPECT_EQ(finished.status, 0);
    const auto trace = decode(finished.output);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->events.size(), 24U);
    EXPECT_NE(finished.errors.find("duration"), std::string::npos) << "the table goes elsewhere";
}

TEST(Command, RunMeasuresAndVerifies) {
    const std::string path =
        ::testing::TempDir() + "ringscope-run-" + std::to_string(getpid()) + ".tsv";
    const Finished finished = run_program({"run",
                                           "--engine",
                                           "threads",
                                           "--ranks",
                                           "4",
                                           "--bytes",
                                           "16MiB",
                                           "--iterations",
                                           "3",
                                           "--json",
                                           "--trace",
                                           path});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const json result = json::parse(finished.output);
    EXPECT_EQ(result["verified"], true);
    EXPECT_EQ(result["engine"], "threads");
    EXPECT_EQ(result["clock"], "measured");
    EXPECT_EQ(result["iterations"], 3);
    EXPECT_EQ(result["messages"], 24);
    EXPECT_TRUE(result["lower_bound_ps"].is_null());
    EXPECT_GT(result["median_ps"], 0);
    EXPECT_LE(result["min_ps"], result["median_ps"]);
    EXPECT_GT(result["peak_rss_bytes"], 4 << 24) << "the worker's, which holds the buffers";
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    std::filesystem::remove(path);
    const auto trace = decode(text.str());
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->events.size(), 72U);
    EXPECT_EQ(result["trace_hash"], trace_hash(*trace));
}

TEST(Command, RunWithoutAnEngineTakesTheOneThatIsAlwaysThere) {
    const Finished finished = run_program({"run", "--ranks", "2", "--bytes", "4KiB", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(json::parse(finished.output)["engine"], "threads");
}

TEST(Command, ARunThatIsNotDoneInTimeIsATimeout) {
    const Finished finished = run_program({"run",
                                           "--ranks",
                                           "16",
                                           "--bytes",
                                           "16MiB",
                                           "--iterations",
                                           "1000",
                                           "--deadline",
                                           "300ms",
                                           "--json"});
    EXPECT_EQ(finished.status, 1);
    const json result = json::parse(finished.output);
    EXPECT_EQ(result["outcome"], "timeout");
    EXPECT_EQ(result["verified"], false);
}

struct Refusal {
    std::vector<std::string> arguments;
    int status = 0;
    std::string error;  // is part of standard error
};

// Whether the process catches Ctrl-C yet.
bool catches_interrupts(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigCgt:")) {
            return (std::stoull(line.substr(7), nullptr, 16) & (1ULL << (SIGINT - 1))) != 0;
        }
    }
    return false;
}

TEST(Command, AnInterruptedSimulationIsCancelledAndNoMistake) {
    auto running = std::async(std::launch::async, [] {
        return run_program({"simulate", "--ranks", "4096", "--bytes", "1GiB", "--json"});
    });
    pid_t pid = 0;
    ASSERT_TRUE(testing::eventually([&pid] {
        const auto children = testing::children_of(getpid());
        pid = children.empty() ? 0 : children.front();
        return pid > 0 && catches_interrupts(pid);
    }));
    EXPECT_EQ(kill(pid, SIGINT), 0);
    const Finished finished = running.get();
    EXPECT_EQ(finished.status, 1) << finished.errors;
    const json result = json::parse(finished.output);
    EXPECT_EQ(result["outcome"], "failed");
    EXPECT_EQ(result["reason"], "cancelled");
}

TEST(Command, RefusesBadInputWithTheRightStatus) {
    const std::vector<Refusal> refusals{
        {{}, 2, "ringscope: "},
        {{"juggle"}, 2, "ringscope: "},
        {{"simulate", "--rank", "8"}, 2, "ringscope: "},
        {{"simulate", "--ranks", "0"},
         2,
         "ringscope: ranks=0: must be a whole number from 1 to 4096"},
        {{"simulate", "--ranks", "8", "--run", "ranks=8"}, 2, "ranks=8: must be given only once"},
        {{"simulate", "--ranks", "8&seed=2"}, 2, "ringscope: ranks=8&seed=2: must not contain &"},
        {{"simulate", "--engine", "threads"}, 2, "ringscope: engine=threads: "},
        {{"simulate", "--trace", "/nowhere/trace.tsv"},
         2,
         "ringscope: /nowhere/trace.tsv: cannot be written: "},
        {{"simulate", "--trace", "-", "--json"}, 2, "ringscope: trace=-: "},
        {{"run", "--engine", "simulator"}, 2, "ringscope: engine=simulator: measures nothing"},
        {{"run", "--engine", "abacus"}, 2, "ringscope: engine=abacus: must be one of"},
        {{"run", "--ranks", "257"}, 2, "ringscope: ranks=257: must be 1 to 256 for engine=threads"},
        {{"run", "--deadline", "soon"}, 2, "ringscope: deadline=soon: "},
        {{"run", "--engine", "cuda"}, 3, "ringscope: engine=cuda: not part of this version"},
        {{"run", "--engine", "mpi"}, 3, "ringscope: engine=mpi: not part of this version"},
        {{"list", "colours"},
         2,
         "ringscope: list=colours: must be one of engines algorithms topologies"},
        {{"serve", "--port", "70000"}, 2, "ringscope: "},
        {{"serve", "--port", "0", "--page", "/nowhere"}, 2, "ringscope: page=/nowhere: "},
    };
    for (const Refusal& refusal : refusals) {
        const Finished finished = run_program(refusal.arguments);
        EXPECT_EQ(finished.status, refusal.status) << finished.errors;
        EXPECT_NE(finished.errors.find(refusal.error), std::string::npos) << finished.errors;
        const bool as_json =
            std::find(refusal.arguments.begin(), refusal.arguments.end(), "--json") !=
            refusal.arguments.end();
        EXPECT_EQ(finished.output.empty(), !as_json) << finished.output;
    }
}

TEST(Command, WithJsonARefusalIsJsonToo) {
    const Finished finished = run_program({"simulate", "--ranks", "0", "--json"});
    EXPECT_EQ(finished.status, 2);
    const json error = json::parse(finished.output);
    EXPECT_EQ(error["field"], "ranks");
    EXPECT_EQ(error["value"], "0");
    EXPECT_EQ(error["allowed"], "must be a whole number from 1 to 4096");
    EXPECT_TRUE(
        json::parse(run_program({"simulate", "--rank", "0", "--json"}).output).contains("title"));
}

TEST(Command, ListsAreJsonArrays) {
    const json engines = json::parse(run_program({"list", "engines", "--json"}).output);
    ASSERT_EQ(engines.size(), 5U);
    EXPECT_EQ(engines[0]["name"], "simulator");
    EXPECT_EQ(engines[1]["name"], "threads");
    EXPECT_TRUE(engines[1]["missing"].is_null());
    EXPECT_EQ(engines[1]["rank_count_max"], 256);
    EXPECT_EQ(engines[2]["missing"], "not part of this version");
    for (const char* what : {"algorithms", "topologies"}) {
        const json items = json::parse(run_program({"list", what, "--json"}).output);
        ASSERT_FALSE(items.empty());
        for (const json& item : items) {
            EXPECT_FALSE(item["name"].get<std::string>().empty());
            EXPECT_FALSE(item["summary"].get<std::string>().empty());
        }
    }
    const json topologies = json::parse(run_program({"list", "topologies", "--json"}).output);
    EXPECT_EQ(topologies[0]["name"], "uniform");
    EXPECT_EQ(topologies[0]["source"], "") << "the rates are the run's own";
    for (const json& item : topologies) {
        if (item["name"] == "hgx_h100") {
            EXPECT_NE(item["source"].get<std::string>().find("NCCL"), std::string::npos);
        }
    }
}

// Removed with the test.
class TextFile {
  public:
    explicit TextFile(const std::string& text) {
        static int count = 0;
        path_ = ::testing::TempDir() + "ringscope-" + std::to_string(getpid()) + "-" +
                std::to_string(++count) + ".topology";
        std::ofstream(path_) << text;
    }
    ~TextFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

TEST(Command, ATopologyFromAFileIsThePresetThatItWasPrintedFrom) {
    const Finished printed = run_program({"topology",
                                          "--topology",
                                          "dgx1_v100",
                                          "--ranks",
                                          "4",
                                          "--set",
                                          "link.0-3.bandwidth:1GB/s"});
    EXPECT_EQ(printed.status, 0) << printed.errors;
    EXPECT_TRUE(printed.output.starts_with("ringscope-topology 1\nnode gpu0 gpu host=0\n"));
    EXPECT_NE(printed.output.find("link gpu0 gpu3 40GB/s 600ns nvlink\n"), std::string::npos);
    const TextFile file("# mine\n" + printed.output);
    const Finished finished =
        run_program({"simulate", "--bytes", "1MiB", "--topology-file", file.path(), "--json"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const json result = json::parse(finished.output);
    const std::string run = result["run"];
    EXPECT_NE(run.find("ranks=4&"), std::string::npos) << "the file's number: " << run;
    EXPECT_NE(run.find("topology=graph&graph=node,gpu0,gpu,host=0;"), std::string::npos) << run;
    const json preset = json::parse(
        run_program(
            {"simulate", "--bytes", "1MiB", "--ranks", "4", "--topology", "dgx1_v100", "--json"})
            .output);
    EXPECT_EQ(result["duration_ps"], preset["duration_ps"]);
    const Finished again = run_program({"topology", "--run", run});
    EXPECT_EQ(again.output, printed.output);
}

TEST(Command, AWrongTopologyFileIsRefusedWithItsLine) {
    const TextFile good(
        "ringscope-topology 1\nnode a gpu\nnode b gpu\nlink a b 1GB/s 1us nvlink\n"
        "rank 0 a\nrank 1 b\n");
    const Finished ranks =
        run_program({"simulate", "--ranks", "3", "--topology-file", good.path()});
    EXPECT_EQ(ranks.status, 2);
    EXPECT_EQ(ranks.errors, "ringscope: ranks=3: must be 2, the number of ranks in the graph\n");
    const Finished twice =
        run_program({"simulate", "--topology", "uniform", "--topology-file", good.path()});
    EXPECT_EQ(twice.errors, "ringscope: topology=graph: must be given only once\n");
    const Finished missing = run_program({"simulate", "--topology-file", "/nowhere"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_EQ(missing.errors, "ringscope: topology-file=/nowhere: cannot be read\n");
    EXPECT_EQ(run_program({"simulate", "--topology-file", "/"}).status, 2);
    const TextFile wrong("ringscope-topology 1\nnode a gup\n");
    const Finished word = run_program({"simulate", "--topology-file", wrong.path()});
    EXPECT_EQ(word.status, 2);
    EXPECT_EQ(word.errors,
              "ringscope: topology-file=gup: line 2, word 3: must be one of gpu nvswitch pcie cpu "
              "nic switch network\n");
    const Finished printed =
        run_program({"topology", "--topology", "rail_infiniband", "--ranks", "1024"});
    const TextFile large(printed.output);
    const Finished length = run_program({"simulate", "--topology-file", large.path()});
    EXPECT_EQ(length.status, 2);
    EXPECT_NE(length.errors.find("at most 65536 are allowed"), std::string::npos) << length.errors;
}

TEST(Command, AlgorithmsAreListedWithWhatTheyCost) {
    const json ring = json::parse(run_program({"list", "algorithms", "--json"}).output)[0];
    EXPECT_EQ(ring["name"], "ring");
    EXPECT_EQ(ring["collective"], "all-reduce");
    EXPECT_EQ(ring["steps"], "2(N-1)");
    EXPECT_EQ(ring["bytes_per_rank"], "2(N-1)/N S");
    EXPECT_EQ(ring["source"], "Patarasuk and Yuan 2009, section 4");
    EXPECT_EQ(ring["wins"].get<std::string>().substr(0, 5), "when ");
    EXPECT_EQ(ring.size(), 7U);
    const std::string table = run_program({"list", "algorithms"}).output;
    std::istringstream lines(table);
    std::string heads;
    std::string first;
    std::getline(lines, heads);
    std::getline(lines, first);
    for (const auto& [head, cell] : std::vector<std::pair<std::string, std::string>>{
             {"name", "ring"},
             {"collective", "all-reduce"},
             {"steps", "2(N-1)"},
             {"bytes per rank", "2(N-1)/N S"},
         }) {
        EXPECT_EQ(first.substr(heads.find(head), cell.size()), cell) << table;
    }
}

TEST(Command, HelpAndVersionEndWell) {
    const Finished help = run_program({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.output.find("simulate"), std::string::npos);
    EXPECT_EQ(help.output.find("worker"), std::string::npos) << "no business of a person's";
    const Finished version = run_program({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_TRUE(version.output.starts_with("ringscope ")) << version.output;
}

}  // namespace
}  // namespace ringscope
