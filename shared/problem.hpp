// SPDX-License-Identifier: Apache-2.0
// Problem: which collective over how much data. Says nothing of how, where or when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringscope {

enum class Collective : uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, reduce };
enum class ElementType : uint8_t { float32 };
enum class ReduceOp : uint8_t { sum };

// By enumerator; of the last two also what a run line may say.
inline constexpr std::array<std::string_view, 5> collective_names{
    "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce"};
inline constexpr std::array<std::string_view, 1> element_type_names{"float32"};
inline constexpr std::array<std::string_view, 1> reduce_op_names{"sum"};

constexpr std::string_view collective_name(Collective collective) {
    return collective_names[static_cast<size_t>(collective)];
}

constexpr std::string_view element_type_name(ElementType type) {
    return element_type_names[static_cast<size_t>(type)];
}

constexpr std::string_view reduce_op_name(ReduceOp op) {
    return reduce_op_names[static_cast<size_t>(op)];
}

inline constexpr int32_t rank_count_max = 4096;

// Every rank has a buffer of element_count elements. What is in it before and after:
//
// - all-reduce: everybody's own input; everybody the sum over all ranks.
// - reduce-scatter: everybody's own input; each rank the sum in its own chunks.
// - all-gather: each rank its input in its own chunks; everybody all of them.
// - broadcast: rank 0 its input; everybody that.
// - reduce: everybody's own input; rank 0 the sum.
struct Problem {
    Collective collective = Collective::all_reduce;
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
