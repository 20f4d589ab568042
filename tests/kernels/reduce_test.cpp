// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.hpp"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(ReduceSplit, AlignedBuffersAreAllVectorsButTheRest) {
    EXPECT_EQ(split_for_vectors(0, 1600, 11), (ReduceSplit{0, 2, 3}));
    EXPECT_EQ(split_for_vectors(0, 0, 0), (ReduceSplit{0, 0, 0}));
}

TEST(ReduceSplit, AHeadLeadsToTheBoundary) {
    EXPECT_EQ(split_for_vectors(4, 20, 11), (ReduceSplit{3, 2, 0}));
    EXPECT_EQ(split_for_vectors(12, 28, 1), (ReduceSplit{1, 0, 0}));
    EXPECT_EQ(split_for_vectors(4, 4, 2), (ReduceSplit{2, 0, 0}));
}

TEST(ReduceSplit, BuffersAlignedDifferentlyGoElementByElement) {
    EXPECT_EQ(split_for_vectors(0, 4, 100), (ReduceSplit{0, 0, 100}));
}

TEST(ReduceSplit, EveryElementIsInExactlyOnePart) {
    for (uintptr_t target = 0; target < 64; target += 4) {
        for (uintptr_t source = 0; source < 64; source += 4) {
            for (int64_t count = 0; count < 40; ++count) {
                const ReduceSplit split = split_for_vectors(target, source, count);
                ASSERT_EQ(split.head_count + 4 * split.vector_count + split.tail_count, count);
                if (split.vector_count > 0) {
                    ASSERT_EQ((target + 4 * static_cast<uintptr_t>(split.head_count)) % 16, 0U);
                    ASSERT_EQ((source + 4 * static_cast<uintptr_t>(split.head_count)) % 16, 0U);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ringscope
