// SPDX-License-Identifier: Apache-2.0
// The sum of a ring's hop on one GPU: target[i] += source[i] over float32.
//
// Plain types only, so that code compiled without CUDA can include it; reduce.cu has the kernel.
// No engine calls it yet.
#pragma once

#include <cstdint>

#include "shared/result.hpp"

namespace ringscope {

// How a run of elements is cut so that its middle can be moved in 16-byte pieces.
struct ReduceSplit {
    int64_t head_count = 0;    // single elements up to the first 16-byte boundary
    int64_t vector_count = 0;  // pieces of four elements
    int64_t tail_count = 0;    // single elements after them

    bool operator==(const ReduceSplit&) const = default;
};

// Addresses in bytes, multiples of 4. When source and target are not aligned alike, all of it is
// tail.
constexpr ReduceSplit split_for_vectors(uintptr_t target, uintptr_t source, int64_t element_count) {
    if (target % 16 != source % 16) {
        return {0, 0, element_count};
    }
    const auto to_boundary = static_cast<int64_t>((16 - target % 16) % 16 / 4);
    const int64_t head_count = to_boundary < element_count ? to_boundary : element_count;
    const int64_t rest = element_count - head_count;
    return {head_count, rest / 4, rest % 4};
}

// Adds source to target, both on the current device, in the order of `stream` (a cudaStream_t; null
// is the default stream). Returns once the kernel is launched. Errors: what CUDA reports, as
// ErrorKind::device.
Status launch_reduce_sum_float32(float* target,
                                 const float* source,
                                 int64_t element_count,
                                 void* stream);

}  // namespace ringscope
