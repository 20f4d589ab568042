// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is and what memory it takes, for one run line:
//
//     simulator_bench RUN-LINE BATCHES SECONDS
//
// A batch simulates the run again and again for at least SECONDS of CPU time. Prints one JSON
// object: the messages of one run, the CPU seconds of one run in the best batch, and the most
// memory this process ever held.
#include "shared/simulator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tests/bench/cpu_time.hpp"

namespace ringscope::bench {
namespace {

// The simulated time between two looks at the events. Short enough for a few thousand of them to
// wait, long enough for the looking not to count; the same for every run, however its events lie.
constexpr int64_t slice_ps = 20'000'000;

// Returns the number of messages, or -1 after saying why there are none.
int64_t simulate_once(const RunSpec& run) {
    auto simulator = Simulator::create(run);
    if (!simulator) {
        std::fprintf(stderr, "simulator_bench: %s\n", simulator.error().message.c_str());
        return -1;
    }
    int64_t message_count = 0;
    int64_t time_ps = 0;
    while (!simulator->done()) {
        time_ps = std::max(time_ps + slice_ps, simulator->next_event_ps());
        simulator->advance_to(time_ps);
        message_count += static_cast<int64_t>(simulator->take_events().size());
    }
    return message_count;
}

int measure(const char* run_line, int batch_count, double batch_s) {
    const auto run = parse_run(run_line);
    if (!run) {
        std::fprintf(stderr, "simulator_bench: %s\n", run.error().message.c_str());
        return 2;
    }
    int64_t message_count = 0;
    double best_s = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < batch_count; ++batch) {
        const double begin_s = cpu_seconds();
        double passed_s = 0;
        int64_t repetition_count = 0;
        do {
            message_count = simulate_once(*run);
            if (message_count < 0) {
                return 3;
            }
            ++repetition_count;
            passed_s = cpu_seconds() - begin_s;
        } while (passed_s < batch_s);
        best_s = std::min(best_s, passed_s / static_cast<double>(repetition_count));
    }
    std::printf("{\"messages\":%lld,\"cpu_s\":%.9g,\"peak_bytes\":%lld}\n",
                static_cast<long long>(message_count),
                best_s,
                static_cast<long long>(peak_memory_bytes()));
    return 0;
}

}  // namespace
}  // namespace ringscope::bench

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: simulator_bench RUN-LINE BATCHES SECONDS\n");
        return 2;
    }
    return ringscope::bench::measure(argv[1], std::atoi(argv[2]), std::atof(argv[3]));
}
