// SPDX-License-Identifier: Apache-2.0
#include "shared/buffers.hpp"

#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

TEST(Buffers, InputsAreWholeNumbersFromOneToNinetyNineAndAllOccur) {
    std::vector<int> seen(100, 0);
    for (int64_t element = 0; element < 10'000; ++element) {
        const float value = input_value(1, static_cast<int32_t>(element % 8), element);
        ASSERT_GE(value, 1.0F);
        ASSERT_LE(value, 99.0F);
        ASSERT_EQ(value, static_cast<float>(static_cast<int>(value)));
        ++seen[static_cast<size_t>(value)];
    }
    for (size_t value = 1; value <= 99; ++value) {
        EXPECT_GT(seen[value], 40) << value;  // 101 on average
    }
}

TEST(Buffers, SeedsRanksAndElementsDiffer) {
    int same = 0;
    for (int64_t element = 0; element < 1000; ++element) {
        same += input_value(1, 0, element) == input_value(1, 1, element) ? 1 : 0;
        same += input_value(1, 0, element) == input_value(2, 0, element) ? 1 : 0;
    }
    EXPECT_LT(same, 60);  // about 2 in 99 by chance
}

TEST(Buffers, TheExpectedSumIsExactAtTheMostRanks) {
    const Problem problem{.rank_count = rank_count_max, .element_count = 1};
    int64_t sum = 0;
    for (int32_t rank = 0; rank < rank_count_max; ++rank) {
        sum += static_cast<int64_t>(input_value(5, rank, 0));
    }
    EXPECT_EQ(static_cast<int64_t>(expected_value(*build_schedule("ring", problem), 5, 0, 0)), sum);
}

TEST(Buffers, AMissingADoubledAndADamagedInputAreEachNoticed) {
    const Schedule schedule = *build_schedule("ring", {.rank_count = 2, .element_count = 6});
    const Transfer first{.step = 0,
                         .source_rank = 0,
                         .target_rank = 1,
                         .action = Action::reduce,
                         .chunk_begin = 0,
                         .chunk_count = 2};
    const Transfer second{.step = 1,
                          .source_rank = 1,
                          .target_rank = 0,
                          .action = Action::copy,
                          .chunk_begin = 0,
                          .chunk_count = 2};
    Buffers right(schedule, 1);
    right.write(first, right.read(first));
    EXPECT_FALSE(right.complete());  // rank 0 still misses rank 1's input
    right.write(second, right.read(second));
    EXPECT_TRUE(right.complete());

    Buffers doubled(schedule, 1);
    doubled.write(first, doubled.read(first));
    doubled.write(first, doubled.read(first));
    doubled.write(second, doubled.read(second));
    EXPECT_FALSE(doubled.complete());

    Buffers damaged(schedule, 1);
    auto payload = damaged.read(first);
    payload.back() ^= 1U << 22;  // a bit of the last value's mantissa
    damaged.write(first, payload);
    damaged.write(second, damaged.read(second));
    EXPECT_FALSE(damaged.complete());
}

TEST(Buffers, ALargeProblemIsHeldByTheFirstElementOfEachChunk) {
    const Schedule schedule =
        *build_schedule("ring", {.rank_count = 8, .element_count = int64_t{1} << 30});
    const Buffers buffers(schedule, 3);
    EXPECT_EQ(buffers.samples(5), 1);
    EXPECT_EQ(buffers.value(2, 5, 0), input_value(3, 2, schedule.chunk_element_begin(5)));
}

}  // namespace
}  // namespace ringscope
