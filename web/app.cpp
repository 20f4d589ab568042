// SPDX-License-Identifier: Apache-2.0
#include "web/app.hpp"

#include <algorithm>

#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/simulator.hpp"
#include "shared/trace_hash.hpp"
#include "shared/units.hpp"
#include "web/views/view.hpp"

namespace ringscope {
namespace {

// How long a run lasts on the screen. A knob turned on the way stretches it, for that is what it
// does to the run, but not without end.
constexpr double wall_s = 16;
constexpr double wall_s_max = 48;
constexpr double wall_s_min = 4;
constexpr double step_wait_s_min = 0.5;
// A gap that is at least this part of the run is passed in so long.
constexpr int64_t gap_share = 8;
constexpr double gap_wall_s = 1.5;

constexpr std::string_view drawn_ranks_allowed =
    "must be a whole number from 1 to 64 on this page; the command line simulates up to 4096";

Result<Show> make_show(const RunSpec& run) {
    auto replay = Replay::create(run);
    if (!replay) {
        return replay.error();
    }
    return Show(run, std::move(*replay));
}

// The key that makes a schedule as large as it is.
Error too_large(const RunSpec& run, const std::string& why) {
    if (run.chunks > 1) {
        return invalid_field("chunks", std::to_string(run.chunks), why);
    }
    if (run.segment_bytes > 0) {
        return invalid_field("segment", print_bytes(run.segment_bytes), why);
    }
    if (run.channels > 1) {
        return invalid_field("channels", std::to_string(run.channels), why);
    }
    return invalid_field("ranks", std::to_string(run.problem.rank_count), why);
}

// Whether the page can draw the run; before anything that costs much memory.
Status check_drawable(const App& app, const RunSpec& run) {
    const int32_t rank_count = run.problem.rank_count;
    if (rank_count > drawn_rank_count_max) {
        return invalid_field("ranks", std::to_string(rank_count), std::string(drawn_ranks_allowed));
    }
    const auto schedule = build_schedule(run);
    if (!schedule) {
        return schedule.error();
    }
    const int32_t chunk_count_max = views().front()->chunk_count_max(app, rank_count);
    if (schedule->chunk_count > chunk_count_max) {
        return too_large(run,
                         "cannot be drawn: it cuts the buffer into " +
                             std::to_string(schedule->chunk_count) + " chunks, and at most " +
                             std::to_string(chunk_count_max) +
                             " fit this picture; the command line simulates them");
    }
    const int64_t hop_count = schedule->message_count();
    if (hop_count > shown_hop_count_max) {
        return too_large(run,
                         "cannot be shown: it makes " + std::to_string(hop_count) +
                             " hops, and this page holds at most " +
                             std::to_string(shown_hop_count_max));
    }
    if (hop_count * run.iterations > shown_hop_count_max || run.iterations > shown_hop_count_max) {
        return invalid_field("iterations",
                             std::to_string(run.iterations),
                             "cannot be shown: this page holds at most " +
                                 std::to_string(shown_hop_count_max) + " hops in all");
    }
    return Done{};
}

// The same for rounds that a change has made larger.
Status check_rounds(const App& app, const Show& show, const std::vector<Round>& rounds) {
    for (const Round& round : rounds) {
        const int32_t rank_count = round.problem.rank_count;
        const bool few_ranks = rank_count <= drawn_rank_count_max;
        if (!few_ranks || show.replay.schedule(round.index).chunk_count >
                              views().front()->chunk_count_max(app, rank_count)) {
            return plain_error(ErrorKind::invalid_argument,
                               "round " + std::to_string(round.index) +
                                   " has more ranks or chunks than this page draws");
        }
    }
    return Done{};
}

// How many hops each step of a schedule has.
std::vector<int64_t> count_hops(const Schedule& schedule) {
    std::vector<int64_t> counts(static_cast<size_t>(schedule.step_count));
    for (int32_t lane = 0; lane < schedule.lane_count; ++lane) {
        for (int32_t step = 0; step < schedule.step_count; ++step) {
            for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
                counts[static_cast<size_t>(step)] += schedule.receive_count(lane, step, rank);
            }
        }
    }
    return counts;
}

// Steps of a round that will get no more hops, and lack some, never end.
void note_broken(RoundSteps& round, const Schedule& schedule, const std::vector<int64_t>& seen) {
    const std::vector<int64_t> wanted = count_hops(schedule);
    for (size_t step = 0; step < wanted.size(); ++step) {
        if (seen[step] < wanted[step]) {
            round.broken = true;
            round.end_ps[step] = INT64_MAX;
        }
    }
}

// Of one round, whose last step seen may still get hops when it is open.
void note_steps(RoundSteps& round,
                const Schedule& schedule,
                const std::vector<const Event*>& events,
                bool closed) {
    const auto step_count = static_cast<size_t>(schedule.step_count);
    std::vector<int64_t> seen(step_count);
    round.end_ps.assign(step_count, closed ? 0 : INT64_MAX);
    size_t last_step = 0;
    for (const Event* event : events) {
        const auto step = static_cast<size_t>(event->transfer.step);
        last_step = std::max(last_step, step);
        ++seen[step];
        round.begin_ps = std::min(round.begin_ps, event->begin_ps);
        round.last_ps = std::max(round.last_ps, event->end_ps);
    }
    std::fill_n(round.end_ps.begin(), closed ? step_count : last_step, 0);
    for (const Event* event : events) {
        int64_t& end_ps = round.end_ps[static_cast<size_t>(event->transfer.step)];
        end_ps = std::max(end_ps, event->end_ps);
    }
    if (closed && std::ssize(events) < schedule.message_count()) {
        note_broken(round, schedule, seen);
    }
    int64_t latest_ps = 0;
    for (int64_t& end_ps : round.end_ps) {
        latest_ps = end_ps = std::max(end_ps, latest_ps);
    }
}

// Whether all ranks move from step to step together, as they do on equal links. A hop that begins a
// little early, because one chunk is an element shorter, does not count.
void note_pace(Show& show) {
    show.in_step = true;
    for (const Event& event : show.replay.events()) {
        if (event.transfer.step > 0) {
            const RoundSteps& round = show.rounds_steps[static_cast<size_t>(event.iteration)];
            const int64_t ready_ps = round.end_ps[static_cast<size_t>(event.transfer.step) - 1];
            const int64_t quarter_ps = event.begin_ps + (event.end_ps - event.begin_ps) / 4;
            show.in_step = show.in_step && (ready_ps == INT64_MAX || quarter_ps >= ready_ps);
        }
    }
}

// Long times in which nothing is under way: a timeout, before anybody acts.
void note_gaps(Show& show) {
    std::vector<std::pair<int64_t, int64_t>> spans;
    for (const Event& event : show.replay.events()) {
        spans.emplace_back(event.begin_ps, event.end_ps);
    }
    std::sort(spans.begin(), spans.end());
    spans.emplace_back(show.end_ps(), show.end_ps());
    int64_t reached_ps = 0;
    show.gaps.clear();
    for (const auto& [begin_ps, end_ps] : spans) {
        if (begin_ps - reached_ps > show.end_ps() / gap_share) {
            show.gaps.push_back({reached_ps, begin_ps});
        }
        reached_ps = std::max(reached_ps, end_ps);
    }
}

// Every time at which something shall be seen that was not there before.
void note_times(Show& show) {
    show.moments_ps.clear();
    show.stops_ps.clear();
    for (const Event& event : show.replay.events()) {
        show.moments_ps.push_back(event.end_ps);
    }
    for (const RoundSteps& round : show.rounds_steps) {
        for (const int64_t end_ps : round.end_ps) {
            if (end_ps != INT64_MAX) {
                show.stops_ps.push_back(end_ps);
            }
        }
        show.stops_ps.push_back(round.last_ps);
        show.moments_ps.push_back(round.begin_ps);
    }
    for (const Change& change : show.run.changes) {
        show.moments_ps.push_back(change.time_ps);
    }
    for (const Round& round : show.rounds) {
        show.moments_ps.push_back(round.begin_ps);
        show.stops_ps.push_back(round.begin_ps);
    }
    for (const Note& note : show.notes) {
        show.stops_ps.push_back(note.time_ps);
    }
    std::sort(show.moments_ps.begin(), show.moments_ps.end());
    std::sort(show.stops_ps.begin(), show.stops_ps.end());
}

void note_hops(Show& show) {
    const auto round_count = static_cast<size_t>(show.replay.round_count());
    std::vector<std::vector<const Event*>> events(round_count);
    for (const Event& event : show.replay.events()) {
        events[static_cast<size_t>(event.iteration)].push_back(&event);
    }
    show.rounds_steps.assign(round_count, {});
    for (size_t round = 0; round < round_count; ++round) {
        const bool closed = show.complete || round + 1 < round_count;
        note_steps(show.rounds_steps[round],
                   show.replay.schedule(static_cast<int32_t>(round)),
                   events[round],
                   closed);
    }
    note_pace(show);
    note_times(show);
    show.gaps.clear();
    if (show.complete) {
        note_gaps(show);
    }
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

// Of a link that another topology may not have.
bool names_link(const Knob& knob) {
    switch (knob.kind) {
        case Knob::Kind::link_bandwidth:
        case Knob::Kind::link_latency:
        case Knob::Kind::link_up:
        case Knob::Kind::link_fault:
            return true;
        default:
            return false;
    }
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
    if (run.problem == before.problem &&
        run.algorithm ==
            before.algorithm) {  // the rates and latencies of a real machine are its own
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

// What a machine carries out of a run: no network, no misfortunes, no knobs.
RunSpec machine_run(const RunSpec& run) {
    RunSpec own;
    own.engine = "threads";
    own.algorithm = run.algorithm;
    own.problem = run.problem;
    own.channels = run.channels;
    own.chunks = run.chunks;
    own.segment_bytes = run.segment_bytes;
    own.group = run.group;
    own.ring = run.ring;
    own.iterations = run.iterations;
    own.seed = run.seed;
    return own;
}

// The controls follow a measured run in what machine_run() keeps.
void follow_machine_run(RunSpec& controls, const RunSpec& run) {
    controls.algorithm = run.algorithm;
    controls.problem = run.problem;
    controls.channels = run.channels;
    controls.chunks = run.chunks;
    controls.segment_bytes = run.segment_bytes;
    controls.group = run.group;
    controls.ring = run.ring;
    controls.iterations = run.iterations;
    controls.seed = run.seed;
}

// Of a trace that begins: its inputs, ready for its hops.
Status show_measured(App& app, const RunSpec& run) {
    if (const Status status = check_drawable(app, run); !status) {
        return status;
    }
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    follow_machine_run(app.run, run);
    note_hops(*show);
    replace_show(app, std::move(*show), Keep::nothing);
    return Done{};
}

// Picoseconds of the run for a second at the screen, outside of gaps.
double pace_ps_per_s(const App& app) {
    const Show& show = *app.show;
    auto busy_ps = static_cast<double>(show.end_ps());
    for (const Gap& gap : show.gaps) {
        busy_ps -= static_cast<double>(gap.end_ps - gap.begin_ps);
    }
    double whole_s = wall_s;
    if (!app.on_machine && !show.run.changes.empty() && closed_form_holds(app.run)) {
        const double unchanged_ps =
            static_cast<double>(closed_form_ps(app)) * static_cast<double>(app.run.iterations);
        whole_s = unchanged_ps > 0
                      ? std::clamp(wall_s * busy_ps / unchanged_ps, wall_s_min, wall_s_max)
                      : wall_s;
    }
    return std::max(busy_ps, 1.0) / whole_s * app.playback.speed;
}

// Where the clock is after so long at the screen.
double glide(const App& app, double passed_s) {
    double time_ps = app.playback.time_ps;
    const double pace = pace_ps_per_s(app);
    const auto end_ps = static_cast<double>(app.show->end_ps());
    while (passed_s > 0 && time_ps < end_ps) {
        double rate = pace;
        double until_ps = end_ps;
        for (const Gap& gap : app.show->gaps) {
            const auto gap_begin_ps = static_cast<double>(gap.begin_ps);
            const auto gap_end_ps = static_cast<double>(gap.end_ps);
            if (time_ps < gap_begin_ps) {
                until_ps = gap_begin_ps;
                break;
            }
            if (time_ps < gap_end_ps) {
                until_ps = gap_end_ps;
                rate = (gap_end_ps - gap_begin_ps) / gap_wall_s * app.playback.speed;
                break;
            }
        }
        const double needed_s = (until_ps - time_ps) / rate;
        if (needed_s > passed_s) {
            return time_ps + rate * passed_s;
        }
        time_ps = until_ps;
        passed_s -= needed_s;
    }
    return time_ps;
}

}  // namespace

Status show_simulation(App& app, const RunSpec& run, Keep keep) {
    if (const Status status = check_drawable(app, run); !status) {
        return status;
    }
    const auto trace = simulate(run);
    if (!trace) {
        return trace.error();
    }
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    if (const Status status = show->replay.add_rounds(trace->rounds); !status) {
        return status;
    }
    if (const Status status = check_rounds(app, *show, trace->rounds); !status) {
        return status;
    }
    show->replay.add(trace->events);
    show->complete = true;
    show->outcome = trace->outcome;
    show->rounds = trace->rounds;
    show->notes = trace->notes;
    note_hops(*show);
    app.run = run;
    app.on_machine = false;
    replace_show(app, std::move(*show), keep);
    return Done{};
}

Status show_inputs(App& app, const RunSpec& run) {
    auto show = make_show(run);
    if (!show) {
        return show.error();
    }
    note_hops(*show);
    app.run = run;
    replace_show(app, std::move(*show), Keep::nothing);
    return Done{};
}

Status show_machine(App& app) {
    const RunSpec run = machine_run(app.run);
    if (const Status status = check_drawable(app, run); !status) {
        return status;
    }
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
        if (std::ssize(run.ring) != run.problem.rank_count) {
            run.ring.clear();
        }
    } else if (key == "algorithm") {
        run.algorithm = read->algorithm;
    } else if (key == "topology") {
        run.topology = read->topology;
        std::erase_if(run.settings, names_link);
        std::erase_if(run.changes, [](const Change& change) { return names_link(change.knob); });
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
    const std::vector<Round>& rounds = app.decoder.rounds();
    const auto added = std::span(rounds).subspan(show.rounds.size());
    Status fits = show.replay.add_rounds(added);
    if (fits) {
        fits = check_rounds(app, show, rounds);
    }
    if (!fits) {
        app.trace_refusal = fits.error();
        return fits;
    }
    show.rounds = rounds;
    show.notes = app.decoder.notes();
    show.replay.add(events);
    show.complete = app.decoder.finished();
    if (show.complete) {
        show.outcome = app.decoder.outcome();
    }
    note_hops(show);
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
    const std::vector<int64_t>& stops_ps = app.show->stops_ps;
    if (direction > 0) {
        const auto next = std::upper_bound(stops_ps.begin(), stops_ps.end(), now_ps);
        const int64_t end_ps = app.show->end_ps();  // that of an open step is not known
        put_clock_exactly(app, next == stops_ps.end() ? end_ps : std::min(*next, end_ps));
    } else {
        const auto here = std::lower_bound(stops_ps.begin(), stops_ps.end(), now_ps);
        put_clock_exactly(app, here == stops_ps.begin() ? 0 : std::min(*std::prev(here), now_ps));
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
            const auto steps = static_cast<double>(std::max<size_t>(1, app.show->stops_ps.size()));
            step(app, 1);
            playback.playing = true;
            playback.wait_s = std::max(step_wait_s_min, wall_s / steps / playback.speed);
        }
    } else {
        put_clock(app, glide(app, passed_s));
    }
    if (at_end(app)) {
        playback.playing = false;
    }
    return playback.playing;
}

bool at_end(const App& app) {
    return app.show->complete && app.playback.time_ps >= static_cast<double>(app.show->end_ps());
}

namespace {

const RoundSteps& current_round(const App& app) {
    return app.show->rounds_steps[static_cast<size_t>(app.show->replay.iteration())];
}

}  // namespace

int32_t current_step(const App& app) {
    const std::vector<int64_t>& ends_ps = current_round(app).end_ps;
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

bool stalled(const App& app) {
    const RoundSteps& round = current_round(app);
    return round.broken && app.show->replay.time_ps() >= round.last_ps;
}

bool is_dead(const App& app, int32_t rank) {
    const Show& show = *app.show;
    const Replay& replay = show.replay;
    const int64_t begin_ps = replay.begin_ps(replay.iteration());
    bool dead = false;
    const auto turn = [&](const Knob& knob, int64_t time_ps) {
        if (knob.kind == Knob::Kind::rank_alive && knob.rank == rank &&
            time_ps <= replay.time_ps()) {
            // Brought back, or replaced, it takes part from the next round on.
            const bool replaced = show.run.recovery == Recovery::restart && time_ps < begin_ps;
            dead = knob.value == 0 ? !replaced : dead && time_ps > begin_ps;
        }
    };
    for (const Knob& knob : show.run.settings) {
        turn(knob, 0);
    }
    for (const Change& change : show.run.changes) {
        turn(change.knob, change.time_ps);
    }
    return dead;
}

bool closed_form_holds(const RunSpec& run) {
    const auto changes_pace = [](const Knob& knob) {
        switch (knob.kind) {
            case Knob::Kind::bandwidth:
            case Knob::Kind::latency:
            case Knob::Kind::link_bandwidth:
            case Knob::Kind::link_latency:
            case Knob::Kind::rank_start:
            case Knob::Kind::rank_delay:
            case Knob::Kind::rank_slowdown:
                return true;
            default:
                return false;
        }
    };
    return run.topology == "uniform" && run.cost == Cost::plain &&
           run.forwarding == Forwarding::cut_through && run.reduce_bytes_per_s == 0 &&
           run.launch_ps == 0 && run.slots == 0 &&
           std::all_of(run.settings.begin(), run.settings.end(), changes_pace) &&
           std::all_of(run.changes.begin(), run.changes.end(), [&](const Change& change) {
               return changes_pace(change.knob);
           });
}

int64_t closed_form_ps(const App& app) {
    const Schedule& schedule = app.show->replay.schedule(0);
    return schedule.algorithm->closed_form_ps(
        schedule, app.run.bandwidth_bytes_per_s, app.run.latency_ps);
}

Report shown_report(const Show& show) {
    if (show.replay.events().empty() && !show.complete) {
        return {};
    }
    ReportBuilder builder(show.run, show.replay.schedule(0));
    for (const Event& event : show.replay.events()) {
        builder.add(event);
    }
    builder.add_rounds(show.rounds);
    return builder.finish(show.run);
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
