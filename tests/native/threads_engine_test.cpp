// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "native/engine.hpp"
#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/buffers.hpp"
#include "shared/replay.hpp"
#include "shared/units.hpp"
#include "tests/native/odd_algorithms.hpp"

namespace ringscope {
namespace {

using testing::direct;
using testing::hasty_switch;
using testing::lay_out;
using testing::merry_go_round;

constexpr std::array every_collective{Collective::all_reduce,
                                      Collective::reduce_scatter,
                                      Collective::all_gather,
                                      Collective::broadcast,
                                      Collective::reduce};

RunSpec threads_run(int32_t rank_count, int64_t element_count, int64_t iterations = 1) {
    RunSpec run;
    run.engine = "threads";
    run.problem.rank_count = rank_count;
    run.problem.element_count = element_count;
    run.iterations = iterations;
    return run;
}

struct Measured {
    std::vector<Event> events;
    Outcome outcome;
};

// The run's trace, as text.
std::string trace_text(const RunSpec& run, const Schedule& schedule, Outcome& outcome) {
    const auto engine = find_engine(run);
    EXPECT_TRUE(engine) << engine.error().message;
    std::string text;
    TraceWriter trace(run, [&](std::string_view piece) { text += piece; });
    const auto result = (*engine)->run(run, schedule, trace);
    EXPECT_TRUE(result) << result.error().message;
    outcome = *result;
    trace.finish(outcome);
    return text;
}

// Through the trace's text, as everybody else sees it.
Measured measure(const RunSpec& run, const Schedule& schedule) {
    Measured measured;
    const std::string text = trace_text(run, schedule, measured.outcome);
    const auto decoded = decode(text);
    EXPECT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->outcome, measured.outcome);
    measured.events = decoded->events;
    return measured;
}

Measured measure(const RunSpec& run) {
    return measure(run, *build_schedule(run));
}

// Of a schedule that no run line can name, and that a decoder therefore does not know.
Measured measure_unnamed(const RunSpec& run, const Schedule& schedule) {
    Measured measured;
    std::istringstream lines(trace_text(run, schedule, measured.outcome));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string action;
        Event event;
        Transfer& transfer = event.transfer;
        if (words >> action >> event.iteration >> transfer.step >> transfer.channel >>
            transfer.source_rank >> transfer.target_rank >> transfer.chunk_begin >>
            transfer.chunk_count >> event.bytes >> event.begin_ps >> event.end_ps) {
            transfer.action = action == "reduce" ? Action::reduce : Action::copy;
            measured.events.push_back(event);
        }
    }
    return measured;
}

using HopKey = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;  // iteration, target, step,
                                                                         // source, chunk

HopKey key_of(int32_t iteration, const Transfer& transfer) {
    return {
        iteration, transfer.target_rank, transfer.step, transfer.source_rank, transfer.chunk_begin};
}

// Holds the events against the hops that a schedule demands: all there, once, in an order that is
// allowed.
class EventChecker {
  public:
    EventChecker(const Schedule& schedule, const std::vector<Event>& events)
        : schedule_(schedule), hops_(derive_hops(schedule).hops) {
        for (const Event& event : events) {
            EXPECT_LE(event.begin_ps, event.end_ps);
            EXPECT_EQ(event.bytes, schedule.bytes(event.transfer));
            EXPECT_TRUE(by_key_.emplace(key_of(event.iteration, event.transfer), event).second)
                << "a hop came twice";
        }
    }

    void expect_complete(int64_t iteration_count) const {
        for (int32_t iteration = 0; iteration < iteration_count; ++iteration) {
            for (int32_t participant = 0; participant < std::ssize(hops_); ++participant) {
                for (int32_t hop = 0; hop < std::ssize(hops_of(participant)); ++hop) {
                    expect_after_its_dependencies(iteration, participant, hop);
                }
            }
        }
        EXPECT_EQ(std::ssize(by_key_), schedule_.message_count() * iteration_count);
    }

  private:
    const std::vector<Hop>& hops_of(int32_t participant) const {
        return hops_[static_cast<size_t>(participant)];
    }

    Event event_of(int32_t iteration, const Hop& hop) const {
        const auto found = by_key_.find(key_of(iteration, hop.transfer));
        EXPECT_NE(found, by_key_.end()) << "a hop is missing";
        return found == by_key_.end() ? Event() : found->second;
    }

    // An event has the begin of a fetch and the end of its take_in. So of a fetch we know the
    // begin only, and of a take_in the end only.
    int64_t not_over_before_ps(int32_t iteration, const Hop& hop) const {
        const Event event = event_of(iteration, hop);
        return hop.kind == HopKind::fetch ? event.begin_ps : event.end_ps;
    }
    int64_t begun_by_ps(int32_t iteration, const Hop& hop) const {
        const Event event = event_of(iteration, hop);
        return hop.kind == HopKind::take_in ? event.end_ps : event.begin_ps;
    }

    void expect_after_its_dependencies(int32_t iteration, int32_t participant, int32_t hop) const {
        const auto& own = hops_of(participant);
        const Hop& later = own[static_cast<size_t>(hop)];
        const int64_t begun_ps = begun_by_ps(iteration, later);
        if (hop > 0) {
            EXPECT_GE(begun_ps, not_over_before_ps(iteration, own[static_cast<size_t>(hop) - 1]));
        }
        for (const Dependency& dependency : later.dependencies) {
            const Hop& earlier =
                hops_of(dependency.rank)[static_cast<size_t>(dependency.hop_count) - 1];
            EXPECT_GE(begun_ps, not_over_before_ps(iteration, earlier));
        }
    }

    const Schedule& schedule_;
    const std::vector<std::vector<Hop>> hops_;  // [participant][hop]
    std::map<HopKey, Event> by_key_;
};

// The events say what was done: done again in their order, by other code, they make the same
// result.
void expect_same_when_done_again(const RunSpec& run,
                                 const Schedule& schedule,
                                 const std::vector<Event>& events) {
    using Mark = std::tuple<int64_t, int32_t, bool, size_t>;  // time, step, whether it ends, event
    std::vector<Mark> marks;
    for (size_t i = 0; i < events.size(); ++i) {
        if (events[i].iteration == 0) {
            marks.emplace_back(events[i].begin_ps, events[i].transfer.step, false, i);
            marks.emplace_back(events[i].end_ps, events[i].transfer.step, true, i);
        }
    }
    std::sort(marks.begin(), marks.end());
    Buffers buffers(schedule, run.seed);
    std::map<size_t, std::vector<uint32_t>> payloads;
    for (const auto& [time_ps, step, ends, i] : marks) {
        if (ends) {
            buffers.write(events[i].transfer, payloads[i]);
        } else {
            payloads[i] = buffers.read(events[i].transfer);
        }
    }
    EXPECT_EQ(buffers.find_mistake(), "");
}

void expect_right(const RunSpec& run, const Schedule& schedule, const Measured& measured) {
    EXPECT_EQ(measured.outcome, Outcome());
    EventChecker(schedule, measured.events).expect_complete(run.iterations);
    expect_same_when_done_again(run, schedule, measured.events);
}

std::set<int64_t> awkward_element_counts(int64_t rank_count) {
    return {0, 1, rank_count - 1, rank_count, rank_count + 1, 1009, 20'000};
}

class EveryAlgorithm : public ::testing::TestWithParam<const Algorithm*> {
  protected:
    // Of an algorithm that cannot be laid out like this, only that it says why.
    bool works(const RunSpec& run) {
        const auto schedule = build_schedule(run);
        if (!schedule) {
            EXPECT_FALSE(schedule.error().field.empty()) << schedule.error().message;
            return false;
        }
        expect_right(run, *schedule, measure(run, *schedule));
        return true;
    }
};

TEST_P(EveryAlgorithm, IsRightInEveryElementAndStampsEveryHopOnce) {
    int worked = 0;
    for (const int32_t rank_count : {1, 2, 3, 4, 5, 8}) {
        for (const int64_t element_count : awkward_element_counts(rank_count)) {
            SCOPED_TRACE("ranks=" + std::to_string(rank_count) +
                         " elements=" + std::to_string(element_count));
            RunSpec run = threads_run(rank_count, element_count, element_count == 1009 ? 2 : 1);
            run.algorithm = GetParam()->name;
            worked += works(run) && rank_count > 1 ? 1 : 0;
        }
    }
    EXPECT_GT(worked, 0);
}

// What changes the schedule changes what is really done.
TEST_P(EveryAlgorithm, RunsInChannelsPiecesGroupsAndOrders) {
    for (const std::string_view arrangement : {"channels=2&chunks=3&ring=0-2-1-3",
                                               "channels=3",
                                               "segment=1KiB",
                                               "group=2",
                                               "ring=3-1-0-2"}) {
        SCOPED_TRACE(arrangement);
        const std::string line = "engine=threads&ranks=4&bytes=40028&iterations=2&algorithm=" +
                                 std::string(GetParam()->name) + "&" + std::string(arrangement);
        const auto run = parse_run(line);
        ASSERT_TRUE(run) << run.error().message;
        works(*run);
    }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         EveryAlgorithm,
                         ::testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

class RingOfRanks : public ::testing::TestWithParam<int32_t> {};

TEST_P(RingOfRanks, SumsEveryElementAndStampsEveryHopOnce) {
    for (const int64_t element_count : awkward_element_counts(GetParam())) {
        SCOPED_TRACE("elements " + std::to_string(element_count));
        const RunSpec run = threads_run(GetParam(), element_count);
        expect_right(run, *build_schedule(run), measure(run));
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingOfRanks, ::testing::Values(6, 7, 9, 16));

TEST(ThreadsEngine, ChannelsPiecesAndTheRingsOrderAreReal) {
    const RunSpec run = *parse_run(
        "engine=threads&ranks=4&bytes=40028&channels=2&chunks=3&ring=0-2-1-3&iterations=2");
    const Schedule schedule = *build_schedule(run);
    const Measured measured = measure(run, schedule);
    expect_right(run, schedule, measured);
    EXPECT_EQ(std::ssize(measured.events), 2 * 2 * 3 * 24);
    std::set<std::pair<int32_t, int32_t>> links;
    std::map<int32_t, int64_t> event_counts;  // by channel
    for (const Event& event : measured.events) {
        links.emplace(event.transfer.source_rank, event.transfer.target_rank);
        ++event_counts[event.transfer.channel];
    }
    EXPECT_EQ(links, (std::set<std::pair<int32_t, int32_t>>{{0, 2}, {2, 1}, {1, 3}, {3, 0}}));
    EXPECT_EQ(event_counts, (std::map<int32_t, int64_t>{{0, 144}, {1, 144}}));
}

int64_t count_staged(const HopPlan& plan) {
    int64_t count = 0;
    for (const auto& hops : plan.hops) {
        count += std::count_if(
            hops.begin(), hops.end(), [](const Hop& hop) { return hop.kind == HopKind::take_in; });
    }
    return count;
}

// Two channels of three pieces each, with the ranks in the order 0 2 4 ... 1 3 5 ...
Arrangement apart(int32_t rank_count) {
    Arrangement arrangement;
    arrangement.channel_count = 2;
    arrangement.piece_count = 3;
    arrangement.orders.emplace_back();
    for (const int32_t first : {0, 1}) {
        for (int32_t rank = first; rank < rank_count; rank += 2) {
            arrangement.orders[0].push_back(rank);
        }
    }
    return arrangement;
}

void expect_right_laid_out(const Algorithm& algorithm,
                           const RunSpec& run,
                           const Arrangement& arrangement) {
    const Schedule schedule = lay_out(algorithm, run.problem, arrangement);
    const auto proof = verify(schedule);
    ASSERT_TRUE(proof) << proof.error().message;
    EXPECT_EQ(staging_element_counts(schedule), derive_hops(schedule).staging_element_counts);
    expect_right(run, schedule, measure_unnamed(run, schedule));
}

// `staged_count` of the hops, at four ranks, have to go through a staging area: else this would not
// test what it is to test.
void expect_right_in_all_sizes(const Algorithm& algorithm, int64_t staged_count) {
    for (const int32_t rank_count : {1, 2, 3, 4, 5, 8}) {
        SCOPED_TRACE("ranks=" + std::to_string(rank_count));
        for (const int64_t element_count : awkward_element_counts(rank_count)) {
            SCOPED_TRACE("elements=" + std::to_string(element_count));
            expect_right_laid_out(algorithm, threads_run(rank_count, element_count), {});
        }
        expect_right_laid_out(algorithm, threads_run(rank_count, 61, 3), apart(rank_count));
    }
    const Schedule of_four = lay_out(algorithm, threads_run(4, 1009).problem);
    EXPECT_EQ(count_staged(derive_hops(of_four)), staged_count);
}

TEST(ThreadsEngineSchedules, AllCollectives) {
    for (const Collective collective : every_collective) {
        SCOPED_TRACE(collective_name(collective));
        expect_right_in_all_sizes(direct(collective),
                                  collective == Collective::all_reduce ? 4 * 4 * 3 : 0);
    }
}

TEST(ThreadsEngineSchedules, StagedCopiesAndSums) {
    expect_right_in_all_sizes(merry_go_round, 4 * 4 + 4 * 3);
}

TEST(ThreadsEngineSchedules, ASwitchThatTakesPart) {
    expect_right_in_all_sizes(hasty_switch, 2 * 4 * 3);
}

TEST(ThreadsEngineTrace, ReplaysToTheFullSum) {
    const RunSpec run = threads_run(7, 10'007);
    const Measured measured = measure(run);
    auto replay = Replay::create(run);
    ASSERT_TRUE(replay);
    replay->add(measured.events);
    replay->seek(replay->end_ps() - 1);
    EXPECT_FALSE(replay->buffers().complete());
    replay->seek(replay->end_ps());
    EXPECT_TRUE(replay->buffers().complete());
}

TEST(ThreadsEngineTrace, IterationsFollowOneAnother) {
    const Measured measured = measure(threads_run(4, 1000, 5));
    std::map<int32_t, std::pair<int64_t, int64_t>> spans;
    for (const Event& event : measured.events) {
        auto& span = spans.try_emplace(event.iteration, INT64_MAX, 0).first->second;
        span = {std::min(span.first, event.begin_ps), std::max(span.second, event.end_ps)};
    }
    ASSERT_EQ(spans.size(), 5U);
    for (int32_t iteration = 1; iteration < 5; ++iteration) {
        EXPECT_GE(spans[iteration].first, spans[iteration - 1].second);
    }
}

TEST(ThreadsEngineTrace, AWrongScheduleIsCalledWrongAndSaysWhere) {
    const RunSpec run = threads_run(4, 4000);
    Schedule schedule = *build_schedule(run);
    --schedule.step_count;  // the last chunk never arrives
    const Measured measured = measure(run, schedule);
    EXPECT_EQ(measured.outcome.kind, OutcomeKind::wrong);
    EXPECT_NE(measured.outcome.reason.find("rank 0, element "), std::string::npos)
        << measured.outcome.reason;
}

// The message that forgetful() leaves out; ranks are positions here.
Transfer forgotten;

Algorithm forgetful(Collective collective) {
    Algorithm algorithm = direct(collective);
    algorithm.append_sends = [](const Schedule& schedule,
                                int32_t step,
                                int32_t position,
                                std::vector<Transfer>& transfers) {
        direct(schedule.problem.collective).append_sends(schedule, step, position, transfers);
        std::erase_if(transfers, [](const Transfer& transfer) {
            return transfer.source_rank == forgotten.source_rank &&
                   transfer.target_rank == forgotten.target_rank &&
                   transfer.chunk_begin == forgotten.chunk_begin;
        });
    };
    return algorithm;
}

TEST(ThreadsEngineTrace, OneMissingMessageIsFoundInAnyRankAndChunk) {
    constexpr int32_t rank_count = 3;
    for (const Collective collective : every_collective) {
        const Algorithm algorithm = forgetful(collective);
        for (const int64_t element_count : {3, 16}) {
            const RunSpec run = threads_run(rank_count, element_count);
            std::vector<Transfer> sends;
            for (int32_t position = 0; position < rank_count; ++position) {
                direct(collective)
                    .append_sends(lay_out(direct(collective), run.problem), 0, position, sends);
            }
            for (const Transfer& send : sends) {
                forgotten = send;
                const Schedule schedule = lay_out(algorithm, run.problem);
                const Outcome outcome = measure_unnamed(run, schedule).outcome;
                EXPECT_EQ(outcome.kind, OutcomeKind::wrong);
                const std::string where =
                    "rank " + std::to_string(send.target_rank) + ", element " +
                    std::to_string(schedule.chunk_element_begin(send.chunk_begin)) + " holds ";
                EXPECT_TRUE(outcome.reason.starts_with(where))
                    << collective_name(collective) << ": " << outcome.reason;
            }
        }
    }
}

struct Refusal {
    std::string line;
    std::string message;  // how it begins
};

TEST(ThreadsEngineLimits, RefuseWhatCannotBeDoneAndNameTheField) {
    const std::vector<Refusal> refusals{
        {"engine=threads&ranks=257", "ranks=257: must be 1 to 256 for engine=threads"},
        {"engine=threads&ranks=256&bytes=1TiB", "bytes=1TiB: must be at most "},
        {"engine=threads&ranks=256&bytes=4KiB&iterations=1000",
         "iterations=1000: must be at most 76: "},
        {"engine=threads&set=rank.0.start:1us",
         "set=rank.0.start:1us: acts on a simulated run only; engine=threads measures"},
        {"engine=threads&change=1ms:bandwidth:1GB/s",
         "change=1ms:bandwidth:1GB/s: acts on a simulated run only"},
        {"engine=threads&recovery=shrink", "recovery=shrink: acts on a simulated run only"},
        {"engine=threads&timeout=2s", "timeout=2s: acts on a simulated run only"},
        {"engine=simulator", "engine=simulator: measures nothing"},
        {"engine=cuda", "engine=cuda: not part of this version"},
        {"engine=abacus", "engine=abacus: must be one of simulator threads"},
    };
    for (const Refusal& refusal : refusals) {
        const auto run = parse_run(refusal.line);
        ASSERT_TRUE(run) << run.error().message;
        const auto engine = find_engine(*run);
        ASSERT_FALSE(engine) << refusal.line;
        EXPECT_TRUE(engine.error().message.starts_with(refusal.message)) << engine.error().message;
        EXPECT_FALSE(engine.error().field.empty());
    }
}

// What the prediction beside a measurement is made from changes nothing in the measurement.
TEST(ThreadsEngineLimits, KeysOfThePredictionAreAllowed) {
    const RunSpec run = *parse_run(
        "engine=threads&ranks=4&bytes=40028&topology=dgx_a100&oversubscription=2&bandwidth=1GB/"
        "s&latency=1us&"
        "forwarding=store-and-forward&cost=nccl&protocol=ll&fit=20us+50GB/s&reduce=800GB/s&"
        "launch=5us&slots=8&recovery=none&timeout=1s");
    expect_right(run, *build_schedule(run), measure(run));
}

// What the buffers of all together may take leaves for one of them.
double bytes_at_most(const Schedule& schedule) {
    const RunSpec run = *parse_run("engine=threads&ranks=4&bytes=1TiB");
    const Engine& engine = **find_engine(*parse_run("engine=threads&ranks=4"));
    const Status status = engine.check(run, schedule);
    EXPECT_FALSE(status);
    const std::string_view before = "must be at most ";
    const std::string_view allowed = status.error().allowed;
    EXPECT_TRUE(allowed.starts_with(before)) << allowed;
    std::istringstream words{std::string(allowed.substr(before.size()))};
    double number = 0;
    std::string unit;
    words >> number >> unit;
    return number * static_cast<double>(*parse_bytes("bytes", "1" + unit));
}

// Of a ring 4 buffers and the expected values count; everybody's staging area comes to that, and a
// switch's buffer and staging area.
TEST(ThreadsEngineLimits, StagingAreasAndTheSwitchCountAsMemory) {
    const Problem problem{.rank_count = 4, .element_count = int64_t{1} << 38};
    const double ring = 5 * bytes_at_most(*build_schedule("ring", problem));
    const double staged = (5 + 4 * 3) * bytes_at_most(lay_out(merry_go_round, problem));
    const double with_switch = (6 + 4 + 4) * bytes_at_most(lay_out(hasty_switch, problem));
    EXPECT_NEAR(staged / ring, 1, 0.2);  // others take memory and give it back meanwhile
    EXPECT_NEAR(with_switch / ring, 1, 0.2);
}

TEST(ThreadsEngineLimits, ASwitchIsOneOfTheParticipants) {
    const RunSpec run = threads_run(256, 1);
    const Engine& engine = **find_engine(run);
    EXPECT_EQ(engine.check(run, lay_out(hasty_switch, run.problem)).error().message,
              "ranks=256: must be 1 to 255 for engine=threads when a switch takes part");
}

TEST(ThreadsEngineLimits, TheLargestNumberOfRanksWorks) {
    const RunSpec run = threads_run(256, 257);
    Outcome outcome;
    const std::string text = trace_text(run, *build_schedule(run), outcome);
    EXPECT_EQ(outcome, Outcome());
    EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 2 * 256 * 255);
}

}  // namespace
}  // namespace ringscope
