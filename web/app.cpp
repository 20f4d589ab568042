// SPDX-License-Identifier: Apache-2.0
#include "web/app.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/simulator.hpp"
#include "shared/trace_hash.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

// How long a run lasts on the screen. A knob turned on the way stretches it, for that is what it
// does to the run, but not without end.
constexpr double wall_s = 16;
constexpr double wall_s_max = 48;
constexpr double wall_s_min = 4;
constexpr double step_wait_s_min = 0.5;

constexpr std::string_view drawn_ranks_allowed =
    "must be a whole number from 1 to 64 on this page; the command line simulates up to 4096";

Result<Show> make_show(const RunSpec& run) {
    auto replay = Replay::create(run);
    if (!replay) {
        return replay.error();
    }
    return Show(run, std::move(*replay));
}

// Whether all ranks move from step to step together, as they do on equal links. A hop that begins a
// little early, because one chunk is an element shorter, does not count.
void note_pace(Show& show) {
    show.in_step = true;
    for (const Event& event : show.replay.events()) {
        if (event.transfer.step > 0) {
            const int64_t ready_ps = show.step_end_ps[static_cast<size_t>(event.transfer.step) - 1];
            const int64_t quarter_ps = event.begin_ps + (event.end_ps - event.begin_ps) / 4;
            show.in_step = show.in_step && quarter_ps >= ready_ps;
        }
    }
}

void note_hops(Show& show) {
    const std::vector<Event>& events = show.replay.events();
    show.hop_end_ps.clear();
    show.step_end_ps.assign(static_cast<size_t>(show.replay.schedule().step_count),
                            show.complete ? 0 : INT64_MAX);
    int32_t last_step = -1;
    for (const Event& event : events) {
        show.hop_end_ps.push_back(event.end_ps);
        last_step = std::max(last_step, event.transfer.step);
    }
    std::sort(show.hop_end_ps.begin(), show.hop_end_ps.end());
    // The last step seen of a growing trace may still get hops.
    const int32_t closed_steps =
        show.complete ? static_cast<int32_t>(show.step_end_ps.size()) : last_step;
    for (int32_t closed = 0; closed < closed_steps; ++closed) {
        show.step_end_ps[static_cast<size_t>(closed)] = 0;
    }
    for (const Event& event : events) {
        int64_t& end_ps = show.step_end_ps[static_cast<size_t>(event.transfer.step)];
        end_ps = std::max(end_ps, event.end_ps);
    }
    int64_t latest_ps = 0;
    for (int64_t& end_ps : show.step_end_ps) {
        latest_ps = end_ps = std::max(end_ps, latest_ps);
    }
    note_pace(show);
}

void note_report(Show& show) {
    ReportBuilder builder(show.run, show.replay.schedule());
    for (const Event& event : show.replay.events()) {
        builder.add(event);
    }
    show.report = builder.finish(show.run);
}

void put_clock_exactly(App& app, int64_t time_ps) {
    const double before_ps = app.playback.time_ps;
    app.playback.time_ps = static_cast<double>(time_ps);
    app.show->replay.seek(time_ps);
    app.dirty = app.dirty || app.playback.time_ps != before_ps;
}

void put_clock(App& app, double time_ps) {
    // Beyond 2^53 ps, two hours and a half, a double may lie below the end that it stands for.
    if (time_ps >= static_cast<double>(app.show->end_ps())) {
        put_clock_exactly(app, app.show->end_ps());
        return;
    }
    const double before_ps = app.playback.time_ps;
    app.playback.time_ps = std::max(time_ps, 0.0);
    app.show->replay.seek(static_cast<int64_t>(app.playback.time_ps));
    app.dirty = app.dirty || app.playback.time_ps != before_ps;
}

void note_change(App& app) {
    ++app.revision;
    app.dirty = true;
}

void replace_show(App& app, Show&& show, Keep keep) {
    double time_ps = 0;
    if (app.show) {
        const auto old_end_ps = static_cast<double>(app.show->end_ps());
        const double share = old_end_ps > 0 ? app.playback.time_ps / old_end_ps : 0;
        time_ps = keep == Keep::share  ? share * static_cast<double>(show.end_ps())
                  : keep == Keep::time ? app.playback.time_ps
                                       : 0;
    }
    app.show.emplace(std::move(show));
    note_change(app);
    put_clock(app, time_ps);
}

bool names_missing_rank(const Knob& knob, int32_t rank_count) {
    const bool common = knob.kind == Knob::Kind::bandwidth || knob.kind == Knob::Kind::latency;
    return !common && std::max(knob.rank, knob.target_rank) >= rank_count;
}

Result<int64_t> parse_rate_or_time(Knob::Kind kind, std::string_view value) {
    return kind == Knob::Kind::bandwidth ? parse_bandwidth("bandwidth", value)
                                         : parse_time("latency", value);
}

int64_t& own_value(RunSpec& run, Knob::Kind kind) {
    return kind == Knob::Kind::bandwidth ? run.bandwidth_bytes_per_s : run.latency_ps;
}

bool in_flight(const App& app) {
    return !app.on_machine && app.playback.time_ps > 0 && !at_end(app);
}

int64_t value_at(const RunSpec& run, Knob::Kind kind, int64_t time_ps) {
    RunSpec copy = run;
    int64_t value = own_value(copy, kind);
    for (const Change& change : run.changes) {
        if (change.knob.kind == kind && change.time_ps <= time_ps) {
            value = change.knob.value;
        }
    }
    return value;
}

// The moment of a turn, a hair early, so that it can be said and linked in a few digits.
int64_t turn_time_ps(const App& app) {
    const auto now_ps = static_cast<int64_t>(app.playback.time_ps);
    int64_t grain_ps = 1;
    while (grain_ps * 100'000 < app.show->end_ps()) {
        grain_ps *= 10;
    }
    const int64_t rounded_ps = now_ps / grain_ps * grain_ps;
    return rounded_ps > 0 ? rounded_ps : now_ps;
}

// Replaces what the knob did at that moment, if it did; a turn to the value it already has is none.
Status put_change(RunSpec& run, const Change& change) {
    const auto same = [&change](const Change& other) {
        return other.time_ps == change.time_ps && other.knob.kind == change.knob.kind;
    };
    run.changes.erase(std::remove_if(run.changes.begin(), run.changes.end(), same),
                      run.changes.end());
    if (value_at(run, change.knob.kind, change.time_ps) == change.knob.value) {
        return Done{};
    }
    if (run.changes.size() >= change_count_max) {
        return plain_error(
            ErrorKind::invalid_argument,
            "a run can hold " + std::to_string(change_count_max) + " turned knobs; clear some");
    }
    insert_change(run, change);
    return Done{};
}

// After an edit of the controls' run: what the scene shows of it.
Status show_edited(App& app, const RunSpec& run, Keep keep) {
    if (!app.on_machine) {
        return show_simulation(app, run, keep);
    }
    const RunSpec before = std::exchange(app.run, run);
    if (run.problem == before.problem) {  // the rates and latencies of a real machine are its own
        note_change(app);
        return Done{};
    }
    if (const Status status = show_machine(app); !status) {
        app.run = before;
        return status;
    }
    return Done{};
}

Status edit_rate_or_time(App& app, Knob::Kind kind, std::string_view value, int32_t gesture) {
    const auto number = parse_rate_or_time(kind, value);
    if (!number) {
        return number.error();
    }
    if (app.gesture.id != gesture || app.gesture.kind != kind) {
        app.gesture = {gesture, kind, std::nullopt};
        if (in_flight(app)) {
            app.gesture.change_ps = turn_time_ps(app);
        }
    }
    RunSpec run = app.run;
    if (!app.gesture.change_ps) {
        own_value(run, kind) = *number;
        return show_edited(app, run, Keep::share);
    }
    if (const Status status = put_change(run, {*app.gesture.change_ps, {kind, 0, 0, *number}});
        !status) {
        return status.error();
    }
    return show_edited(app, run, Keep::time);
}

// Of a trace that begins: its inputs, ready for its hops.
Status show_measured(App& app, const RunSpec& run) {
    if (run.problem.rank_count > drawn_rank_count_max) {
        return invalid_field(
            "ranks", std::to_string(run.problem.rank_count), std::string(drawn_ranks_allowed));
    }
    if (run.iterations > 1) {
        return invalid_field(
            "iterations", std::to_string(run.iterations), "this page shows runs of one iteration");
    }
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    app.run.problem = run.problem;
    note_hops(*show);
    replace_show(app, std::move(*show), Keep::nothing);
    return Done{};
}

double pace_ps_per_s(const App& app) {
    const auto end_ps = static_cast<double>(app.show->end_ps());
    double whole_s = wall_s;
    if (!app.on_machine && !app.show->run.changes.empty()) {
        const auto unchanged_ps = static_cast<double>(closed_form_ps(app));
        whole_s = unchanged_ps > 0
                      ? std::clamp(wall_s * end_ps / unchanged_ps, wall_s_min, wall_s_max)
                      : wall_s;
    }
    return end_ps / whole_s * app.playback.speed;
}

}  // namespace

Status show_simulation(App& app, const RunSpec& run, Keep keep) {
    if (run.problem.rank_count > drawn_rank_count_max) {
        return invalid_field(
            "ranks", std::to_string(run.problem.rank_count), std::string(drawn_ranks_allowed));
    }
    const auto trace = simulate(run);
    if (!trace) {
        return trace.error();
    }
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    show->replay.add(trace->events);
    show->complete = true;
    show->outcome = trace->outcome;
    show->rounds = trace->rounds;
    show->notes = trace->notes;
    note_hops(*show);
    note_report(*show);
    app.run = run;
    app.on_machine = false;
    replace_show(app, std::move(*show), keep);
    return Done{};
}

Status show_machine(App& app) {
    RunSpec run = app.run;
    run.engine = "threads";
    run.changes.clear();
    run.settings.clear();
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    note_hops(*show);
    app.on_machine = true;
    app.playback.playing = false;
    replace_show(app, std::move(*show), Keep::nothing);
    return Done{};
}

Status edit(App& app, std::string_view key, std::string_view value, int32_t gesture) {
    // In a run line it would begin another key.
    if (value.find('&') != std::string_view::npos) {
        return invalid_field(
            std::string(key), std::string(value), std::string(key) + " takes a single value");
    }
    if (key == "bandwidth" || key == "latency") {
        const auto kind = key == "bandwidth" ? Knob::Kind::bandwidth : Knob::Kind::latency;
        return edit_rate_or_time(app, kind, value, gesture);
    }
    if (key == "ranks" && !parse_count(key, value, 1, drawn_rank_count_max)) {
        return invalid_field("ranks", std::string(value), std::string(drawn_ranks_allowed));
    }
    // Read by the core, so that the page has no rules of its own.
    const auto read = parse_run(std::string(key) + "=" + std::string(value));
    if (!read) {
        return read.error();
    }
    RunSpec run = app.run;
    if (key == "ranks") {
        run.problem.rank_count = read->problem.rank_count;
        std::erase_if(run.settings, [&](const Knob& knob) {
            return names_missing_rank(knob, run.problem.rank_count);
        });
        std::erase_if(run.changes, [&](const Change& change) {
            return names_missing_rank(change.knob, run.problem.rank_count);
        });
    } else {
        run.problem.element_count = read->problem.element_count;
    }
    return show_edited(app, run, Keep::share);
}

Status undo_change(App& app, size_t index) {
    RunSpec run = app.run;
    if (index < run.changes.size()) {
        run.changes.erase(run.changes.begin() + static_cast<std::ptrdiff_t>(index));
    }
    app.gesture = {};
    return show_edited(app, run, Keep::time);
}

Status clear_changes(App& app) {
    RunSpec run = app.run;
    run.changes.clear();
    app.gesture = {};
    return show_edited(app, run, Keep::time);
}

int64_t value_in_force(const App& app, Knob::Kind kind) {
    return value_at(
        app.run, kind, in_flight(app) ? static_cast<int64_t>(app.playback.time_ps) : -1);
}

void begin_trace(App& app) {
    app.decoder = TraceDecoder();
    app.trace_refusal.reset();
    app.on_machine = true;
    app.playback.playing = true;
}

Status push_trace(App& app, std::string_view bytes) {
    if (app.trace_refusal) {
        return *app.trace_refusal;
    }
    const bool started = app.decoder.started();
    std::vector<Event> events;
    const Status status = app.decoder.push(bytes, events);
    if (!started && app.decoder.started()) {
        if (const Status taken = show_measured(app, app.decoder.run()); !taken) {
            app.trace_refusal = taken.error();
            return taken;
        }
    }
    if (!app.decoder.started() || (events.empty() && !app.decoder.finished())) {
        return status;
    }
    Show& show = *app.show;
    show.replay.add(events);
    show.complete = app.decoder.finished();
    if (show.complete) {
        show.outcome = app.decoder.outcome();
    }
    note_hops(show);
    note_report(show);
    note_change(app);
    put_clock(app, app.playback.time_ps);
    return status;
}

void end_trace(App& app) {
    if (!app.on_machine || app.show->complete) {
        return;
    }
    if (!app.decoder.started() || app.trace_refusal) {  // the inputs are still on show
        app.playback.playing = false;
        return;
    }
    app.show->complete = true;
    app.show->outcome = {OutcomeKind::failed, "the trace breaks off"};
    note_hops(*app.show);
    note_change(app);
}

void play(App& app, bool playing) {
    if (playing && at_end(app)) {
        put_clock(app, 0);
    }
    app.playback.playing = playing;
    app.playback.wait_s = 0;
    app.dirty = true;
}

void seek(App& app, double time_ps) {
    put_clock(app, time_ps);
}

void step(App& app, int direction) {
    app.playback.playing = false;
    const int64_t now_ps = app.show->replay.time_ps();
    const std::vector<int64_t>& ends_ps = app.show->step_end_ps;
    if (direction > 0) {
        const auto next = std::upper_bound(ends_ps.begin(), ends_ps.end(), now_ps);
        const int64_t end_ps = app.show->end_ps();  // that of an open step is not known
        put_clock_exactly(app, next == ends_ps.end() ? end_ps : std::min(*next, end_ps));
    } else {
        const auto here = std::lower_bound(ends_ps.begin(), ends_ps.end(), now_ps);
        put_clock_exactly(app, here == ends_ps.begin() ? 0 : std::min(*std::prev(here), now_ps));
    }
}

bool advance(App& app, double passed_s) {
    Playback& playback = app.playback;
    if (!playback.playing || !app.show) {
        return false;
    }
    if (playback.stepwise) {
        playback.wait_s -= passed_s;
        if (playback.wait_s <= 0) {
            const auto steps =
                static_cast<double>(std::max<size_t>(1, app.show->step_end_ps.size()));
            step(app, 1);
            playback.playing = true;
            playback.wait_s = std::max(step_wait_s_min, wall_s / steps / playback.speed);
        }
    } else {
        put_clock(app, playback.time_ps + pace_ps_per_s(app) * passed_s);
    }
    if (at_end(app)) {
        playback.playing = false;
    }
    return playback.playing;
}

bool at_end(const App& app) {
    return app.show->complete && app.playback.time_ps >= static_cast<double>(app.show->end_ps());
}

int32_t current_step(const App& app) {
    const std::vector<int64_t>& ends_ps = app.show->step_end_ps;
    const int64_t now_ps = app.show->replay.time_ps();
    return static_cast<int32_t>(std::upper_bound(ends_ps.begin(), ends_ps.end(), now_ps) -
                                ends_ps.begin());
}

int32_t furthest_step(const App& app) {
    int32_t furthest = current_step(app);
    for (const int32_t index : app.show->replay.in_flight()) {
        const Event& event = app.show->replay.events()[static_cast<size_t>(index)];
        furthest = std::max(furthest, event.transfer.step);
    }
    return furthest;
}

int64_t closed_form_ps(const App& app) {
    const Schedule& schedule = app.show->replay.schedule();
    return schedule.algorithm->closed_form_ps(
        schedule, app.run.bandwidth_bytes_per_s, app.run.latency_ps);
}

std::string shown_trace_hash(const App& app) {
    const Show& show = *app.show;
    return trace_hash({show.run, show.replay.events(), show.outcome, show.rounds, show.notes});
}

std::string simulated_trace_hash(const App& app) {
    if (!app.on_machine) {
        return shown_trace_hash(app);
    }
    const auto trace = simulate(app.run);
    RS_CHECK(trace);
    return trace_hash(*trace);
}

}  // namespace ringscope
