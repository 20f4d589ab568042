// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernels/reduce.hpp"
#include "shared/buffers.hpp"

namespace ringscope {
namespace {

class ReduceOnGpu : public testing::Test {
  protected:
    void SetUp() override {
        int count = 0;
        if (const cudaError_t status = cudaGetDeviceCount(&count);
            status != cudaSuccess || count == 0) {
            GTEST_SKIP() << "no GPU: " << cudaGetErrorString(status);
        }
    }
};

TEST_F(ReduceOnGpu, SumsEveryElementAndTouchesNoOther) {
    constexpr int64_t guard = 8;
    for (const int64_t count : {0, 1, 3, 4, 5, 1023, 100'003, 5'000'000}) {
        for (const int64_t shift : {0, 1, 3}) {
            std::vector<float> target(static_cast<size_t>(count + 2 * guard));
            std::vector<float> source(target.size());
            for (size_t i = 0; i < target.size(); ++i) {
                target[i] = input_value(1, 0, static_cast<int64_t>(i));
                source[i] = input_value(1, 1, static_cast<int64_t>(i));
            }
            float* device = nullptr;
            const size_t bytes = target.size() * sizeof(float);
            ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 2 * bytes), cudaSuccess);
            float* device_source = device + target.size();
            ASSERT_EQ(cudaMemcpy(device, target.data(), bytes, cudaMemcpyHostToDevice),
                      cudaSuccess);
            ASSERT_EQ(cudaMemcpy(device_source, source.data(), bytes, cudaMemcpyHostToDevice),
                      cudaSuccess);
            const Status launched =
                launch_reduce_sum_float32(device + shift, device_source + shift, count, nullptr);
            ASSERT_TRUE(launched) << launched.error().message;
            std::vector<float> result(target.size());
            ASSERT_EQ(cudaMemcpy(result.data(), device, bytes, cudaMemcpyDeviceToHost),
                      cudaSuccess);
            ASSERT_EQ(cudaFree(device), cudaSuccess);
            for (int64_t i = 0; i < static_cast<int64_t>(result.size()); ++i) {
                const auto k = static_cast<size_t>(i);
                const bool inside = i >= shift && i < shift + count;
                ASSERT_EQ(result[k], inside ? target[k] + source[k] : target[k])
                    << count << " " << shift << " " << i;
            }
        }
    }
}

}  // namespace
}  // namespace ringscope
