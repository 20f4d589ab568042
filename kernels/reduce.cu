// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda_check.hpp"
#include "kernels/reduce.hpp"

namespace ringscope {
namespace {

constexpr int threads_per_block = 512;
constexpr int vectors_in_flight = 4;  // 16-byte loads that a thread has under way before it adds
constexpr int blocks_per_multiprocessor = 4;

// Any grid of any number of blocks, each of threads_per_block. All threads stride over the vectors
// together, a tile of vectors_in_flight per thread at a time, so that neighbours load neighbouring
// 16 bytes. The few single elements before and after go to the first threads of the grid. Nothing
// is shared between threads, so no memory order is relied upon.
__global__ void __launch_bounds__(threads_per_block)
    reduce_sum_float32(float* __restrict__ target,
                       const float* __restrict__ source,
                       ReduceSplit split) {
    const int64_t thread = int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    const int64_t thread_count = int64_t{gridDim.x} * threads_per_block;

    for (int64_t i = thread; i < split.head_count; i += thread_count) {
        target[i] += source[i];
    }
    auto* const target_vectors = reinterpret_cast<float4*>(target + split.head_count);
    const auto* const source_vectors = reinterpret_cast<const float4*>(source + split.head_count);
    int64_t i = thread;
    for (; i + (vectors_in_flight - 1) * thread_count < split.vector_count;
         i += vectors_in_flight * thread_count) {
        float4 a[vectors_in_flight];
        float4 b[vectors_in_flight];
#pragma unroll
        for (int k = 0; k < vectors_in_flight; ++k) {
            a[k] = target_vectors[i + k * thread_count];
            b[k] = source_vectors[i + k * thread_count];
        }
#pragma unroll
        for (int k = 0; k < vectors_in_flight; ++k) {
            target_vectors[i + k * thread_count] =
                make_float4(a[k].x + b[k].x, a[k].y + b[k].y, a[k].z + b[k].z, a[k].w + b[k].w);
        }
    }
    for (; i < split.vector_count; i += thread_count) {
        const float4 a = target_vectors[i];
        const float4 b = source_vectors[i];
        target_vectors[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    const int64_t tail_begin = split.head_count + 4 * split.vector_count;
    for (int64_t k = thread; k < split.tail_count; k += thread_count) {
        target[tail_begin + k] += source[tail_begin + k];
    }
}

}  // namespace

Status launch_reduce_sum_float32(float* target,
                                 const float* source,
                                 int64_t element_count,
                                 void* stream) {
    if (element_count == 0) {
        return Done{};  // CUDA refuses an empty grid
    }
    int device = 0;
    int multiprocessor_count = 0;
    RS_CUDA(cudaGetDevice(&device));
    RS_CUDA(cudaDeviceGetAttribute(&multiprocessor_count, cudaDevAttrMultiProcessorCount, device));
    const ReduceSplit split = split_for_vectors(
        reinterpret_cast<uintptr_t>(target), reinterpret_cast<uintptr_t>(source), element_count);
    const int64_t wanted = (split.vector_count + split.tail_count) / threads_per_block + 1;
    const int64_t resident = int64_t{multiprocessor_count} * blocks_per_multiprocessor;
    const auto block_count = static_cast<unsigned>(wanted < resident ? wanted : resident);
    reduce_sum_float32<<<block_count, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
        target, source, split);
    RS_CUDA(cudaGetLastError());
    return Done{};
}

}  // namespace ringscope
