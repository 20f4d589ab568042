// SPDX-License-Identifier: Apache-2.0
// Problem: which collective over how much data. Says nothing of how, where or when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringscope {

enum class ElementType : uint8_t { float32 };
enum class ReduceOp : uint8_t { sum };

// By enumerator; also what a run line may say.
inline constexpr std::array<std::string_view, 1> element_type_names{"float32"};
inline constexpr std::array<std::string_view, 1> reduce_op_names{"sum"};

constexpr std::string_view element_type_name(ElementType type) {
    return element_type_names[static_cast<size_t>(type)];
}

constexpr std::string_view reduce_op_name(ReduceOp op) {
    return reduce_op_names[static_cast<size_t>(op)];
}

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
