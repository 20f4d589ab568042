// SPDX-License-Identifier: Apache-2.0
// What is known of each algorithm by hand: who sends what to whom, and how much. That the sums are
// right is proved for all of them in schedule_test.cpp, and how long they take in
// closed_forms_test.cpp.
#include <algorithm>
#include <set>

#include "shared/algorithm.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Schedule laid(std::string_view algorithm,
              int32_t rank_count,
              int64_t element_count,
              const Arrangement& arrangement = {}) {
    auto schedule = build_schedule(
        algorithm, {.rank_count = rank_count, .element_count = element_count}, arrangement);
    EXPECT_TRUE(schedule) << schedule.error().message;
    return *schedule;
}

// "0>1+2 1>0=2": in this step of the first lane rank 0 sends chunk 2 to rank 1, which adds it, and
// 1 sends it back, which overwrites; "0>1+2-5" are chunks 2 to 5.
std::string step_text(const Schedule& schedule, int32_t step, int32_t lane = 0) {
    std::string text;
    for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
        std::vector<Transfer> sends;
        schedule.append_sends(lane, step, rank, sends);
        for (const Transfer& send : sends) {
            text += (text.empty() ? "" : " ") + std::to_string(send.source_rank) + ">" +
                    std::to_string(send.target_rank) + (send.action == Action::reduce ? "+" : "=") +
                    std::to_string(send.chunk_begin);
            if (send.chunk_count != 1) {
                text += "-" + std::to_string(send.chunk_begin + send.chunk_count - 1);
            }
        }
    }
    return text;
}

std::vector<std::string> all_steps(const Schedule& schedule, int32_t lane = 0) {
    std::vector<std::string> steps;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        steps.push_back(step_text(schedule, step, lane));
    }
    return steps;
}

// What one rank sends, step by step.
std::vector<std::string> sends_of(const Schedule& schedule, int32_t rank) {
    std::vector<std::string> steps;
    for (const std::string& step : all_steps(schedule)) {
        const std::string from = std::to_string(rank) + ">";
        const size_t begin = step.rfind(from, 0) == 0 ? 0 : step.find(" " + from) + 1;
        steps.push_back(step.substr(begin, step.find(' ', begin) - begin));
    }
    return steps;
}

using Steps = std::vector<std::string>;

std::vector<int64_t> sent_bytes(const Schedule& schedule) {
    const auto proof = verify(schedule);
    EXPECT_TRUE(proof) << proof.error().message;
    return proof->sent_bytes;
}

TEST(Ring, ChannelsAndPiecesAreRingsSideBySideAndOneBehindTheOther) {
    const Schedule schedule = laid("ring", 4, 96, {.channel_count = 2, .piece_count = 3});
    EXPECT_EQ(schedule.lane_count, 6);
    EXPECT_EQ(schedule.chunk_count, 24);
    EXPECT_EQ(schedule.message_count(), 6 * 24);
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(4, 2 * 3 * 96)) << "2(N-1)/N S";
    EXPECT_EQ(step_text(schedule, 0, 5), "0>1+20 1>2+21 2>3+22 3>0+23");
}

TEST(RingBidirectional, TheSecondChannelRunsTheOtherWay) {
    const Schedule schedule = laid("ring_bidirectional", 4, 64);
    EXPECT_EQ(schedule.channel_count, 2);
    EXPECT_EQ(step_text(schedule, 0, 0), "0>1+0 1>2+1 2>3+2 3>0+3");
    EXPECT_EQ(step_text(schedule, 0, 1), "0>3+7 1>0+6 2>1+5 3>2+4");
    EXPECT_EQ(sent_bytes(schedule), sent_bytes(laid("ring", 4, 64)));
}

TEST(RingBidirectional, OfThreeRingsOneRunsTheOtherWayAndOneAloneIsThePlainRing) {
    const Schedule three = laid("ring_bidirectional", 3, 90, {.channel_count = 3});
    EXPECT_EQ(three.orders[0], three.orders[2]);
    EXPECT_NE(three.orders[0], three.orders[1]);
    EXPECT_EQ(all_steps(laid("ring_bidirectional", 5, 90, {.channel_count = 1})),
              all_steps(laid("ring", 5, 90)));
}

TEST(RecursiveDoubling, AmongEightTheDistanceDoubles) {
    const Schedule schedule = laid("recursive_doubling", 8, 8);
    EXPECT_EQ(sends_of(schedule, 5), (Steps{"5>4+0", "5>7+0", "5>1+0"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(8, 3 * 32)) << "log2 N S";
}

// Of six, four are the core: 1, 3, 4 and 5. 0 and 2 hand their input to 1 and 3.
TEST(RecursiveDoubling, AmongSixTwoAreFoldedIn) {
    const Schedule schedule = laid("recursive_doubling", 6, 8);
    EXPECT_EQ(
        all_steps(schedule),
        (Steps{
            "0>1+0 2>3+0", "1>3+0 3>1+0 4>5+0 5>4+0", "1>4+0 3>5+0 4>1+0 5>3+0", "1>0=0 3>2=0"}));
    EXPECT_EQ(schedule.message_count(), 12);
    EXPECT_EQ(schedule.algorithm->phase(schedule, 0), "fold in");
    EXPECT_EQ(schedule.algorithm->phase(schedule, 1), "doubling");
    EXPECT_EQ(schedule.algorithm->phase(schedule, 3), "fold out");
}

// The longest messages go to the nearest rank.
TEST(HalvingDoubling, AmongEightRankFiveKeepsFourThenTwoThenOneChunk) {
    const Schedule schedule = laid("halving_doubling", 8, 64);
    EXPECT_EQ(schedule.lane_chunk_count, 8);
    EXPECT_EQ(sends_of(schedule, 5),
              (Steps{"5>4+0-3", "5>7+6-7", "5>1+4", "5>1=5", "5>7=4-5", "5>4=4-7"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(8, 2 * 7 * 8 * 4)) << "2(N-1)/N S";
}

TEST(HalvingDoubling, AmongSixTheBufferIsCutInFour) {
    const Schedule schedule = laid("halving_doubling", 6, 64);
    EXPECT_EQ(schedule.lane_chunk_count, 4);
    EXPECT_EQ(schedule.step_count, 6);
    EXPECT_EQ(step_text(schedule, 0), "0>1+0-3 2>3+0-3");
    EXPECT_EQ(step_text(schedule, 1), "1>3+2-3 3>1+0-1 4>5+2-3 5>4+0-1");
    EXPECT_EQ(step_text(schedule, 5), "1>0=0-3 3>2=0-3");
    EXPECT_EQ(schedule.message_count(), 2 * 4 * 2 + 4);
}

TEST(ReduceBroadcast, AmongSixTheTreeIsBinomial) {
    const Schedule schedule = laid("reduce_broadcast", 6, 8);
    EXPECT_EQ(
        all_steps(schedule),
        (Steps{"1>0+0 3>2+0 5>4+0", "2>0+0", "4>0+0", "0>4=0", "0>2=0", "0>1=0 2>3=0 4>5=0"}));
}

TEST(ParameterServer, OneRankSendsAllTheBytes) {
    const Schedule schedule = laid("parameter_server", 5, 10);
    EXPECT_EQ(all_steps(schedule), (Steps{"1>0+0 2>0+0 3>0+0 4>0+0", "0>1=0 0>2=0 0>3=0 0>4=0"}));
    EXPECT_EQ(sent_bytes(schedule), (std::vector<int64_t>{160, 40, 40, 40, 40}));
}

TEST(Direct, EverybodySendsEverybodyItsChunk) {
    const Schedule schedule = laid("direct", 3, 9);
    EXPECT_EQ(
        all_steps(schedule),
        (Steps{"0>1+1 0>2+2 1>2+2 1>0+0 2>0+0 2>1+1", "0>1=0 0>2=0 1>2=1 1>0=1 2>0=2 2>1=2"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(3, 2 * 2 * 12)) << "2(N-1)/N S";
}

TEST(Chain, TheSumGoesToTheLastAndComesBack) {
    EXPECT_EQ(all_steps(laid("chain", 4, 8)),
              (Steps{"0>1+0", "1>2+0", "2>3+0", "3>2=0", "2>1=0", "1>0=0"}));
}

// As numbers from 1: 4 is above 2 and 6, 2 above 1 and 3, and 6 above 5.
TEST(Tree, AmongSixRankThreeIsTheRoot) {
    EXPECT_EQ(all_steps(laid("tree", 6, 8)),
              (Steps{"0>1+0 2>1+0 4>5+0", "1>3+0 5>3+0", "3>1=0 3>5=0", "1>0=0 1>2=0 5>4=0"}));
}

// Of five, 5 has no 6 above it, and 4 takes it.
TEST(Tree, AmongFiveTheLastLeafHangsOnTheRoot) {
    EXPECT_EQ(all_steps(laid("tree", 5, 8)),
              (Steps{"0>1+0 2>1+0 4>3+0", "1>3+0", "3>1=0", "1>0=0 1>2=0 3>4=0"}));
}

TEST(Tree, NobodyHasMoreThanTwoChildrenAndTheDepthIsTheLogarithm) {
    for (int32_t rank_count = 1; rank_count <= 130; ++rank_count) {
        const Schedule schedule = laid("tree", rank_count, 1);
        std::vector<int32_t> children(static_cast<size_t>(rank_count), 0);
        int32_t depth = 0;
        for (int32_t step = 0; step < schedule.step_count; ++step) {
            std::vector<Transfer> sends;
            for (int32_t rank = 0; rank < rank_count; ++rank) {
                schedule.append_sends(0, step, rank, sends);
            }
            for (const Transfer& send : sends) {
                children[static_cast<size_t>(send.target_rank)] += send.action == Action::reduce;
            }
            depth += step < schedule.step_count / 2 ? 1 : 0;
        }
        EXPECT_LE(*std::max_element(children.begin(), children.end()), 2) << rank_count;
        EXPECT_LE(int64_t{1} << depth, rank_count);
    }
}

// Who adds something in on a channel is inside its tree.
std::set<int32_t> inner_ranks(const Schedule& schedule, int32_t channel) {
    std::set<int32_t> inner;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
            std::vector<Transfer> receives;
            schedule.append_receives(channel, step, rank, receives);
            if (!receives.empty() && receives.front().action == Action::reduce) {
                inner.insert(rank);
            }
        }
    }
    return inner;
}

TEST(DoubleTree, NobodyIsInsideBothTrees) {
    for (int32_t rank_count = 1; rank_count <= 66; ++rank_count) {
        const Schedule schedule = laid("double_tree", rank_count, 64);
        ASSERT_EQ(schedule.channel_count, 2);
        const std::set<int32_t> first = inner_ranks(schedule, 0);
        const std::set<int32_t> second = inner_ranks(schedule, 1);
        EXPECT_EQ(first.size(), static_cast<size_t>(rank_count / 2));
        EXPECT_EQ(second.size(), first.size());
        for (const int32_t rank : first) {
            EXPECT_EQ(second.count(rank), 0U) << "rank " << rank << " of " << rank_count;
        }
    }
}

TEST(DoubleTree, NobodySendsMoreThanTwiceTheBufferAndInOneTreeThreeTimes) {
    const auto most = [](const Schedule& schedule) {
        const std::vector<int64_t> bytes = sent_bytes(schedule);
        return *std::max_element(bytes.begin(), bytes.end());
    };
    for (int32_t rank_count = 8; rank_count <= 33; ++rank_count) {
        EXPECT_EQ(most(laid("double_tree", rank_count, 64)), 2 * 64 * 4) << rank_count;
        EXPECT_EQ(most(laid("tree", rank_count, 64)), 3 * 64 * 4) << rank_count;
    }
}

// Twelve ranks in three groups of four: rank 5 has place 1 in group 1, and part 1 is chunks 3 to 5.
TEST(TwoLevel, RankFiveOfThreeGroupsOfFour) {
    const Schedule schedule = laid("two_level", 12, 120, {.group_size = 4});
    EXPECT_EQ(schedule.lane_chunk_count, 12);
    EXPECT_EQ(sends_of(schedule, 5),
              (Steps{"5>6+0-2",
                     "5>6+9-11",
                     "5>6+6-8",
                     "5>9+4",
                     "5>9+3",
                     "5>9=5",
                     "5>9=4",
                     "5>6=3-5",
                     "5>6=0-2",
                     "5>6=9-11"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(12, 2 * 11 * 40)) << "2(N-1)/N S";
}

TEST(TwoLevel, WithoutAGroupItIsAsSquareAsCanBe) {
    const std::vector<std::pair<int32_t, int32_t>> sizes = {
        {1, 1}, {2, 1}, {7, 1}, {12, 3}, {16, 4}, {24, 4}, {4096, 64}};
    for (const auto& [rank_count, group_size] : sizes) {
        EXPECT_EQ(laid("two_level", rank_count, 1).group_size, group_size) << rank_count;
        EXPECT_EQ(laid("torus", rank_count, 1).group_size, group_size) << rank_count;
    }
}

TEST(TwoLevel, AGroupThatDoesNotDivideIsRefused) {
    for (const char* algorithm : {"two_level", "torus"}) {
        const auto schedule = build_schedule(algorithm, {.rank_count = 12}, {.group_size = 5});
        ASSERT_FALSE(schedule);
        EXPECT_EQ(schedule.error().message, "group=5: must divide the number of ranks, 12");
    }
}

TEST(Torus, TheFirstChannelIsTwoLevelAndTheSecondItsMirrorImage) {
    const Schedule schedule = laid("torus", 6, 360, {.group_size = 3});
    EXPECT_EQ(schedule.channel_count, 2);
    EXPECT_EQ(all_steps(schedule, 0), all_steps(laid("two_level", 6, 360, {.group_size = 3})));
    EXPECT_EQ(step_text(schedule, 0, 1), "0>2+8-9 1>0+6-7 2>1+10-11 3>5+8-9 4>3+6-7 5>4+10-11");
    const std::vector<std::string_view> phases = {"reduce-scatter, row",
                                                  "reduce-scatter, row",
                                                  "reduce-scatter, column",
                                                  "all-gather, column",
                                                  "all-gather, row",
                                                  "all-gather, row"};
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        EXPECT_EQ(schedule.algorithm->phase(schedule, step), phases[static_cast<size_t>(step)]);
    }
}

TEST(InSwitch, EveryRankSendsItsBufferOnceAndTheSwitchOneToEach) {
    const Schedule schedule = laid("in_switch", 3, 10);
    EXPECT_TRUE(schedule.with_switch);
    EXPECT_EQ(schedule.participant_count, 4);
    EXPECT_EQ(all_steps(schedule), (Steps{"0>3+0 1>3+0 2>3+0", "3>0=0 3>1=0 3>2=0"}));
    EXPECT_EQ(sent_bytes(schedule), (std::vector<int64_t>{40, 40, 40, 120}));
    EXPECT_EQ(narrate(schedule, 0, 1),
              "rank 1 sends chunk 0, its own input, to the switch, which adds it up");
}

TEST(InSwitch, OneRankNeedsNoSwitch) {
    const Schedule schedule = laid("in_switch", 1, 10);
    EXPECT_EQ(schedule.step_count, 0);
    EXPECT_EQ(schedule.participant_count, 1);
    EXPECT_EQ(schedule.message_count(), 0);
}

TEST(RingReduceScatter, RankRAddsChunkRLast) {
    const Schedule schedule = laid("ring_reduce_scatter", 3, 9);
    EXPECT_EQ(all_steps(schedule), (Steps{"0>1+2 1>2+0 2>0+1", "0>1+1 1>2+2 2>0+0"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(3, 2 * 12)) << "(N-1)/N S";
}

// Positions 0, 1, 2 are ranks 2, 0, 1: rank 1 sends to rank 2, and still ends with chunk 1.
TEST(RingReduceScatter, SoItDoesInAnotherOrder) {
    const Schedule schedule = laid("ring_reduce_scatter", 3, 9, {.orders = {{2, 0, 1}}});
    EXPECT_EQ(all_steps(schedule), (Steps{"0>1+2 1>2+0 2>0+1", "0>1+1 1>2+2 2>0+0"}));
}

TEST(RingAllGather, RankRStartsWithChunkR) {
    const Schedule schedule = laid("ring_all_gather", 3, 9);
    EXPECT_EQ(all_steps(schedule), (Steps{"0>1=0 1>2=1 2>0=2", "0>1=2 1>2=0 2>0=1"}));
    EXPECT_EQ(sent_bytes(schedule), std::vector<int64_t>(3, 2 * 12)) << "(N-1)/N S";
}

TEST(RingBroadcast, ItGoesFromTheRootAlongTheRing) {
    EXPECT_EQ(all_steps(laid("ring_broadcast", 4, 8, {.orders = {{1, 0, 3, 2}}})),
              (Steps{"0>3=0", "3>2=0", "2>1=0"}));
}

TEST(RingReduce, ItEndsAtTheRootTheSameWayRound) {
    EXPECT_EQ(all_steps(laid("ring_reduce", 4, 8)), (Steps{"1>2+0", "2>3+0", "3>0+0"}));
}

// One piece per 256 KiB of a channel, 1 to 64.
TEST(Pieces, PipelinedAlgorithmsCutTheBufferByItsSize) {
    constexpr int64_t mebibyte = (1 << 20) / 4;  // elements
    const std::set<std::string_view> pipelined = {
        "chain", "tree", "double_tree", "in_switch", "ring_broadcast", "ring_reduce"};
    for (const Algorithm* algorithm : algorithms()) {
        const auto pieces = [&](int64_t element_count, int32_t channel_count) {
            return laid(algorithm->name, 4, element_count, {.channel_count = channel_count})
                .piece_count;
        };
        SCOPED_TRACE(algorithm->name);
        const bool cuts = pipelined.count(algorithm->name) == 1;
        EXPECT_EQ(pieces(0, 1), 1);
        EXPECT_EQ(pieces(mebibyte / 4, 1), 1);
        EXPECT_EQ(pieces(mebibyte / 4 + 1, 1), cuts ? 2 : 1);
        EXPECT_EQ(pieces(mebibyte, 1), cuts ? 4 : 1);
        EXPECT_EQ(pieces(mebibyte, 2), cuts ? 2 : 1);
        EXPECT_EQ(pieces(1024 * mebibyte, 1), cuts ? 64 : 1);
    }
}

}  // namespace
}  // namespace ringscope
