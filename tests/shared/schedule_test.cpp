// SPDX-License-Identifier: Apache-2.0
// What must be true of every algorithm: these tests run over the registry.
#include "shared/schedule.hpp"

#include <algorithm>

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
    for_every_algorithm_and_size(17, [](const Algorithm& algorithm, const Problem& problem) {
        const Schedule schedule = schedule_of(algorithm, problem);
        const auto proof = verify(schedule);
        ASSERT_TRUE(proof) << proof.error().message;
        EXPECT_EQ(proof->message_count, schedule.message_count());
    });
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

// Carries the hops out in a random order that respects their dependencies only, and expects right
// sums: whatever order threads really take, the result is the same.
TEST(Schedule, DerivedDependenciesSufficeForAnyOrderOfExecution) {
    Dice dice(4);
    for_every_algorithm_and_size(9, [&](const Algorithm& algorithm, const Problem& problem) {
        const Schedule schedule = schedule_of(algorithm, problem);
        const auto hops = derive_hops(schedule).hops;
        Buffers buffers(schedule, 1);
        std::vector<int32_t> done(hops.size(), 0);
        int64_t left = schedule.message_count();
        int64_t idle = 0;
        while (left > 0 && idle < 10'000) {
            const auto rank = static_cast<size_t>(dice.below(problem.rank_count));
            const bool ready =
                done[rank] < std::ssize(hops[rank]) &&
                std::all_of(hops[rank][static_cast<size_t>(done[rank])].dependencies.begin(),
                            hops[rank][static_cast<size_t>(done[rank])].dependencies.end(),
                            [&](const Dependency& d) {
                                return done[static_cast<size_t>(d.rank)] >= d.hop_count;
                            });
            if (!ready) {
                ++idle;
                continue;
            }
            idle = 0;
            const Transfer& transfer = hops[rank][static_cast<size_t>(done[rank]++)].transfer;
            EXPECT_EQ(transfer.target_rank, static_cast<int32_t>(rank));
            buffers.write(transfer, buffers.read(transfer));
            --left;
        }
        EXPECT_EQ(left, 0) << "the hops wait for each other in a circle";
        EXPECT_TRUE(buffers.complete());
    });
}

TEST(Schedule, AnUnknownAlgorithmIsRefusedWithTheKnownOnes) {
    EXPECT_EQ(build_schedule("star", {}).error().message, "algorithm=star: must be one of ring");
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
