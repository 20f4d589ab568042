// SPDX-License-Identifier: Apache-2.0
#include "native/commands.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "native/engine.hpp"
#include "native/output_file.hpp"
#include "native/result_text.hpp"
#include "native/worker.hpp"
#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/idle_keys.hpp"
#include "shared/json.hpp"
#include "shared/simulator.hpp"
#include "shared/sweep.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

std::atomic<bool> interrupted{false};

// Ctrl-C ends a run, not the program: the trace is closed and the worker killed.
void watch_signals() {
    for (const int number : {SIGINT, SIGTERM}) {
        std::signal(number, [](int) { interrupted = true; });
    }
}

int exit_status(const Error& error) {
    return error.kind == ErrorKind::invalid_argument ? 2 : 3;
}

int fail(const Error& error, const RunOptions& options) {
    tell_error(error, options.json);
    return exit_status(error);
}

// Where the trace goes, if anywhere.
Result<std::optional<OutputFile>> open_trace(const RunOptions& options) {
    if (options.trace.empty()) {
        return std::optional<OutputFile>();
    }
    if (options.trace == "-" && options.json) {
        return invalid_field(
            "trace", "-", "cannot go to standard output together with --json; name a file");
    }
    auto file = OutputFile::create(options.trace);
    if (!file) {
        return file.error();
    }
    return std::optional<OutputFile>(std::move(*file));
}

void add_usage(RunResult& result, int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto us = [](const timeval& time) {
        return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
    };
    result.cpu_us += us(usage.ru_utime) + us(usage.ru_stime);
    result.peak_rss_bytes = std::max(result.peak_rss_bytes, int64_t{usage.ru_maxrss} * 1024);
}

int finish(RunResult result, std::optional<OutputFile>& file, const RunOptions& options) {
    if (const std::string mistake = impossible(result); !mistake.empty()) {
        result.outcome = {OutcomeKind::wrong, mistake};
    }
    if (file) {
        if (const Status status = file->commit(); !status) {
            return fail(status.error(), options);
        }
    }
    if (options.json) {
        std::printf("%s\n", result_json(result).c_str());
    } else {
        std::fputs(result_table(result).c_str(), options.trace == "-" ? stderr : stdout);
    }
    if (result.outcome.kind == OutcomeKind::ok) {
        return 0;
    }
    std::fprintf(stderr,
                 "ringscope: the run ended as %s: %s\n",
                 std::string(outcome_name(result.outcome.kind)).c_str(),
                 result.outcome.reason.c_str());
    return 1;
}

// Steps the simulator through, handing on every event at once: 1024 ranks have two million of them.
Outcome step_through(Simulator& simulator, TraceWriter& trace, ReportBuilder& report) {
    constexpr int64_t events_at_once = 1024;  // so that they stay in the cache
    size_t told = 0;
    while (!simulator.done()) {
        if (interrupted) {
            return {OutcomeKind::failed, "cancelled"};
        }
        simulator.advance_by(events_at_once);
        const std::vector<Round> rounds = told_rounds(simulator.run(), simulator.rounds());
        for (const Event& event : simulator.take_events()) {
            for (; told < rounds.size() && rounds[told].index <= event.iteration; ++told) {
                trace.add_round(rounds[told]);
            }
            trace.add(event);
            report.add(event);
        }
    }
    const std::vector<Round> rounds = told_rounds(simulator.run(), simulator.rounds());
    for (; told < rounds.size(); ++told) {
        trace.add_round(rounds[told]);
    }
    for (const Note& note : simulator.notes()) {
        trace.add_note(note);
    }
    report.add_rounds(rounds);
    return simulator.outcome();
}

// Says which of the given keys change nothing in this run, and why.
void warn_of_idle_keys(std::string_view run_line, const RunSpec& run) {
    for (const RunKey& key : run_keys()) {
        const std::string name = std::string(key.name) + "=";
        const bool given =
            run_line.starts_with(name) || run_line.find("&" + name) != std::string_view::npos;
        if (!given || key.repeatable) {
            continue;
        }
        if (const std::string reason = idle_reason(run, key.name); !reason.empty()) {
            std::fprintf(stderr,
                         "ringscope: note: %s changes nothing here: %s\n",
                         std::string(key.name).c_str(),
                         reason.c_str());
        }
    }
}

// A run line that does not say which engine means the first that measures.
std::string with_engine(const std::string& run_line) {
    const bool named = ("&" + run_line).find("&engine=") != std::string::npos;
    return named ? run_line : run_line + (run_line.empty() ? "" : "&") + "engine=threads";
}

template <class Items>
void print_list(const Items& items, bool json) {
    JsonWriter writer;
    writer.begin_array();
    for (const auto* item : items) {
        if (!json) {
            std::printf(
                "%-16s %s\n", std::string(item->name).c_str(), std::string(item->summary).c_str());
        }
        writer.begin_object().field("name", item->name).field("summary", item->summary);
        if constexpr (requires { item->source; }) {
            writer.field("source", item->source);
        }
        writer.end_object();
    }
    writer.end_array();
    if (json) {
        std::printf("%s\n", writer.text().c_str());
    }
}

std::string padded(std::string_view text, size_t width) {
    return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

// What each does in how many steps and bytes; under it, in words, what it is and when to take it.
std::string algorithm_table() {
    constexpr std::array<std::string_view, 4> heads{
        "name", "collective", "steps", "bytes per rank"};
    const auto cells = [](const Algorithm& algorithm) {
        return std::array<std::string_view, 4>{algorithm.name,
                                               collective_name(algorithm.collective),
                                               algorithm.steps,
                                               algorithm.bytes_per_rank};
    };
    std::array<size_t, 4> widths{};
    for (size_t i = 0; i < heads.size(); ++i) {
        widths[i] = heads[i].size();
        for (const Algorithm* algorithm : algorithms()) {
            widths[i] = std::max(widths[i], cells(*algorithm)[i].size());
        }
    }
    const auto row = [&widths](const std::array<std::string_view, 4>& texts) {
        std::string line;
        for (size_t i = 0; i + 1 < texts.size(); ++i) {
            line += padded(texts[i], widths[i] + 2);
        }
        return line + std::string(texts.back()) + "\n";
    };
    std::string table = row(heads);
    const std::string indent(widths[0] + 2, ' ');
    for (const Algorithm* algorithm : algorithms()) {
        table += row(cells(*algorithm));
        table += indent + std::string(algorithm->summary) + "\n";
        table += indent + "wins " + std::string(algorithm->wins) + "\n";
    }
    return table;
}

std::string algorithms_json() {
    JsonWriter json;
    json.begin_array();
    for (const Algorithm* algorithm : algorithms()) {
        json.begin_object()
            .field("name", algorithm->name)
            .field("summary", algorithm->summary)
            .field("collective", collective_name(algorithm->collective))
            .field("steps", algorithm->steps)
            .field("bytes_per_rank", algorithm->bytes_per_rank)
            .field("wins", algorithm->wins)
            .field("source", algorithm->source)
            .end_object();
    }
    json.end_array();
    return json.text() + "\n";
}

void print_engines(bool json) {
    JsonWriter writer;
    writer.begin_array();
    for (const EngineInfo& info : engine_infos()) {
        if (!json) {
            const std::string missing =
                info.missing.empty() ? "" : " (" + std::string(info.missing) + ")";
            std::printf("%-12s %s%s\n",
                        std::string(info.name).c_str(),
                        std::string(info.summary).c_str(),
                        missing.c_str());
        }
        append_engine(writer, info);
    }
    writer.end_array();
    if (json) {
        std::printf("%s\n", writer.text().c_str());
    }
}

}  // namespace

void tell_error(const Error& error, bool json) {
    std::fprintf(stderr, "ringscope: %s\n", error.message.c_str());
    if (json) {
        std::printf("%s\n", error_json(error).c_str());
    }
}

int simulate_command(const RunOptions& options) {
    watch_signals();
    const auto run = parse_run(options.run_line);
    if (!run) {
        return fail(run.error(), options);
    }
    auto simulator = Simulator::create(*run);
    if (!simulator) {
        return fail(simulator.error(), options);
    }
    const int64_t messages = simulator->schedule().message_count();
    if (!options.trace.empty() && messages > trace_event_count_max) {
        return fail(invalid_field("trace",
                                  options.trace,
                                  "cannot hold this run's " + std::to_string(messages) +
                                      " events; at most " + std::to_string(trace_event_count_max) +
                                      " fit, so simulate it without --trace"),
                    options);
    }
    warn_of_idle_keys(options.run_line, *run);
    auto file = open_trace(options);
    if (!file) {
        return fail(file.error(), options);
    }
    TraceWriter::Sink sink;
    if (*file) {
        sink = [&](std::string_view text) { (*file)->write(text); };
    }
    TraceWriter trace(*run, sink);
    ReportBuilder report(*run, simulator->schedule());
    RunResult result;
    result.run = *run;
    result.outcome = step_through(*simulator, trace, report);
    trace.finish(result.outcome);
    result.trace_hash = trace.hash();
    result.report = report.finish(*run);
    result.notes = simulator->notes();
    add_usage(result, RUSAGE_SELF);
    return finish(std::move(result), *file, options);
}

int run_command(const RunOptions& options) {
    watch_signals();
    const auto run = parse_run(with_engine(options.run_line));
    if (!run) {
        return fail(run.error(), options);
    }
    if (const auto engine = find_engine(*run); !engine) {
        return fail(engine.error(), options);
    }
    const auto deadline_ps = parse_time("deadline", options.deadline);
    if (!deadline_ps) {
        return fail(deadline_ps.error(), options);
    }
    auto file = open_trace(options);
    if (!file) {
        return fail(file.error(), options);
    }
    const auto schedule = build_schedule(*run);
    RS_CHECK(schedule);
    TraceRecorder recorder(*run, *schedule);
    Supervision supervision;
    supervision.program = own_program();
    supervision.deadline = std::chrono::milliseconds(*deadline_ps / (ps_per_s / 1000));
    supervision.cancelled = &interrupted;
    supervision.take_text = [&](std::string_view text) {
        if (*file) {
            (*file)->write(text);
        }
    };
    supervise(recorder, supervision);
    RunResult result{*run, recorder.report(), recorder.outcome(), recorder.trace_hash()};
    add_usage(result, RUSAGE_CHILDREN);
    return finish(std::move(result), *file, options);
}

namespace {

// Keys whose values may hold commas.
bool may_list(std::string_view key) {
    return key != "graph" && key != "fit" && key != "ring" && key != "set" && key != "change";
}

// Cuts a line into what stays the same and the keys that have several values.
void split_axes(std::string_view line, std::string& base, std::vector<std::string>& axes) {
    for (std::string_view rest = line; !rest.empty();) {
        const size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view part = rest.substr(0, end);
        const bool several =
            part.find(',') != std::string_view::npos || part.find("..") != std::string_view::npos;
        if (several && may_list(part.substr(0, part.find('=')))) {
            axes.emplace_back(part);
        } else {
            base += (base.empty() ? "" : "&") + std::string(part);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

void print_sweep_row(const SweepRow& row) {
    for (const std::string& value : row.values) {
        std::printf("%s\t", value.c_str());
    }
    std::printf("%lld\t%lld\t%lld\t%lld\t%s\t%s\n",
                static_cast<long long>(row.duration_ps),
                static_cast<long long>(row.algbw_bytes_per_s),
                static_cast<long long>(row.busbw_bytes_per_s),
                static_cast<long long>(row.lower_bound_ps),
                std::string(outcome_name(row.outcome.kind)).c_str(),
                row.outcome.reason.c_str());
    std::fflush(stdout);
}

void append_sweep_row(JsonWriter& json, const Sweep& sweep, const SweepRow& row) {
    json.begin_object();
    for (size_t i = 0; i < row.values.size(); ++i) {
        json.field(sweep.keys()[i], std::string_view(row.values[i]));
    }
    json.field("run", std::string_view(row.run_line))
        .field("duration_ps", row.duration_ps)
        .field("algbw_bytes_per_s", row.algbw_bytes_per_s)
        .field("busbw_bytes_per_s", row.busbw_bytes_per_s)
        .field("lower_bound_ps", row.lower_bound_ps);
    append_outcome(json, row.outcome);
    json.end_object();
}

void show_progress(const Sweep& sweep) {
    if (isatty(STDERR_FILENO) != 0) {
        std::fprintf(stderr,
                     "\r%lld of %lld",
                     static_cast<long long>(sweep.position()),
                     static_cast<long long>(sweep.size()));
        std::fputs(sweep.done() ? "\n" : "", stderr);
    }
}

}  // namespace

int sweep_command(const RunOptions& options) {
    watch_signals();
    std::string base;
    std::vector<std::string> axes;
    split_axes(options.run_line, base, axes);
    auto sweep = Sweep::create(base, axes);
    if (!sweep) {
        return fail(sweep.error(), options);
    }
    if (const auto run = parse_run(base); !run) {
        return fail(run.error(), options);
    }
    if (!options.json) {
        for (const std::string& key : sweep->keys()) {
            std::printf("%s\t", key.c_str());
        }
        std::puts(
            "duration_ps\talgbw_bytes_per_s\tbusbw_bytes_per_s\tlower_bound_ps\toutcome\treason");
    }
    JsonWriter json;
    json.begin_array();
    bool all_right = true;
    while (!sweep->done() && !interrupted) {
        const SweepRow row = sweep->step();
        all_right = all_right && row.outcome.kind == OutcomeKind::ok;
        options.json ? append_sweep_row(json, *sweep, row) : print_sweep_row(row);
        show_progress(*sweep);
    }
    json.end_array();
    if (options.json) {
        std::printf("%s\n", json.text().c_str());
    }
    return all_right && sweep->done() ? 0 : 1;
}

int list_command(std::string_view what, bool json) {
    if (what == "engines") {
        print_engines(json);
    } else if (what == "algorithms") {
        std::fputs((json ? algorithms_json() : algorithm_table()).c_str(), stdout);
    } else if (what == "topologies") {
        print_list(topology_presets(), json);
    } else {
        tell_error(invalid_field(
                       "list", std::string(what), "must be one of engines algorithms topologies"),
                   json);
        return 2;
    }
    return 0;
}

}  // namespace ringscope
