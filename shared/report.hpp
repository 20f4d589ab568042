// SPDX-License-Identifier: Apache-2.0
// Report: what a run comes to. Times, rates, bytes on each link, and what limits it, in one
// sentence.
//
//     ReportBuilder builder(run, schedule);
//     for (const Event& event : events) builder.add(event);
//     Report report = builder.finish(run);
//
// algbw = S / T; busbw = algbw x 2(N-1)/N for an all-reduce, x (N-1)/N for a reduce-scatter or an
// all-gather, x 1 for a broadcast or a reduce, as nccl-tests defines them (doc/PERFORMANCE.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/trace.hpp"

namespace ringscope {

struct LinkReport {
    int32_t source_rank = 0;
    int32_t target_rank = 0;
    int64_t message_count = 0;  // over all iterations, as is busy_ps
    int64_t bytes = 0;          // of one iteration
    int64_t busy_ps = 0;        // sum of the hops' durations

    bool operator==(const LinkReport&) const = default;
};

struct Report {
    int64_t iteration_count = 0;
    int64_t duration_ps = 0;  // of the median iteration; all rates follow it
    int64_t min_ps = 0;
    int64_t message_count = 0;        // of one iteration
    int64_t wire_bytes_per_rank = 0;  // the most that any rank sends in one iteration
    int64_t algbw_bytes_per_s = 0;
    int64_t busbw_bytes_per_s = 0;
    int64_t lower_bound_ps =
        0;  // 2(N-1)/N S/B at the fastest bandwidth of the run; 0 when measured
    std::vector<LinkReport> links;  // by source and target rank
    std::string bottleneck;

    bool operator==(const Report&) const = default;
};

class ReportBuilder {
  public:
    ReportBuilder(const RunSpec& run, const Schedule& schedule);

    void add(const Event& event);
    // Of what was added so far; `run` may have gained changes since the constructor.
    Report finish(const RunSpec& run) const;

  private:
    struct Span {
        int64_t begin_ps = INT64_MAX;
        int64_t end_ps = 0;
    };

    Schedule schedule_;
    bool simulated_;
    std::vector<Span> iterations_;
    std::map<std::pair<int32_t, int32_t>, LinkReport> links_;
    int64_t event_count_ = 0;
};

Report make_report(const Trace& trace);

// T >= 2(N-1)/N S/B for any all-reduce without sums inside the network: each rank must send and
// receive that much. Source: Patarasuk and Yuan 2009, section 3.
int64_t lower_bound_ps(const Problem& problem, int64_t bandwidth_bytes_per_s);

}  // namespace ringscope
