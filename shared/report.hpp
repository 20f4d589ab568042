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

#include "shared/critical_path.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/trace.hpp"

namespace ringscope {

// What one rank sent to another.
struct LinkReport {
    int32_t source_rank = 0;
    int32_t target_rank = 0;
    int64_t message_count = 0;  // over all iterations, as is busy_ps
    int64_t bytes = 0;          // of one iteration
    int64_t busy_ps = 0;        // sum of the hops' durations

    bool operator==(const LinkReport&) const = default;
};

// What went over one link of the topology, in a simulation.
struct CableReport {
    std::string name;          // "gpu3-nvswitch0"
    int64_t bytes = 0;         // of one iteration
    int64_t busy_ps = 0;       // they take this long at the link's full rate
    int32_t use_permille = 0;  // that, of the duration

    bool operator==(const CableReport&) const = default;
};

struct RankReport {
    int64_t busy_ps = 0;  // sending or receiving, over all iterations
    int64_t idle_ps = 0;  // the rest

    bool operator==(const RankReport&) const = default;
};

struct Report {
    int64_t iteration_count = 0;
    int64_t duration_ps = 0;  // of the median iteration; all rates follow it
    int64_t min_ps = 0;
    int64_t message_count = 0;        // of one iteration
    int64_t wire_bytes_per_rank = 0;  // the most that any rank sends in one iteration
    int64_t algbw_bytes_per_s = 0;
    int64_t busbw_bytes_per_s = 0;
    int64_t lower_bound_ps = 0;     // see lower_bound_ps(); 0 when measured
    std::vector<LinkReport> links;  // by source and target rank
    std::string bottleneck;

    // Only of runs with at most detail_event_count_max hops:
    bool detailed = false;
    std::vector<CableReport> cables;     // most used first
    std::vector<RankReport> ranks;       // [participant]
    CriticalPath path;                   // of the last round
    std::vector<std::string> path_text;  // its hops in words, the last ones of a long path

    bool operator==(const Report&) const = default;
};

inline constexpr int64_t detail_event_count_max = int64_t{1} << 18;

class ReportBuilder {
  public:
    ReportBuilder(const RunSpec& run, const Schedule& schedule);

    void add(const Event& event);
    // Those that a trace tells; before finish().
    void add_rounds(const std::vector<Round>& rounds) { rounds_ = rounds; }
    // Of what was added so far; `run` may have gained changes since the constructor.
    Report finish(const RunSpec& run) const;

  private:
    struct Span {
        int64_t begin_ps = INT64_MAX;
        int64_t end_ps = 0;
    };

    LinkReport& link(int32_t source_rank, int32_t target_rank);
    int32_t iteration_of(int32_t round) const;
    void measure_iterations(Report& report) const;
    void add_details(const RunSpec& run, Report& report) const;

    Schedule schedule_;
    bool simulated_;
    std::vector<Span> spans_;  // [round]
    std::vector<Round> rounds_;
    std::vector<std::vector<LinkReport>> links_;  // [source] in order of first use
    std::vector<size_t> last_link_;               // [source] place of the last one used
    std::vector<Event> events_;                   // while there are few enough
    int64_t event_count_ = 0;
};

Report make_report(const Trace& trace);

// What no schedule can beat on this topology with these rates, whatever else happens: all ranks
// together must send 2(N-1) S for an all-reduce (Patarasuk and Yuan 2009, section 3), (N-1) S for
// any other collective, and each of them as much as it has to give or take; the same holds for
// whole hosts and their ways out. On equal links it is 2(N-1)/N S/B. A switch that reduces needs
// less: then S/B.
int64_t lower_bound_ps(const Schedule& schedule, const Topology& topology);

}  // namespace ringscope
