// SPDX-License-Identifier: Apache-2.0
#include "native/result_text.hpp"

#include <algorithm>
#include <string_view>

#include "shared/units.hpp"

namespace ringscope {
namespace {

void append_row(std::string& table, std::string_view name, const std::string& value) {
    constexpr size_t name_width = 17;
    table += name;
    table.append(std::max(name_width, name.size() + 1) - name.size(), ' ');
    table += value + "\n";
}

std::string seconds(int64_t us) {
    const std::string digits = std::to_string(1'000'000 + us % 1'000'000);
    return std::to_string(us / 1'000'000) + "." + digits.substr(1);
}

std::string percent_of(int64_t part, int64_t whole) {
    const int64_t permille = whole > 0 ? multiply_divide(part, 1000, whole) : 0;
    return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
}

// Where the time of the critical path went, the parts that are there.
std::string split_text(const PathSplit& split) {
    std::string text;
    const auto add = [&](std::string_view name, int64_t part_ps) {
        if (part_ps > 0) {
            text += (text.empty() ? "" : ", ") + std::string(name) + " " +
                    percent_of(part_ps, split.total_ps());
        }
    };
    add("bytes", split.wire_ps);
    add("latency", split.latency_ps);
    add("slow links", split.slow_link_ps);
    add("sharing", split.sharing_ps);
    add("late ranks", split.late_ps);
    return text;
}

}  // namespace

void append_result(JsonWriter& json, const RunResult& result) {
    const bool measured = !simulated(result.run);
    json.field("run", std::string_view(print_run(result.run)))
        .field("engine", std::string_view(result.run.engine))
        .field("clock", measured ? "measured" : "simulated")
        .field("trace_hash", std::string_view(result.trace_hash));
    if (measured) {
        json.field("iterations", result.report.iteration_count)
            .field("median_ps", result.report.duration_ps)
            .field("min_ps", result.report.min_ps);
    }
    append_report(json, result.report);
    append_outcome(json, result.outcome);
    json.key("notes").begin_array();
    for (const Note& note : result.notes) {
        json.begin_object()
            .field("time_ps", note.time_ps)
            .field("text", std::string_view(note.text))
            .end_object();
    }
    json.end_array();
}

std::string result_json(const RunResult& result) {
    JsonWriter json;
    json.begin_object();
    append_result(json, result);
    json.key("cpu_s").raw(seconds(result.cpu_us));
    json.field("peak_rss_bytes", result.peak_rss_bytes).end_object();
    return json.text();
}

std::string result_table(const RunResult& result) {
    const Report& report = result.report;
    const bool measured = !simulated(result.run);
    std::string table;
    append_row(table, "run", print_run(result.run));
    std::string duration = show_time(report.duration_ps) + (measured ? " measured" : " simulated");
    if (result.run.iterations > 1) {
        duration += ", median of " + std::to_string(report.iteration_count) + "; shortest " +
                    show_time(report.min_ps);
    }
    append_row(table, "duration", duration);
    append_row(table, "algbw", show_bandwidth(report.algbw_bytes_per_s));
    append_row(table, "busbw", show_bandwidth(report.busbw_bytes_per_s));
    if (report.lower_bound_ps > 0) {
        append_row(table, "lower bound", show_time(report.lower_bound_ps));
    }
    append_row(table, "messages", std::to_string(report.message_count));
    append_row(table, "bytes per rank", show_bytes(report.wire_bytes_per_rank) + " on the wire");
    append_row(table,
               "verified",
               result.outcome.kind == OutcomeKind::ok ? "yes, every element is right" : "no");
    append_row(table, "trace hash", result.trace_hash);
    append_row(table, "bottleneck", report.bottleneck);
    if (const std::string split = split_text(report.path.split); !split.empty()) {
        append_row(table, "critical path", split);
    }
    for (const Note& note : result.notes) {
        append_row(table, "at " + show_time(note.time_ps), note.text);
    }
    if (result.outcome.kind != OutcomeKind::ok) {
        append_row(table,
                   "outcome",
                   std::string(outcome_name(result.outcome.kind)) + ": " + result.outcome.reason);
    }
    return table;
}

std::string impossible(const RunResult& result) {
    const Report& report = result.report;
    const bool over = result.outcome.kind == OutcomeKind::ok;  // what was cut short may be shorter
    if (!over || report.lower_bound_ps == 0 || report.duration_ps >= report.lower_bound_ps) {
        return "";
    }
    return "the result, " + show_time(report.duration_ps) +
           ", is below the lower bound of any schedule, " + show_time(report.lower_bound_ps) +
           ": this is a mistake in ringscope; please report it with the run line";
}

}  // namespace ringscope
