// SPDX-License-Identifier: Apache-2.0
#include "shared/report.hpp"

#include <algorithm>
#include <tuple>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

// A link stands out when its hops take this many times as long as they should beside the median
// link.
constexpr double slow_link_factor = 1.15;

// algbw times the part of the buffer that each rank must send or receive: nccl-tests,
// doc/PERFORMANCE.md.
int64_t busbw(const Problem& problem, int64_t algbw_bytes_per_s) {
    const int64_t rank_count = problem.rank_count;
    const int64_t algbw = std::min(algbw_bytes_per_s, INT64_MAX / 2);  // the factor is below 2
    switch (problem.collective) {
        case Collective::all_reduce:
            return multiply_divide(algbw, 2 * (rank_count - 1), rank_count);
        case Collective::reduce_scatter:
        case Collective::all_gather:
            return multiply_divide(algbw, rank_count - 1, rank_count);
        case Collective::broadcast:
        case Collective::reduce:
            break;
    }
    return algbw;
}

int64_t fastest_bandwidth(const RunSpec& run) {
    int64_t fastest = run.bandwidth_bytes_per_s;
    const auto widen = [&](const Knob& knob) {
        if (knob.kind == Knob::Kind::bandwidth || knob.kind == Knob::Kind::link_bandwidth) {
            fastest = std::max(fastest, knob.value);
        }
    };
    std::for_each(run.settings.begin(), run.settings.end(), widen);
    for (const Change& change : run.changes) {
        widen(change.knob);
    }
    return fastest;
}

// Rounded to the nearest tenth; the other part is what is missing to 100 %.
int64_t permille_of(int64_t part, int64_t whole) {
    return whole > 0 ? multiply_divide(part, 1000, whole) +
                           (multiply_divide(part, 10'000, whole) % 10 >= 5 ? 1 : 0)
                     : 0;
}

std::string percent(int64_t permille) {
    return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
}

std::string plural(int64_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

const LinkReport& median_link(std::vector<const LinkReport*> links) {
    std::sort(links.begin(), links.end(), [](const LinkReport* a, const LinkReport* b) {
        return std::tuple(a->busy_ps, a->source_rank, a->target_rank) <
               std::tuple(b->busy_ps, b->source_rank, b->target_rank);
    });
    return *links[(links.size() - 1) / 2];
}

// Names the link whose hops took longest in all, when that is clearly more than the median link's
// and than its share of the bytes explains; empty when no link stands out.
std::string name_slow_link(const std::vector<LinkReport>& links) {
    std::vector<const LinkReport*> all;
    for (const LinkReport& link : links) {
        all.push_back(&link);
    }
    const LinkReport& median = median_link(all);
    const LinkReport& slowest =
        **std::max_element(all.begin(), all.end(), [](const LinkReport* a, const LinkReport* b) {
            return a->busy_ps < b->busy_ps;
        });
    const double share = slowest.bytes <= median.bytes
                             ? 1
                             : static_cast<double>(slowest.bytes) /
                                   static_cast<double>(std::max<int64_t>(1, median.bytes));
    if (static_cast<double>(slowest.busy_ps) <=
        static_cast<double>(median.busy_ps) * share * slow_link_factor) {
        return "";
    }
    return "Link " + std::to_string(slowest.source_rank) + "->" +
           std::to_string(slowest.target_rank) + " is the slowest: its " +
           plural(slowest.message_count, "hop") + " took " + show_time(slowest.busy_ps) +
           " in all, the median link's " + show_time(median.busy_ps) + ".";
}

// Names the rank that starts last, when that is a good part of the run.
std::string name_late_rank(const RunSpec& run, int64_t duration_ps) {
    const Knob* last = nullptr;
    for (const Knob& knob : run.settings) {
        if (knob.kind == Knob::Kind::rank_start && (last == nullptr || knob.value > last->value)) {
            last = &knob;
        }
    }
    if (last == nullptr || last->value < duration_ps / 10) {
        return "";
    }
    return "Rank " + std::to_string(last->rank) + " limits: it starts " + show_time(last->value) +
           " late, " + percent(permille_of(last->value, duration_ps)) + " of the " +
           show_time(duration_ps) + ".";
}

// Where the time of a simulated run on equal links goes: into latency or into bytes.
std::string split_time(const RunSpec& run, const Schedule& schedule, int64_t duration_ps) {
    const int64_t latency_ps = std::min(schedule.step_count * run.latency_ps, duration_ps);
    const int64_t wire_ps = duration_ps - latency_ps;
    const int64_t latency_permille = permille_of(latency_ps, duration_ps);
    const std::string in_latency = percent(latency_permille);
    const std::string on_the_wire = percent(1000 - latency_permille);
    const std::string steps = plural(schedule.step_count, "step");
    if (wire_ps >= latency_ps) {
        return "Bandwidth limits: " + on_the_wire + " of " + show_time(duration_ps) + " is " +
               steps +
               (schedule.problem.element_count % schedule.chunk_count == 0 ? " of "
                                                                           : " of up to ") +
               show_bytes(schedule.chunk_element_count(0) *
                          element_bytes(schedule.problem.element_type)) +
               " at " + show_bandwidth(run.bandwidth_bytes_per_s) + "; latency is " + in_latency +
               ".";
    }
    return "Latency limits: " + in_latency + " of " + show_time(duration_ps) + " is " + steps +
           " of " + show_time(run.latency_ps) + "; moving the bytes is only " + on_the_wire + ".";
}

std::string find_bottleneck(const RunSpec& run, const Schedule& schedule, const Report& report) {
    if (schedule.problem.rank_count == 1) {
        return "One rank alone has nothing to send.";
    }
    if (report.links.empty()) {
        return "No hop ended.";
    }
    if (report.duration_ps == 0) {
        return "Nothing took any time.";
    }
    if (std::string late = name_late_rank(run, report.duration_ps); !late.empty()) {
        return late;
    }
    if (std::string slow = name_slow_link(report.links); !slow.empty()) {
        return slow;
    }
    if (!run.changes.empty()) {
        return "All links fared alike; " +
               plural(static_cast<int64_t>(run.changes.size()), "knob") +
               " turned while it ran, so no single rate explains the " +
               show_time(report.duration_ps) + ".";
    }
    if (!run.settings.empty()) {
        return "No link stands out; the links or ranks set apart explain together what is over "
               "the " +
               show_time(lower_bound_ps(schedule.problem, run.bandwidth_bytes_per_s)) +
               " that the bytes need at " + show_bandwidth(run.bandwidth_bytes_per_s) + ".";
    }
    if (simulated(run)) {
        return split_time(run, schedule, report.duration_ps);
    }
    int64_t busy_ps = 0;
    int64_t hops = 0;
    for (const LinkReport& link : report.links) {
        busy_ps += link.busy_ps;
        hops += link.message_count;
    }
    const int64_t chunk_bytes =
        schedule.chunk_element_count(0) * element_bytes(schedule.problem.element_type);
    return "No link stands out: a hop of " + show_bytes(chunk_bytes) + " takes " +
           show_time(busy_ps / hops) + " on average, " +
           show_bandwidth(rate_bytes_per_s(chunk_bytes, busy_ps / hops)) + ".";
}

}  // namespace

ReportBuilder::ReportBuilder(const RunSpec& run, const Schedule& schedule)
    : schedule_(schedule),
      simulated_(simulated(run)),
      iterations_(static_cast<size_t>(run.iterations)) {}

void ReportBuilder::add(const Event& event) {
    Span& span = iterations_[static_cast<size_t>(event.iteration)];
    // A simulated run begins at 0, also when its first rank starts late.
    span.begin_ps = simulated_ ? 0 : std::min(span.begin_ps, event.begin_ps);
    span.end_ps = std::max(span.end_ps, event.end_ps);
    LinkReport& link = links_[{event.transfer.source_rank, event.transfer.target_rank}];
    link.source_rank = event.transfer.source_rank;
    link.target_rank = event.transfer.target_rank;
    ++link.message_count;
    link.bytes += event.bytes;
    // Saturates: a trace from elsewhere may claim anything.
    const int64_t room_ps = INT64_MAX - link.busy_ps;
    link.busy_ps += std::min(event.end_ps - event.begin_ps, room_ps);
    ++event_count_;
}

Report ReportBuilder::finish(const RunSpec& run) const {
    Report report;
    std::vector<int64_t> durations_ps;
    for (const Span& span : iterations_) {
        if (span.begin_ps <= span.end_ps) {
            durations_ps.push_back(span.end_ps - span.begin_ps);
        }
    }
    const int64_t seen = std::max<int64_t>(1, static_cast<int64_t>(durations_ps.size()));
    report.iteration_count = static_cast<int64_t>(durations_ps.size());
    if (!durations_ps.empty()) {
        std::sort(durations_ps.begin(), durations_ps.end());
        report.duration_ps = durations_ps[(durations_ps.size() - 1) / 2];
        report.min_ps = durations_ps.front();
    }
    report.message_count = event_count_ / seen;
    std::map<int32_t, int64_t> sent_bytes;
    for (const auto& [ranks, link] : links_) {
        report.links.push_back(link);
        report.links.back().bytes /= seen;
        report.wire_bytes_per_rank = std::max(
            report.wire_bytes_per_rank, sent_bytes[link.source_rank] += report.links.back().bytes);
    }
    report.algbw_bytes_per_s =
        rate_bytes_per_s(buffer_bytes(schedule_.problem), report.duration_ps);
    report.busbw_bytes_per_s = busbw(schedule_.problem, report.algbw_bytes_per_s);
    report.lower_bound_ps =
        simulated(run) ? lower_bound_ps(schedule_.problem, fastest_bandwidth(run)) : 0;
    report.bottleneck = find_bottleneck(run, schedule_, report);
    return report;
}

Report make_report(const Trace& trace) {
    const auto schedule = build_schedule(trace.run);
    RS_CHECK(schedule);
    ReportBuilder builder(trace.run, *schedule);
    for (const Event& event : trace.events) {
        builder.add(event);
    }
    return builder.finish(trace.run);
}

int64_t lower_bound_ps(const Problem& problem, int64_t bandwidth_bytes_per_s) {
    const int64_t rank_count = problem.rank_count;
    const int64_t sent_bytes =
        multiply_divide(buffer_bytes(problem), 2 * (rank_count - 1), rank_count);
    return multiply_divide(sent_bytes, ps_per_s, bandwidth_bytes_per_s);
}

}  // namespace ringscope
