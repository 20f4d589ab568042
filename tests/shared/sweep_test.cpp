// SPDX-License-Identifier: Apache-2.0
// Sweeps, and what every key of the run line does to a run.
#include "shared/sweep.hpp"

#include <set>

#include "shared/idle_keys.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

TEST(Sweep, EveryCombinationIsSimulatedOnceTheLastAxisFastest) {
    auto sweep = Sweep::create("latency=1us", {"ranks=2,4", "bytes=1MiB..4MiB"});
    ASSERT_TRUE(sweep) << sweep.error().message;
    ASSERT_EQ(sweep->size(), 6);
    std::vector<std::string> values;
    while (!sweep->done()) {
        const SweepRow row = sweep->step();
        values.push_back(row.values[0] + " " + row.values[1]);
        EXPECT_EQ(row.outcome, Outcome{});
        EXPECT_EQ(row.duration_ps, end_ps(trace_of(run_of(row.run_line))));
    }
    EXPECT_EQ(
        values,
        (std::vector<std::string>{"2 1MiB", "2 2MiB", "2 4MiB", "4 1MiB", "4 2MiB", "4 4MiB"}));
}

// A point that cannot be is a row that says so; the others go on.
TEST(Sweep, APointThatCannotBeSaysWhy) {
    auto sweep = Sweep::create("", {"ranks=4,0,2"});
    std::vector<OutcomeKind> kinds;
    while (!sweep->done()) {
        kinds.push_back(sweep->step().outcome.kind);
    }
    EXPECT_EQ(kinds,
              (std::vector<OutcomeKind>{OutcomeKind::ok, OutcomeKind::failed, OutcomeKind::ok}));
}

TEST(Sweep, ABadAxisIsRefused) {
    EXPECT_FALSE(Sweep::create("", {"colour=red"}));
    EXPECT_FALSE(Sweep::create("", {"ranks"}));
    EXPECT_FALSE(Sweep::create("", {"ranks="}));
    EXPECT_FALSE(Sweep::create("", {"ranks=8..2"}));
    EXPECT_FALSE(Sweep::create("", {"ranks=2", "ranks=4"}));
    EXPECT_FALSE(Sweep::create("", {"algorithm=a..b"}));
    EXPECT_FALSE(Sweep::create("", {"bytes=1..1TiB", "latency=1ps..1000s", "ranks=1..4096"}));
}

// Each key, another value for it, and a run in which that has to show.
struct KeyCase {
    std::string key;
    std::string value;
    std::string run;
};

std::vector<KeyCase> key_cases() {
    return {{"algorithm", "direct", "ranks=4&bytes=1MiB"},
            {"ranks", "5", "ranks=4&bytes=1MiB"},
            {"bytes", "2MiB", "ranks=4&bytes=1MiB"},
            {"channels", "2", "ranks=4&bytes=1MiB"},
            {"chunks", "3", "ranks=4&bytes=1MiB"},
            {"segment", "64KiB", "ranks=4&bytes=1MiB"},
            {"group", "2", "ranks=8&bytes=1MiB&algorithm=two_level&group=4"},
            {"ring", "0-2-1-3", "ranks=4&bytes=1MiB"},
            {"topology", "full_mesh", "ranks=4&bytes=1MiB&algorithm=direct"},
            {"oversubscription", "4", "ranks=16&bytes=1MiB&topology=leaf_spine&algorithm=direct"},
            {"bandwidth", "25GB/s", "ranks=4&bytes=1MiB"},
            {"latency", "2us", "ranks=4&bytes=1MiB"},
            {"forwarding", "store-and-forward", "ranks=4&bytes=1MiB&topology=single_switch"},
            {"cost", "nccl", "ranks=8&bytes=1MiB&topology=dgx_a100"},
            {"protocol", "simple", "ranks=8&bytes=1MiB&topology=dgx_a100&cost=nccl&protocol=ll"},
            {"fit", "9us+10GB/s", "ranks=4&bytes=1MiB&cost=fitted&fit=5us+10GB/s"},
            {"reduce", "10GB/s", "ranks=4&bytes=1MiB"},
            {"launch", "3us", "ranks=4&bytes=1MiB"},
            {"slots", "1", "ranks=4&bytes=1MiB&chunks=8"},
            {"recovery", "shrink", "ranks=4&bytes=1MiB&change=5us:rank.1.alive:0"},
            {"timeout", "3us", "ranks=4&bytes=1MiB&change=5us:rank.1.alive:0&recovery=restart"},
            {"iterations", "2", "ranks=4&bytes=1MiB"}};
}

std::string with(const std::string& line, const std::string& key, const std::string& value) {
    std::string changed;
    for (std::string_view rest = line; !rest.empty();) {
        const size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view part = rest.substr(0, end);
        if (!part.starts_with(key + "=")) {
            changed += std::string(part) + "&";
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return changed + key + "=" + value;
}

// Every key moves the result in a run where it counts.
TEST(Keys, EveryKeyMovesTheResultSomewhere) {
    std::set<std::string> seen{
        // One value only today; the inputs' seed shows in the values, not in the times; the graph
        // and the engine are the subject of other tests; knobs have tests of their own.
        "type",
        "op",
        "seed",
        "graph",
        "engine",
        "set",
        "change"};
    for (const KeyCase& test : key_cases()) {
        SCOPED_TRACE(test.key + " in " + test.run);
        const RunSpec changed = run_of(with(test.run, test.key, test.value));
        EXPECT_EQ(idle_reason(changed, test.key), "");
        const Trace before = trace_of(run_of(test.run));
        const Trace after = trace_of(changed);
        EXPECT_TRUE(before.events != after.events || before.outcome != after.outcome);
        seen.insert(test.key);
    }
    for (const RunKey& key : run_keys()) {
        EXPECT_TRUE(seen.contains(std::string(key.name))) << key.name << " is not tried";
    }
}

// Where a key is said to change nothing, it changes nothing.
TEST(Keys, AnIdleKeyChangesNothing) {
    const std::string bases[] = {"ranks=1&bytes=1MiB",
                                 "ranks=4&bytes=1MiB",
                                 "ranks=4&bytes=64KiB&topology=full_mesh",
                                 "ranks=8&bytes=1MiB&topology=dgx_a100",
                                 "ranks=8&bytes=1MiB&topology=dgx_a100&cost=nccl",
                                 "ranks=4&bytes=1MiB&algorithm=ring_all_gather",
                                 "ranks=4&bytes=1MiB&algorithm=in_switch",
                                 "ranks=16&bytes=1MiB&topology=fat_tree"};
    int64_t idle = 0;
    for (const std::string& base : bases) {
        const Trace before = trace_of(run_of(base));
        for (const KeyCase& test : key_cases()) {
            const auto run = parse_run(with(base, test.key, test.value));
            if (!run || idle_reason(*run, test.key).empty()) {
                continue;
            }
            ++idle;
            const Trace after = trace_of(*run);
            EXPECT_EQ(before.events, after.events) << test.key << " in " << base;
        }
    }
    EXPECT_GT(idle, 20);
}

}  // namespace
}  // namespace ringscope
