// SPDX-License-Identifier: Apache-2.0
// What must be true of every algorithm: these tests run over the registry.
#include "shared/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "shared/algorithm.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Schedule schedule_of(const Algorithm& algorithm, const Problem& problem) {
    auto schedule = build_schedule(algorithm.name, problem);
    EXPECT_TRUE(schedule) << schedule.error().message;
    return *schedule;
}

template <class Check>
void for_every_algorithm_and_size(int32_t rank_count_last, Check check) {
    for (const Algorithm* algorithm : algorithms()) {
        for (int32_t rank_count = 1; rank_count <= rank_count_last; ++rank_count) {
            for (const int64_t element_count : awkward_element_counts(rank_count)) {
                SCOPED_TRACE(std::string(algorithm->name) + " ranks=" + std::to_string(rank_count) +
                             " elements=" + std::to_string(element_count));
                check(*algorithm,
                      Problem{.rank_count = rank_count, .element_count = element_count});
            }
        }
    }
}

TEST(Schedule, EveryAlgorithmSumsEveryElementOnce) {
    for_every_algorithm_and_size(33, [](const Algorithm& algorithm, const Problem& problem) {
        const Schedule schedule = schedule_of(algorithm, problem);
        const auto proof = verify(schedule);
        ASSERT_TRUE(proof) << proof.error().message;
        EXPECT_EQ(proof->message_count, schedule.message_count());
    });
}

std::string show(const Arrangement& arrangement) {
    std::string text = " channels=" + std::to_string(arrangement.channel_count) +
                       " chunks=" + std::to_string(arrangement.piece_count);
    for (const std::vector<int32_t>& order : arrangement.orders) {
        text += " order";
        for (const int32_t rank : order) {
            text += " " + std::to_string(rank);
        }
    }
    return text;
}

void expect_right_sums(const Algorithm& algorithm,
                       const Problem& problem,
                       const Arrangement& arrangement) {
    SCOPED_TRACE(std::string(algorithm.name) + " ranks=" + std::to_string(problem.rank_count) +
                 " elements=" + std::to_string(problem.element_count) + show(arrangement));
    const auto schedule = build_schedule(algorithm.name, problem, arrangement);
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_EQ(schedule->channel_count, arrangement.channel_count);
    EXPECT_EQ(schedule->piece_count, arrangement.piece_count);
    const auto proof = verify(*schedule);
    ASSERT_TRUE(proof) << proof.error().message;
    EXPECT_EQ(proof->message_count, schedule->message_count());
}

TEST(Schedule, EveryAlgorithmDoesSoOnSeveralChannelsAndInPieces) {
    for (const Algorithm* algorithm : algorithms()) {
        for (int32_t rank_count = 1; rank_count <= 9; ++rank_count) {
            for (const int32_t channels : {1, 2, 3}) {
                for (const int32_t pieces : {1, 2, 5}) {
                    for (const int64_t element_count : {0, 1, 97, 64 * rank_count}) {
                        expect_right_sums(
                            *algorithm,
                            {.rank_count = rank_count, .element_count = element_count},
                            {.channel_count = channels, .piece_count = pieces});
                    }
                }
            }
        }
    }
}

// Two of n + 2 ranks are dead; the others sit in another order on each channel.
TEST(Schedule, EveryAlgorithmDoesSoInAnyOrderAndWithoutTheDead) {
    Dice dice(7);
    for (const Algorithm* algorithm : algorithms()) {
        for (int32_t rank_count = 1; rank_count <= 9; ++rank_count) {
            std::vector<int32_t> alive(static_cast<size_t>(rank_count) + 2);
            std::iota(alive.begin(), alive.end(), 0);
            alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(dice.below(rank_count + 2)));
            alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(dice.below(rank_count + 1)));
            Arrangement arrangement{
                .channel_count = 2, .piece_count = 2, .rank_limit = rank_count + 2};
            for (int32_t channel = 0; channel < 2; ++channel) {
                for (size_t i = alive.size(); i > 1; --i) {
                    std::swap(alive[i - 1],
                              alive[static_cast<size_t>(dice.below(std::ssize(alive)))]);
                }
                arrangement.orders.push_back(alive);
            }
            expect_right_sums(
                *algorithm, {.rank_count = rank_count, .element_count = 97}, arrangement);
        }
    }
}

TEST(Schedule, AnAlgorithmsOwnOrderGoesThroughTheGivenOne) {
    const Schedule schedule = *build_schedule(
        "ring_bidirectional", {.rank_count = 4}, {.channel_count = 3, .orders = {{2, 0, 1, 3}}});
    EXPECT_EQ(schedule.orders[0], (std::vector<int32_t>{2, 0, 1, 3}));
    EXPECT_EQ(schedule.orders[1], (std::vector<int32_t>{3, 1, 0, 2}));
    EXPECT_EQ(schedule.orders[2], schedule.orders[0]);
}

// The lowest rank that takes part; the order is turned, not changed, so that neighbours stay so.
TEST(Schedule, TheRootSitsAtPositionZero) {
    for (const char* algorithm : {"ring_broadcast", "ring_reduce"}) {
        const Schedule whole =
            *build_schedule(algorithm,
                            {.rank_count = 4},
                            {.channel_count = 2, .orders = {{3, 1, 0, 2}, {1, 2, 3, 0}}});
        EXPECT_EQ(whole.root(), 0);
        EXPECT_EQ(whole.orders[0], (std::vector<int32_t>{0, 2, 3, 1}));
        EXPECT_EQ(whole.orders[1], (std::vector<int32_t>{0, 1, 2, 3}));
        const Schedule survivors =
            *build_schedule(algorithm, {.rank_count = 3}, {.orders = {{5, 1, 4}}});
        EXPECT_EQ(survivors.root(), 1);
        EXPECT_EQ(survivors.orders[0], (std::vector<int32_t>{1, 4, 5}));
    }
    const Schedule ring = *build_schedule("ring", {.rank_count = 3}, {.orders = {{2, 0, 1}}});
    EXPECT_EQ(ring.orders[0], (std::vector<int32_t>{2, 0, 1})) << "an all-reduce has no root";
}

// By its default, so that the menu never offers what cannot be built.
TEST(Schedule, EveryAlgorithmCanDoTheMostRanks) {
    for (const Algorithm* algorithm : algorithms()) {
        const auto schedule = build_schedule(
            algorithm->name, {.rank_count = rank_count_max, .element_count = 1 << 28});
        EXPECT_TRUE(schedule) << schedule.error().message;
    }
}

TEST(Schedule, ChunksCoverTheBufferWithoutGapOrOverlap) {
    for_every_algorithm_and_size(33, [](const Algorithm& algorithm, const Problem& problem) {
        const Schedule schedule = schedule_of(algorithm, problem);
        int64_t next = 0;
        for (int32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
            EXPECT_EQ(schedule.chunk_element_begin(chunk), next);
            next += schedule.chunk_element_count(chunk);
            EXPECT_LE(schedule.chunk_element_count(0) - schedule.chunk_element_count(chunk), 1);
        }
        EXPECT_EQ(next, problem.element_count);
    });
}

// Patarasuk and Yuan 2009: 2(N-1)/N S from each rank, exactly, when N divides the buffer.
TEST(Schedule, ARingSendsTheLeastBytesPossible) {
    for (int32_t rank_count = 1; rank_count <= 33; ++rank_count) {
        const Problem problem{.rank_count = rank_count, .element_count = int64_t{100} * rank_count};
        const auto proof = verify(*build_schedule("ring", problem));
        ASSERT_TRUE(proof);
        for (const int64_t bytes : proof->sent_bytes) {
            EXPECT_EQ(bytes, 2 * (rank_count - 1) * 100 * 4);
        }
    }
}

// 100 MB over 4 GPUs: 150 MB each way (the question of NVIDIA/nccl issue 457).
TEST(Schedule, AHundredMegabytesOverFourRanksAreAHundredAndFiftyOnEachLink) {
    const auto proof =
        verify(*build_schedule("ring", {.rank_count = 4, .element_count = 25'000'000}));
    EXPECT_EQ(proof->sent_bytes, std::vector<int64_t>(4, 150'000'000));
}

TEST(Schedule, InARingOfFourRankThreeSendsChunksThreeTwoOneAndThenZeroThreeTwo) {
    const Schedule schedule = *build_schedule("ring", {.rank_count = 4, .element_count = 8});
    std::vector<Transfer> sends;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        schedule.append_sends(0, step, 3, sends);
    }
    const int32_t chunks[] = {3, 2, 1, 0, 3, 2};
    ASSERT_EQ(sends.size(), 6U);
    for (size_t i = 0; i < sends.size(); ++i) {
        EXPECT_EQ(sends[i].chunk_begin, chunks[i]);
        EXPECT_EQ(sends[i].target_rank, 0);
        EXPECT_EQ(sends[i].action, i < 3 ? Action::reduce : Action::copy);
    }
}

// A broken algorithm must not pass: this one adds where the ring copies.
TEST(Schedule, AScheduleThatCountsAnInputTwiceIsCaught) {
    Algorithm broken = *find_algorithm("ring");
    broken.append_sends =
        [](const Schedule& schedule, int32_t step, int32_t rank, std::vector<Transfer>& transfers) {
            find_algorithm("ring")->append_sends(schedule, step, rank, transfers);
            transfers.back().action = Action::reduce;
        };
    broken.append_receives =
        [](const Schedule& schedule, int32_t step, int32_t rank, std::vector<Transfer>& transfers) {
            find_algorithm("ring")->append_receives(schedule, step, rank, transfers);
            transfers.back().action = Action::reduce;
        };
    Schedule schedule = *build_schedule("ring", {.rank_count = 3, .element_count = 9});
    schedule.algorithm = &broken;
    const auto proof = verify(schedule);
    ASSERT_FALSE(proof);
    EXPECT_NE(proof.error().message.find("counts an input twice"), std::string::npos)
        << proof.error().message;
}

TEST(Schedule, AScheduleThatStopsEarlyIsCaught) {
    Schedule schedule = *build_schedule("ring", {.rank_count = 5, .element_count = 9});
    --schedule.step_count;
    EXPECT_EQ(verify(schedule).error().message.substr(0, 40),
              "the schedule is wrong: rank 0 ends with ");
}

// What engines do, in an order that only respects the hops' dependencies.
class HopRunner {
  public:
    explicit HopRunner(const Schedule& schedule)
        : plan_(derive_hops(schedule)), buffers_(schedule, 1), done_(plan_.hops.size(), 0) {
        for (const std::vector<Hop>& hops : plan_.hops) {
            left_ += std::ssize(hops);
        }
    }

    int64_t left() const { return left_; }
    const Buffers& buffers() const { return buffers_; }
    int64_t participant_count() const { return std::ssize(plan_.hops); }

    // False when this participant's next hop has to wait.
    bool go_on(size_t participant) {
        if (done_[participant] == std::ssize(plan_.hops[participant])) {
            return false;
        }
        const Hop& hop = plan_.hops[participant][static_cast<size_t>(done_[participant])];
        for (const Dependency& dependency : hop.dependencies) {
            if (done_[static_cast<size_t>(dependency.rank)] < dependency.hop_count) {
                return false;
            }
        }
        EXPECT_EQ(hop.transfer.target_rank, static_cast<int32_t>(participant));
        carry_out(hop);
        ++done_[participant];
        --left_;
        return true;
    }

  private:
    void carry_out(const Hop& hop) {
        const Transfer& transfer = hop.transfer;
        // By its name, not by its place in the staging area, as empty ones share a place.
        auto& staged = staging_[{transfer.target_rank, transfer.source_rank, transfer.chunk_begin}];
        if (hop.kind == HopKind::fetch) {
            staged = buffers_.read(transfer);
        } else {
            buffers_.write(transfer,
                           hop.kind == HopKind::direct ? buffers_.read(transfer) : staged);
        }
    }

    HopPlan plan_;
    Buffers buffers_;
    std::vector<int32_t> done_;  // [participant] hops
    int64_t left_ = 0;
    std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<uint32_t>> staging_;
};

// Whatever order threads really take, the result is the same.
TEST(Schedule, DerivedDependenciesSufficeForAnyOrderOfExecution) {
    Dice dice(4);
    for_every_algorithm_and_size(9, [&](const Algorithm& algorithm, const Problem& problem) {
        for (const Arrangement& arrangement :
             {Arrangement{}, Arrangement{.channel_count = 2, .piece_count = 3}}) {
            HopRunner runner(*build_schedule(algorithm.name, problem, arrangement));
            int64_t idle = 0;
            while (runner.left() > 0 && idle < 10'000) {
                const bool went =
                    runner.go_on(static_cast<size_t>(dice.below(runner.participant_count())));
                idle = went ? 0 : idle + 1;
            }
            EXPECT_EQ(runner.left(), 0) << "the hops wait for each other in a circle";
            EXPECT_EQ(runner.buffers().find_mistake(), "");
        }
    });
}

TEST(Schedule, AnUnknownAlgorithmIsRefusedWithTheKnownOnes) {
    std::string known;
    for (const Algorithm* algorithm : algorithms()) {
        known += " " + std::string(algorithm->name);
    }
    EXPECT_EQ(build_schedule("star", {}).error().message, "algorithm=star: must be one of" + known);
}

TEST(Schedule, EveryAlgorithmIsDescribed) {
    for (const Algorithm* algorithm : algorithms()) {
        SCOPED_TRACE(algorithm->name);
        for (const std::string_view text : {algorithm->summary,
                                            algorithm->steps,
                                            algorithm->bytes_per_rank,
                                            algorithm->wins,
                                            algorithm->source}) {
            EXPECT_FALSE(text.empty());
        }
        EXPECT_EQ(find_algorithm(algorithm->name), algorithm);
    }
}

TEST(Schedule, AStepIsNarrated) {
    const Schedule schedule = *build_schedule("ring", {.rank_count = 8, .element_count = 8});
    EXPECT_EQ(narrate(schedule, 2, 2),
              "rank 2 sends chunk 0, the sum of 3 inputs, to rank 3, which adds it to its own");
    EXPECT_EQ(narrate(schedule, 0, 2),
              "rank 2 sends chunk 2, its own input, to rank 3, which adds it to its own");
    EXPECT_EQ(narrate(schedule, 7, 2),
              "rank 2 sends chunk 3, finished, to rank 3, which overwrites its own");
}

TEST(Schedule, EveryStepIsExplained) {
    for_every_algorithm_and_size(6, [](const Algorithm& algorithm, const Problem& problem) {
        const Schedule schedule = schedule_of(algorithm, problem);
        for (int32_t step = 0; step < schedule.step_count; ++step) {
            EXPECT_FALSE(algorithm.phase(schedule, step).empty());
            EXPECT_FALSE(algorithm.explain(schedule, step).empty());
        }
    });
}

}  // namespace
}  // namespace ringscope
