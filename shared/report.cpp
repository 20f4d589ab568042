// SPDX-License-Identifier: Apache-2.0
#include "shared/report.hpp"

#include <algorithm>
#include <tuple>

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

// The topology with every link as fast as it ever is in this run: for bounds.
Topology at_its_fastest(const RunSpec& run) {
    auto topology = build_topology(run);
    RS_CHECK(topology);
    Topology fastest = *topology;
    Topology now = *topology;
    for (const Change& change : run.changes) {
        (void)now.apply(change.knob);
        for (size_t i = 0; i < now.links.size(); ++i) {
            int64_t& most = fastest.links[i].bandwidth_bytes_per_s;
            most = std::max(most, now.links[i].bandwidth_bytes_per_s);
        }
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

// "14 steps of 8 MiB", "14 steps of 4 x 2 MiB" in four lanes, or, where steps are not alike,
// "112 MiB from a rank in 6 steps".
std::string name_bytes(const Schedule& schedule, const Report& report, const std::string& steps) {
    const int64_t element = element_bytes(schedule.problem.element_type);
    const int64_t chunk_bytes = schedule.chunk_element_count(0) * element;
    const int64_t chunk_count = int64_t{schedule.step_count} * schedule.lane_count;
    const int64_t missing = chunk_count * chunk_bytes - report.wire_bytes_per_rank;
    if (missing < 0 || missing > chunk_count * element) {
        return show_bytes(report.wire_bytes_per_rank) + " from a rank in " + steps;
    }
    const bool even = schedule.problem.element_count % schedule.chunk_count == 0;
    const std::string lanes =
        schedule.lane_count == 1 ? "" : std::to_string(schedule.lane_count) + " x ";
    return steps + (even ? " of " : " of up to ") + lanes + show_bytes(chunk_bytes);
}

// Of the link that is used most.
int64_t binding_rate(const Topology& topology, const RunSpec& run, const Report& report) {
    for (size_t i = 0; i < topology.links.size() && !report.cables.empty(); ++i) {
        if (topology.link_name(static_cast<int32_t>(i)) == report.cables.front().name) {
            return topology.links[i].bandwidth_bytes_per_s;
        }
    }
    return run.bandwidth_bytes_per_s;
}

// Where the time of a simulated run on equal links goes: into latency or into bytes.
std::string split_time(const RunSpec& run,
                       const Schedule& schedule,
                       const Topology& topology,
                       const Report& report) {
    const int64_t duration_ps = report.duration_ps;
    const int64_t latency_ps = report.detailed
                                   ? report.path.split.latency_ps
                                   : std::min(schedule.step_count * run.latency_ps, duration_ps);
    const int64_t wire_ps = duration_ps - latency_ps;
    const int64_t latency_permille = permille_of(latency_ps, duration_ps);
    const std::string in_latency = percent(latency_permille);
    const std::string on_the_wire = percent(1000 - latency_permille);
    const std::string steps = plural(schedule.step_count, "step");
    if (wire_ps >= latency_ps) {
        return "Bandwidth limits: " + on_the_wire + " of " + show_time(duration_ps) + " is " +
               name_bytes(schedule, report, steps) + " at " +
               show_bandwidth(binding_rate(topology, run, report)) + "; latency is " + in_latency +
               ".";
    }
    const bool own_latencies = std::none_of(topology.links.begin(),
                                            topology.links.end(),
                                            [](const Link& link) { return link.follows_latency; });
    const std::string each = own_latencies
                                 ? " of about " + show_time(latency_ps / schedule.step_count)
                                 : " of " + show_time(run.latency_ps);
    return "Latency limits: " + in_latency + " of " + show_time(duration_ps) + " is " + steps +
           each + "; moving the bytes is only " + on_the_wire + ".";
}

// What the critical path says when something else than plain bytes and latency weighs on it.
std::string name_path_part(const Report& report) {
    const PathSplit& split = report.path.split;
    const int64_t duration_ps = std::max<int64_t>(1, split.total_ps());
    const auto share = [&](int64_t part_ps) { return percent(permille_of(part_ps, duration_ps)); };
    const int64_t most_ps = std::max({split.slow_link_ps, split.sharing_ps, split.late_ps});
    if (most_ps * 10 < duration_ps) {
        return "";
    }
    if (most_ps == split.sharing_ps) {
        const std::string where =
            report.cables.empty()
                ? ""
                : "; the most used link is " + report.cables.front().name + ", busy " +
                      percent(report.cables.front().use_permille) + " of the time";
        return "Sharing limits: waiting for others on the same links is " +
               share(split.sharing_ps) + " of the critical path" + where + ".";
    }
    if (most_ps == split.late_ps) {
        const auto last = std::find_if(report.path.hops.rbegin(),
                                       report.path.hops.rend(),
                                       [](const PathHop& hop) { return hop.wait_ps > 0; });
        const size_t place = static_cast<size_t>(report.path.hops.rend() - last) - 1;
        return "A late rank limits: waiting for one that could have sent is " +
               share(split.late_ps) + " of the critical path, " +
               (place < report.path_text.size() ? report.path_text[place] : std::string()) + ".";
    }
    return "A narrow link limits: what it adds to the time at the fastest link's rate is " +
           share(split.slow_link_ps) + " of the critical path.";
}

// After a failure, when most of the time had passed before the work began again.
std::string name_new_start(const std::vector<Round>& rounds, const Report& report) {
    if (report.iteration_count != 1 || rounds.empty() || rounds.back().why.empty() ||
        rounds.back().begin_ps < report.duration_ps / 2) {
        return "";
    }
    const int64_t begin_ps = rounds.back().begin_ps;
    return "A failure limits: the work began again after " + show_time(begin_ps) + ", " +
           percent(permille_of(begin_ps, report.duration_ps)) + " of the " +
           show_time(report.duration_ps) + ".";
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
    const bool alike = run.topology == "uniform" && schedule.channel_count == 1;
    if (alike || !simulated(run)) {
        if (std::string slow = name_slow_link(report.links); !slow.empty()) {
            return slow;
        }
    }
    if (simulated(run) && report.detailed) {
        if (std::string part = name_path_part(report); !part.empty()) {
            return part;
        }
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
               show_time(report.lower_bound_ps) + " that the bytes need at " +
               show_bandwidth(run.bandwidth_bytes_per_s) + ".";
    }
    if (simulated(run)) {
        const auto topology = build_topology(run);
        return split_time(run, schedule, topology ? *topology : Topology(), report);
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
      links_(static_cast<size_t>(schedule.participant_count)),
      last_link_(links_.size()) {}

LinkReport& ReportBuilder::link(int32_t source_rank, int32_t target_rank) {
    const auto source = static_cast<size_t>(source_rank);
    if (source >= links_.size()) {  // of a round with more ranks
        links_.resize(source + 1);
        last_link_.resize(source + 1);
    }
    std::vector<LinkReport>& known = links_[source];
    size_t& last = last_link_[source];
    if (last < known.size() && known[last].target_rank == target_rank) {
        return known[last];
    }
    const auto found = std::find_if(known.begin(), known.end(), [&](const LinkReport& link) {
        return link.target_rank == target_rank;
    });
    last = static_cast<size_t>(found - known.begin());
    if (found == known.end()) {
        known.push_back({.source_rank = source_rank, .target_rank = target_rank});
    }
    return known[last];
}

void ReportBuilder::add(const Event& event) {
    if (static_cast<size_t>(event.iteration) >= spans_.size()) {
        spans_.resize(static_cast<size_t>(event.iteration) + 1);
    }
    Span& span = spans_[static_cast<size_t>(event.iteration)];
    span.begin_ps = std::min(span.begin_ps, event.begin_ps);
    span.end_ps = std::max(span.end_ps, event.end_ps);
    LinkReport& used = link(event.transfer.source_rank, event.transfer.target_rank);
    ++used.message_count;
    used.bytes += event.bytes;
    // Saturates: a trace from elsewhere may claim anything.
    const int64_t room_ps = INT64_MAX - used.busy_ps;
    used.busy_ps += std::min(event.end_ps - event.begin_ps, room_ps);
    ++event_count_;
    if (event_count_ <= detail_event_count_max) {
        events_.push_back(event);
    } else if (!events_.empty()) {
        events_ = {};
    }
}

// Rounds that are not told follow one per iteration.
int32_t ReportBuilder::iteration_of(int32_t round) const {
    int32_t iteration = round;
    for (const Round& told : rounds_) {
        if (told.index <= round) {
            iteration = told.iteration + (round - told.index);
        }
    }
    return iteration;
}

// From the first begin to the last end of each; a simulated one begins when the one before ended.
void ReportBuilder::measure_iterations(Report& report) const {
    std::map<int32_t, Span> iterations;
    for (size_t round = 0; round < spans_.size(); ++round) {
        const Span& span = spans_[round];
        if (span.begin_ps <= span.end_ps) {
            Span& whole = iterations[iteration_of(static_cast<int32_t>(round))];
            whole.begin_ps = std::min(whole.begin_ps, span.begin_ps);
            whole.end_ps = std::max(whole.end_ps, span.end_ps);
        }
    }
    std::vector<int64_t> durations_ps;
    int64_t last_end_ps = 0;
    for (const auto& [iteration, span] : iterations) {
        durations_ps.push_back(span.end_ps - (simulated_ ? last_end_ps : span.begin_ps));
        last_end_ps = span.end_ps;
    }
    report.iteration_count = static_cast<int64_t>(durations_ps.size());
    if (!durations_ps.empty()) {
        std::sort(durations_ps.begin(), durations_ps.end());
        report.duration_ps = durations_ps[(durations_ps.size() - 1) / 2];
        report.min_ps = durations_ps.front();
    }
}

namespace {

std::string in_words(const Event& event, const PathHop& hop) {
    const Transfer& transfer = event.transfer;
    std::string text = "step " + std::to_string(transfer.step) + ", rank " +
                       std::to_string(transfer.source_rank) + " to rank " +
                       std::to_string(transfer.target_rank) + ": " +
                       show_time(event.end_ps - event.begin_ps);
    switch (hop.reason) {
        case Reason::start:
            return text + ", from the start";
        case Reason::data:
            return text + ", as soon as its data was there";
        case Reason::link:
            return text + ", after the message before it had left";
        case Reason::late:
            return text + ", " + show_time(hop.wait_ps) + " after it could have begun";
    }
    return text;
}

// Sum of the union of each participant's hops. They come in order of their end, so a new one only
// ever swallows or joins the last of those known.
std::vector<RankReport> measure_ranks(const Schedule& schedule,
                                      const std::vector<Event>& events,
                                      int64_t whole_ps) {
    using Spans = std::vector<std::pair<int64_t, int64_t>>;
    std::vector<Spans> spans(static_cast<size_t>(schedule.participant_count));
    for (const Event& event : events) {
        for (const int32_t rank : {event.transfer.source_rank, event.transfer.target_rank}) {
            if (static_cast<size_t>(rank) >= spans.size()) {
                spans.resize(static_cast<size_t>(rank) + 1);
            }
            Spans& own = spans[static_cast<size_t>(rank)];
            int64_t begin_ps = event.begin_ps;
            while (!own.empty() && own.back().second >= begin_ps) {
                begin_ps = std::min(begin_ps, own.back().first);
                own.pop_back();
            }
            own.emplace_back(begin_ps, event.end_ps);
        }
    }
    std::vector<RankReport> ranks;
    for (const Spans& own : spans) {
        RankReport rank;
        for (const auto& [begin_ps, end_ps] : own) {
            rank.busy_ps += end_ps - begin_ps;
        }
        rank.idle_ps = std::max<int64_t>(0, whole_ps - rank.busy_ps);
        ranks.push_back(rank);
    }
    return ranks;
}

std::vector<CableReport> measure_cables(const Topology& topology,
                                        const std::vector<LinkReport>& links,
                                        int64_t duration_ps) {
    Router router(topology);
    std::vector<int64_t> bytes(topology.links.size(), 0);
    const auto node = [&](int32_t participant) {
        return participant < std::ssize(topology.rank_nodes)
                   ? topology.rank_nodes[static_cast<size_t>(participant)]
                   : topology.reducing_node;
    };
    for (const LinkReport& link : links) {
        if (node(link.source_rank) < 0 || node(link.target_rank) < 0) {
            continue;
        }
        for (const int32_t index :
             router.route(node(link.source_rank), node(link.target_rank), 0)) {
            bytes[static_cast<size_t>(index)] += link.bytes;
        }
    }
    std::vector<CableReport> cables;
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == 0) {
            continue;
        }
        CableReport cable;
        cable.name = topology.link_name(static_cast<int32_t>(i));
        cable.bytes = bytes[i];
        cable.busy_ps = saturating_transfer_ps(bytes[i], topology.links[i].bandwidth_bytes_per_s);
        cable.use_permille = static_cast<int32_t>(std::min<int64_t>(
            1000, permille_of(std::min(cable.busy_ps, duration_ps), duration_ps)));
        cables.push_back(std::move(cable));
    }
    std::sort(cables.begin(), cables.end(), [](const CableReport& a, const CableReport& b) {
        return std::tuple(-a.use_permille, a.name) < std::tuple(-b.use_permille, b.name);
    });
    return cables;
}

}  // namespace

void ReportBuilder::add_details(const RunSpec& run, Report& report) const {
    constexpr size_t path_text_max = 100;
    report.detailed = true;
    const int32_t last_round = events_.back().iteration;
    const auto first = std::find_if(events_.begin(), events_.end(), [&](const Event& event) {
        return event.iteration == last_round;
    });
    const std::span<const Event> last(first, events_.end());
    int64_t begin_ps = simulated_ ? 0 : INT64_MAX;
    for (const Event& event : events_) {
        if (simulated_ && event.iteration < last_round) {
            begin_ps = std::max(begin_ps, event.end_ps);
        } else if (!simulated_ && event.iteration == last_round) {
            begin_ps = std::min(begin_ps, event.begin_ps);
        }
    }
    for (const Round& round : rounds_) {
        begin_ps = round.index == last_round ? round.begin_ps : begin_ps;
    }
    report.ranks = measure_ranks(schedule_, events_, events_.back().end_ps);
    const bool as_planned = rounds_.empty();
    if (!as_planned) {
        return;  // the path through a round of another schedule is not followed
    }
    if (simulated_) {
        const auto topology = build_topology(run);
        RS_CHECK(topology);
        report.cables = measure_cables(*topology, report.links, report.duration_ps);
        Ways ways(*topology);
        report.path = find_critical_path(schedule_, last, begin_ps, &ways);
    } else {
        report.path = find_critical_path(schedule_, last, begin_ps, nullptr);
    }
    for (const PathHop& hop : report.path.hops) {
        report.path_text.push_back(in_words(last[static_cast<size_t>(hop.event)], hop));
        if (report.path_text.size() == path_text_max) {
            break;
        }
    }
}

Report ReportBuilder::finish(const RunSpec& run) const {
    Report report;
    measure_iterations(report);
    const int64_t seen = std::max<int64_t>(1, report.iteration_count);
    report.message_count = event_count_ / seen;
    for (const std::vector<LinkReport>& of_source : links_) {
        int64_t sent_bytes = 0;
        for (const LinkReport& link : of_source) {
            report.links.push_back(link);
            report.links.back().bytes /= seen;
            sent_bytes += report.links.back().bytes;
        }
        report.wire_bytes_per_rank = std::max(report.wire_bytes_per_rank, sent_bytes);
    }
    std::sort(
        report.links.begin(), report.links.end(), [](const LinkReport& a, const LinkReport& b) {
            return std::tuple(a.source_rank, a.target_rank) <
                   std::tuple(b.source_rank, b.target_rank);
        });
    report.algbw_bytes_per_s =
        rate_bytes_per_s(buffer_bytes(schedule_.problem), report.duration_ps);
    report.busbw_bytes_per_s = busbw(schedule_.problem, report.algbw_bytes_per_s);
    report.lower_bound_ps =
        simulated_ && rounds_.empty() ? lower_bound_ps(schedule_, at_its_fastest(run)) : 0;
    if (!events_.empty()) {
        add_details(run, report);
    }
    report.bottleneck = name_new_start(rounds_, report);
    if (report.bottleneck.empty()) {
        report.bottleneck = find_bottleneck(run, schedule_, report);
    }
    return report;
}

Report make_report(const Trace& trace) {
    const auto schedule = build_schedule(trace.run);
    RS_CHECK(schedule);
    ReportBuilder builder(trace.run, *schedule);
    for (const Event& event : trace.events) {
        builder.add(event);
    }
    builder.add_rounds(trace.rounds);
    return builder.finish(trace.run);
}

namespace {

// What a set of nodes can send out, and take in: the sum over the links that leave and enter it.
struct Capacity {
    int64_t out = 0;
    int64_t in = 0;
};

// Bytes x numerator / denominator at this rate.
int64_t bound_ps(int64_t bytes, int64_t numerator, int64_t denominator, int64_t rate) {
    return rate <= 0 ? 0
                     : saturating_transfer_ps(multiply_divide(bytes, numerator, denominator), rate);
}

void add_capacity(int64_t& sum, int64_t rate) {
    sum = sum > INT64_MAX - rate ? INT64_MAX : sum + rate;
}

}  // namespace

int64_t lower_bound_ps(const Schedule& schedule, const Topology& topology) {
    const int64_t n = schedule.problem.rank_count;
    const int64_t bytes = buffer_bytes(schedule.problem);
    if (n < 2) {
        return 0;
    }
    std::vector<Capacity> ranks(topology.nodes.size());
    std::map<int32_t, Capacity> hosts;
    for (const Link& link : topology.links) {
        add_capacity(ranks[static_cast<size_t>(link.source_node)].out, link.bandwidth_bytes_per_s);
        add_capacity(ranks[static_cast<size_t>(link.target_node)].in, link.bandwidth_bytes_per_s);
        const int32_t source = topology.nodes[static_cast<size_t>(link.source_node)].host;
        const int32_t target = topology.nodes[static_cast<size_t>(link.target_node)].host;
        if (source != target) {
            add_capacity(hosts[source].out, link.bandwidth_bytes_per_s);
            add_capacity(hosts[target].in, link.bandwidth_bytes_per_s);
        }
    }
    const auto bound = [&](int64_t parties, int64_t all_out, int64_t least) {
        const Collective collective = schedule.problem.collective;
        const int64_t times = collective == Collective::all_reduce ? 2 : 1;
        // Each party must give or take what the others have of the buffer.
        const bool whole =
            collective != Collective::reduce_scatter && collective != Collective::all_gather;
        const int64_t own =
            whole ? bound_ps(bytes, 1, 1, least) : bound_ps(bytes, parties - 1, parties, least);
        const int64_t together = all_out / parties;  // of one, on average
        return schedule.with_switch
                   ? own
                   : std::max(own, bound_ps(bytes, times * (parties - 1), parties, together));
    };
    int64_t all_out = 0;
    int64_t least = INT64_MAX;
    for (const int32_t node : topology.rank_nodes) {
        const Capacity& capacity = ranks[static_cast<size_t>(node)];
        add_capacity(all_out, capacity.out);
        least = std::min(least, std::max(capacity.in, capacity.out));
    }
    int64_t most_ps = bound(n, all_out, least);
    std::vector<int32_t> with_ranks;
    for (const int32_t node : topology.rank_nodes) {
        with_ranks.push_back(topology.nodes[static_cast<size_t>(node)].host);
    }
    std::sort(with_ranks.begin(), with_ranks.end());
    with_ranks.erase(std::unique(with_ranks.begin(), with_ranks.end()), with_ranks.end());
    if (with_ranks.size() > 1) {
        all_out = 0;
        least = INT64_MAX;
        for (const int32_t host : with_ranks) {
            add_capacity(all_out, hosts[host].out);
            least = std::min(least, std::max(hosts[host].in, hosts[host].out));
        }
        most_ps = std::max(most_ps, bound(std::ssize(with_ranks), all_out, least));
    }
    return most_ps;
}

}  // namespace ringscope
