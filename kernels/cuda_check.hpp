// SPDX-License-Identifier: Apache-2.0
// RS_CUDA(call): returns an Error from the enclosing function when a CUDA call fails.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include "shared/result.hpp"

namespace ringscope {

inline Error cuda_error(cudaError_t status, const char* call) {
    return plain_error(ErrorKind::device,
                       std::string("cuda: ") + call + ": " + cudaGetErrorName(status) + ": " +
                           cudaGetErrorString(status));
}

}  // namespace ringscope

#define RS_CUDA(call)                                                     \
    do {                                                                  \
        if (const cudaError_t status_ = (call); status_ != cudaSuccess) { \
            return ::ringscope::cuda_error(status_, #call);               \
        }                                                                 \
    } while (false)
