// SPDX-License-Identifier: Apache-2.0
// Problem: which collective over how much data. Says nothing of how, where or when.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringscope {

enum class ElementType : uint8_t { float32 };
enum class ReduceOp : uint8_t { sum };

inline constexpr int32_t rank_count_max = 4096;

// An all-reduce: every rank holds element_count elements and shall end with their sum over all
// ranks.
struct Problem {
    int32_t rank_count = 8;
    int64_t element_count = 0;  // per rank; may be 0 or smaller than rank_count
    ElementType element_type = ElementType::float32;
    ReduceOp reduce_op = ReduceOp::sum;

    bool operator==(const Problem&) const = default;
};

constexpr int64_t element_bytes(ElementType type) {
    switch (type) {
        case ElementType::float32:
            return 4;
    }
    return 0;
}

// Bytes of one rank's buffer: S in the formulas.
constexpr int64_t buffer_bytes(const Problem& problem) {
    return problem.element_count * element_bytes(problem.element_type);
}

}  // namespace ringscope
