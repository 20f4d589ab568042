// SPDX-License-Identifier: Apache-2.0
#include "shared/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace ringscope {

void check_failed(const char* condition, const char* file, int line) {
    std::fprintf(
        stderr, "ringscope: broken promise in our own code: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace ringscope
