// SPDX-License-Identifier: Apache-2.0
// CPU time and memory of this process, natively and under node: other processes disturb the CPU
// time much less than the time on the wall.
#pragma once

#include <cstdint>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>

// WebAssembly has no clock of its own for this.
EM_JS(double, node_cpu_us, (), {
    const usage = process.cpuUsage();
    return usage.user + usage.system;
});
#else
#include <sys/resource.h>
#endif

namespace ringscope::bench {

#ifdef __EMSCRIPTEN__
inline double cpu_seconds() {
    return node_cpu_us() / 1e6;
}

inline int64_t peak_memory_bytes() {
    return 0;  // node's own would drown it
}
#else
inline double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline int64_t peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
}
#endif

}  // namespace ringscope::bench
