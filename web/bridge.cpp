// SPDX-License-Identifier: Apache-2.0
// What the page's script may call: strings in, strings out, as JSON where there is more than one.
// core.ts is the other side. A returned string is valid until the next call. Errors come back as
// {"error": {"title", "field"?, "value"?, "allowed"?}}.
#include <algorithm>
#include <array>
#include <charconv>

#include "shared/algorithm.hpp"
#include "shared/json.hpp"
#include "shared/simulator.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"
#include "web/platform.hpp"
#include "web/views/view.hpp"

namespace ringscope {
namespace {

const char* answer(std::string text) {
    static std::string kept;
    kept = std::move(text);
    return kept.c_str();
}

const char* answer(const Status& status) {
    request_frame();
    return answer(status ? std::string("{}") : "{\"error\":" + error_json(status.error()) + "}");
}

Status leave_machine(App& app) {
    return show_simulation(app, app.run, Keep::nothing);
}

void set_dark(App& app, double dark) {
    app.dark = dark != 0;
    ++app.look_revision;
    app.dirty = true;
}

void set_speed(App& app, double speed) {
    app.playback.speed = speed;
    app.dirty = true;
}

// A command is a word and a number, which most of them ignore.
struct Command {
    std::string_view name;
    Status (*carry_out)(App& app, double value);
};

// Of what cannot fail.
template <auto act>
Status always(App& app, double value) {
    act(app, value);
    return Done{};
}

constexpr std::array commands{
    Command{"play", always<[](App& app, double) { play(app, true); }>},
    Command{"pause", always<[](App& app, double) { play(app, false); }>},
    Command{"step", always<[](App& app, double sign) { step(app, sign < 0 ? -1 : 1); }>},
    Command{"seek", always<seek>},
    Command{"speed", always<set_speed>},
    Command{"stepwise", always<[](App& app, double on) { app.playback.stepwise = on != 0; }>},
    Command{"dark", always<set_dark>},
    Command{"begin_trace", always<[](App& app, double) { begin_trace(app); }>},
    Command{"end_trace", always<[](App& app, double) { end_trace(app); }>},
    Command{"clear", [](App& app, double) { return clear_changes(app); }},
    Command{"machine", [](App& app, double) { return show_machine(app); }},
    Command{"simulation", [](App& app, double) { return leave_machine(app); }},
    Command{"undo",
            [](App& app, double index) { return undo_change(app, static_cast<size_t>(index)); }},
};

// "rank 0 sends chunk 5, ...": the first message of a step, in words. Going through all steps
// before takes a while, so that it is kept until the step is another one.
const std::string& example_of(const App& app, int32_t step) {
    constexpr int64_t message_count_max = 20'000;
    static std::array<int64_t, 3> kept_key{-1, -1, -1};
    static std::string kept;
    const Schedule& schedule = app.show->replay.schedule();
    const std::array<int64_t, 3> key{app.revision, app.show->replay.iteration(), step};
    if (key == kept_key) {
        return kept;
    }
    kept_key = key;
    kept.clear();
    std::vector<Transfer> sends;
    for (int32_t rank = 0; rank < schedule.participant_count && kept.empty() &&
                           schedule.message_count() <= message_count_max;
         ++rank) {
        schedule.append_sends(0, step, rank, sends);
        if (!sends.empty()) {
            kept = narrate(schedule, step, rank);
        }
    }
    return kept;
}

void append_step(JsonWriter& json, const App& app) {
    const Schedule& schedule = app.show->replay.schedule();
    const int32_t now = current_step(app);
    const bool inside = now < schedule.step_count;
    json.field("step", now)
        .field("furthest_step", furthest_step(app))
        .field("step_count", schedule.step_count)
        .field("in_step", app.show->in_step)
        .field("round", app.show->replay.iteration())
        .field("round_count", app.show->replay.round_count())
        .field("round_ranks", schedule.position_count())
        .field("stalled", stalled(app));
    json.field("phase", inside ? schedule.algorithm->phase(schedule, now) : std::string_view())
        .field("explain", inside ? schedule.algorithm->explain(schedule, now) : std::string())
        .field("example",
               inside && app.show->in_step ? std::string_view(example_of(app, now))
                                           : std::string_view());
}

void append_metrics(JsonWriter& json, const App& app) {
    const ViewMetrics metrics = views().front()->measure(app);
    json.field("label_px", static_cast<int>(metrics.label_px))
        .field("number_px", static_cast<int>(metrics.number_px))
        .field("free_radius_px", static_cast<int>(metrics.free_radius_px));
}

// The phases, and when the first step of each later one can begin, for the marks on the time bar.
void append_phases(JsonWriter& json, const Show& show) {
    const Schedule& schedule = show.replay.schedule(0);
    const RoundSteps& steps = show.rounds_steps.front();
    std::vector<std::string> names;
    json.key("phase_ends_ps").begin_array();
    const bool one_after_the_other = show.in_step && show.replay.round_count() == 1;
    for (int32_t step = 0; step < schedule.step_count && one_after_the_other; ++step) {
        std::string name(schedule.algorithm->phase(schedule, step));
        if (!names.empty() && name == names.back()) {
            continue;
        }
        names.push_back(std::move(name));
        const int64_t end_ps = step == 0 ? INT64_MAX : steps.end_ps[static_cast<size_t>(step) - 1];
        if (end_ps != INT64_MAX) {
            json.value(end_ps);
        }
    }
    json.end_array();
    json.key("phases").begin_array();
    for (const std::string& name : names) {
        json.value(std::string_view(name));
    }
    json.end_array();
}

void append_changes(JsonWriter& json, const App& app) {
    json.key("changes").begin_array();
    for (const Change& change : app.run.changes) {
        json.begin_object()
            .field("time", show_time(change.time_ps))
            .field("time_ps", change.time_ps)
            .field("knob", knob_name(change.knob))
            .field("value", show_knob_value(change.knob))
            .end_object();
    }
    json.end_array();
}

// What befell the run.
void append_notes(JsonWriter& json, const Show& show) {
    json.key("notes").begin_array();
    for (const Note& note : show.notes) {
        json.begin_object()
            .field("time", show_time(note.time_ps))
            .field("time_ps", note.time_ps)
            .field("text", std::string_view(note.text))
            .end_object();
    }
    json.end_array();
}

void append_algorithm(JsonWriter& json, const App& app) {
    const Schedule& schedule = app.show->replay.schedule(0);
    const Algorithm& algorithm = *schedule.algorithm;
    json.key("algorithm").begin_object();
    json.field("name", algorithm.name)
        .field("summary", algorithm.summary)
        .field("collective", collective_name(algorithm.collective))
        .field("lane_count", schedule.lane_count)
        .field("with_switch", schedule.with_switch)
        .end_object();
}

void append_topology(JsonWriter& json, const RunSpec& run) {
    bool bandwidth = false;
    bool latency = false;
    if (const auto topology = build_topology(run)) {
        for (const Link& link : topology->links) {
            bandwidth = bandwidth || link.follows_bandwidth;
            latency = latency || link.follows_latency;
        }
    }
    json.key("topology").begin_object().field("name", std::string_view(run.topology));
    for (const TopologyPreset* preset : topology_presets()) {
        if (preset->name == run.topology) {
            json.field("summary", preset->summary);
        }
    }
    json.field("follows_bandwidth", bandwidth).field("follows_latency", latency).end_object();
}

// "ring": the numbers can be put into its formula; "other": the algorithm's own words and time;
// "none": no closed form is known to hold.
std::string_view formula_kind(const RunSpec& run, const Schedule& schedule) {
    const bool own_arrangement =
        run.channels == 0 && run.chunks == 0 && run.segment_bytes == 0 && run.group == 0;
    if (!closed_form_holds(run) || (!own_arrangement && schedule.lane_count > 1)) {
        return "none";
    }
    const bool even = schedule.problem.element_count % schedule.chunk_count == 0;
    const bool ring = schedule.algorithm->name == "ring" && schedule.lane_count == 1;
    return ring && even ? "ring" : "other";
}

void append_formula(JsonWriter& json, const App& app) {
    const RunSpec& run = app.run;
    const Schedule& schedule = app.show->replay.schedule(0);
    const Algorithm& algorithm = *schedule.algorithm;
    const bool even = schedule.problem.element_count % schedule.chunk_count == 0;
    const bool exact =
        algorithm.closed_form_exact == nullptr || algorithm.closed_form_exact(schedule);
    json.key("formula").begin_object();
    json.field("kind", formula_kind(run, schedule))
        .field("steps", algorithm.steps)
        .field("bytes_per_rank", algorithm.bytes_per_rank)
        .field("exact", even && exact)
        .field("bytes", show_bytes(buffer_bytes(run.problem)))
        .field("bandwidth", show_bandwidth(run.bandwidth_bytes_per_s))
        .field("latency", show_time(run.latency_ps))
        .field("time", show_time(closed_form_ps(app)))
        .field("changed", !run.changes.empty())
        .field("set", !run.settings.empty())
        .end_object();
}

void append_run(JsonWriter& json, const App& app) {
    const RunSpec& run = app.run;
    json.field("line", print_run(run))
        .field("ranks", run.problem.rank_count)
        .field("bytes", buffer_bytes(run.problem))
        .field("bytes_text", print_bytes(buffer_bytes(run.problem)))
        .field("iterations", run.iterations);
    append_algorithm(json, app);
    append_topology(json, run);
    append_changes(json, app);
    append_notes(json, *app.show);
    append_formula(json, app);
}

void append_numbers(JsonWriter& json, const Show& show) {
    const Report report = shown_report(show);
    json.key("numbers").begin_object();
    json.field("time", show_time(report.duration_ps))
        .field("algbw", show_bandwidth(report.algbw_bytes_per_s))
        .field("busbw", show_bandwidth(report.busbw_bytes_per_s))
        .field("wire", show_bytes(report.wire_bytes_per_rank))
        .field("bound",
               report.lower_bound_ps > 0 ? show_time(report.lower_bound_ps) : std::string())
        .field("messages", report.message_count)
        .field("bottleneck", std::string_view(report.bottleneck));
    append_outcome(json, show.outcome);
    json.end_object();
}

// Whether hops are missing.
bool broken_off(const Outcome& outcome) {
    return outcome.kind == OutcomeKind::failed || outcome.kind == OutcomeKind::timeout;
}

std::string state_json(const App& app) {
    const int64_t bandwidth = value_in_force(app, Knob::Kind::bandwidth);
    const int64_t latency_ps = value_in_force(app, Knob::Kind::latency);
    JsonWriter json;
    json.begin_object()
        .field("revision", app.revision)
        .field("on_machine", app.on_machine)
        .field("hops", app.show->replay.events().size())
        .field("complete", app.show->complete)
        .field("broken_off", app.show->complete && broken_off(app.show->outcome))
        .field("time_ps", static_cast<int64_t>(app.playback.time_ps))
        .field("end_ps", app.show->end_ps())
        .field("playing", app.playback.playing)
        .field("at_end", at_end(app))
        .field("speed_permille", static_cast<int64_t>(app.playback.speed * 1000))
        .field("bandwidth", bandwidth)
        .field("bandwidth_text", print_bandwidth(bandwidth))
        .field("latency_ps", latency_ps)
        .field("latency_text", print_time(latency_ps));
    append_step(json, app);
    append_metrics(json, app);
    json.end_object();
    return json.text();
}

// What there is to choose from, in the order of the menu.
template <class Choices>
std::string choices_json(const Choices& choices) {
    JsonWriter json;
    json.begin_array();
    for (const auto* choice : choices) {
        json.begin_object()
            .field("name", choice->name)
            .field("summary", choice->summary)
            .end_object();
    }
    json.end_array();
    return json.text();
}

std::string report_json(const App& app) {
    JsonWriter json;
    json.begin_object().field("revision", app.revision);
    append_run(json, app);
    append_phases(json, *app.show);
    append_numbers(json, *app.show);
    json.field("shown_ranks", app.show->run.problem.rank_count)
        .field("shown_line", print_run(app.show->run));
    if (app.on_machine) {
        const auto predicted = simulate(app.run);
        json.field("predicted",
                   predicted ? show_time(make_report(*predicted).duration_ps) : std::string());
    }
    json.end_object();
    return json.text();
}

// Reads the next of the whole numbers that make up a line-wise table.
bool take_number(std::string_view& text, int& number) {
    const size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
    const auto [end, problem] =
        std::from_chars(text.data() + begin, text.data() + text.size(), number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return problem == std::errc{};
}

// "width height", then a line per letter: style, ASCII code, x, y, width, height, advance in 1/64
// pixels, density. All but the advance in pixels of the sheet.
GlyphSheet read_sheet(std::string_view table) {
    GlyphSheet sheet;
    if (!take_number(table, sheet.width_px) || !take_number(table, sheet.height_px)) {
        return {};
    }
    std::array<int, 8> row{};
    const auto take_row = [&] {
        return std::all_of(
            row.begin(), row.end(), [&](int& number) { return take_number(table, number); });
    };
    while (take_row()) {
        RS_CHECK(row[0] >= 0 && row[0] < static_cast<int>(text_style_count) && row[1] >= 0 &&
                 row[1] < 128 && row[7] > 0);
        const auto px = [&row](size_t column) { return static_cast<float>(row[column]); };
        sheet.glyphs[static_cast<size_t>(row[0])][static_cast<size_t>(row[1])] = {
            .source = {px(2), px(3)},
            .width_px = px(4),
            .height_px = px(5),
            .advance_px = px(6) / 64,
            .density = px(7)};
    }
    return sheet;
}

}  // namespace
}  // namespace ringscope

using namespace ringscope;  // NOLINT(google-build-using-namespace): the names below are C's

extern "C" {

// 1 when the scene can be drawn, 0 when there is no WebGL.
int page_open_window() {
    the_app().dirty = true;
    request_frame();
    return open_window() ? 1 : 0;
}

void page_draw_now() {
    draw_now();
}

void page_lose_window() {
    lose_window();
}

void page_resize(int width_px, int height_px, double scale) {
    App& app = the_app();
    app.width_px = width_px;
    app.height_px = height_px;
    app.scale = static_cast<float>(scale);
    ++app.look_revision;
    app.dirty = true;
    resize_window();
    request_frame();
}

void page_set_glyphs(const uint8_t* coverage, const char* table) {
    App& app = the_app();
    app.sheet = read_sheet(table);
    upload_glyphs(
        {coverage,
         static_cast<size_t>(app.sheet.width_px) * static_cast<size_t>(app.sheet.height_px)});
    ++app.look_revision;
    app.dirty = true;
    request_frame();
}

const char* page_command(const char* name, double value) {
    for (const Command& command : commands) {
        if (command.name == name) {
            return answer(command.carry_out(the_app(), value));
        }
    }
    return answer(
        plain_error(ErrorKind::invalid_argument, std::string("no command is called ") + name));
}

// Shows the simulation of a run line from its beginning.
const char* page_load(const char* line) {
    const auto run = parse_run(line);
    return answer(run ? show_simulation(the_app(), *run, Keep::nothing) : Status(run.error()));
}

const char* page_edit(const char* key, const char* value, int gesture) {
    return answer(edit(the_app(), key, value, gesture));
}

const char* page_push_trace(const char* bytes) {
    return answer(push_trace(the_app(), bytes));
}

// What changes from frame to frame, and what changes with its "revision" only.
const char* page_state() {
    return answer(state_json(the_app()));
}

const char* page_report() {
    return answer(report_json(the_app()));
}

const char* page_algorithms() {
    return answer(choices_json(algorithms()));
}

const char* page_topologies() {
    return answer(choices_json(topology_presets()));
}

const char* page_trace_hash() {
    return answer(shown_trace_hash(the_app()));
}

const char* page_simulated_trace_hash() {
    return answer(simulated_trace_hash(the_app()));
}

int page_frame_count() {
    return static_cast<int>(frame_count());
}
}
