// SPDX-License-Identifier: Apache-2.0
// App: the whole state of the page, and what can be done to it.
//
// No window, no browser: bridge.cpp calls these functions on behalf of the page's script,
// platform_web.cpp calls advance() once a frame, the views read the rest. A view draws App::show
// and cannot tell a simulated trace from a measured one, or a finished one from one that is still
// growing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/replay.hpp"
#include "shared/report.hpp"
#include "shared/run_spec.hpp"
#include "shared/trace_codec.hpp"
#include "web/draw.hpp"

namespace ringscope {

// More wedges than this are thinner than a finger and a pixel can tell apart.
inline constexpr int32_t drawn_rank_count_max = 64;
// More hops than this do not fit a tab's memory and a person's patience.
inline constexpr int64_t shown_hop_count_max = 250'000;

// How far one round, one go at the collective, gets.
struct RoundSteps {
    // [step] when its last hop ended; INT64_MAX while that is open, or when it never does
    std::vector<int64_t> end_ps;
    int64_t begin_ps = INT64_MAX;  // when its first hop leaves
    int64_t last_ps = 0;           // when its last hop ends
    bool broken = false;           // hops are missing for good
};

// A time without a hop, which is passed quickly.
struct Gap {
    int64_t begin_ps = 0;
    int64_t end_ps = 0;
};

// What the scene shows: a run and those of its hops that are known.
struct Show {
    RunSpec run;
    Replay replay;
    bool complete = false;      // no more hops will come
    Outcome outcome;            // when complete
    std::vector<Round> rounds;  // as in a Trace
    std::vector<Note> notes;
    std::vector<RoundSteps> rounds_steps;  // [round]
    std::vector<int64_t> moments_ps;  // when what rests changes: hops end, rounds begin, ranks die
    std::vector<int64_t> stops_ps;    // where a step forward goes, sorted
    std::vector<Gap> gaps;
    bool in_step = true;  // no rank is well into a step before all are through with the one before

    explicit Show(const RunSpec& shown, Replay&& empty) : run(shown), replay(std::move(empty)) {}
    // Of the last hop known so far, or of what befell the run after it.
    int64_t end_ps() const {
        return std::max(replay.end_ps(), notes.empty() ? 0 : notes.back().time_ps);
    }
};

struct Playback {
    double time_ps = 0;  // of the run
    double speed = 1;
    bool playing = false;
    bool stepwise = false;  // jump from step to step instead of gliding
    double wait_s = 0;      // until the next such jump
};

// A slider that is held turns one knob once, however often it reports.
struct Gesture {
    int32_t id = 0;
    Knob::Kind kind = Knob::Kind::bandwidth;
    std::optional<int64_t>
        change_ps;  // its place among the run's changes; none when it edits the run itself
};

struct App {
    RunSpec run;  // what the controls say, with the knobs turned on the way; always simulated
    bool on_machine = false;  // the scene is for measured runs
    std::optional<Show> show;
    // Of the measured run, as it comes in:
    TraceDecoder decoder;
    std::optional<Error> trace_refusal;  // why the page cannot show it
    Playback playback;
    Gesture gesture;

    bool dark = false;
    int32_t width_px = 0;  // of the canvas, in device pixels
    int32_t height_px = 0;
    float scale = 1;  // device pixels per CSS pixel
    GlyphSheet sheet;

    int64_t revision = 0;       // grows when run or show changes
    int64_t look_revision = 0;  // grows when size, theme or letters change
    bool dirty = true;          // the picture is older than the state
};

// Where the clock goes when a run takes another's place.
enum class Keep : uint8_t { nothing, time, share };

// Simulates `run` and shows it. Errors leave everything as it was.
Status show_simulation(App& app, const RunSpec& run, Keep keep);
// The same without simulating: the inputs at rest, until something is known of its hops.
Status show_inputs(App& app, const RunSpec& run);
// Shows the inputs of the controls' run at rest, ready for a measured trace.
Status show_machine(App& app);
// One control: algorithm, topology, ranks, bytes, bandwidth or latency. The last two, while the
// clock is inside a simulated run, become a change at that moment; calls with one gesture id count
// as one turn.
Status edit(App& app, std::string_view key, std::string_view value, int32_t gesture);
Status undo_change(App& app, size_t index);  // of run.changes
Status clear_changes(App& app);
// The rate or latency that a control shows: in flight the one in force, otherwise the run's own.
int64_t value_in_force(const App& app, Knob::Kind kind);

// A measured trace, as it comes in.
void begin_trace(App& app);
// Errors: a damaged line; a run that the page cannot show, again at every further call.
Status push_trace(App& app, std::string_view bytes);
// No more will come. A trace without an outcome then counts as a failed run.
void end_trace(App& app);

void play(App& app, bool playing);
void seek(App& app, double time_ps);
void step(App& app, int direction);
// Moves the clock on; true when another frame is wanted.
bool advance(App& app, double wall_s);

bool at_end(const App& app);
// The step the clock is in, that of the slowest rank, of the round it is in; the schedule's
// step_count when all are over.
int32_t current_step(const App& app);
// That of the rank which is furthest ahead.
int32_t furthest_step(const App& app);
// The clock stands where no hop is on its way because the round can get no further.
bool stalled(const App& app);
// Whether a rank is dead at the time of the clock, as far as the run line says.
bool is_dead(const App& app, int32_t rank);
// Whether the algorithm's closed form holds for the controls' run, up to knobs that change the
// pace.
bool closed_form_holds(const RunSpec& run);
// The algorithm's closed form for the run without changes.
int64_t closed_form_ps(const App& app);
// Of the hops that are known. Takes a while for many of them: asked for when it is to be read.
Report shown_report(const Show& show);
// Of the trace on show, which is complete.
std::string shown_trace_hash(const App& app);
// Of the simulation of the controls' run.
std::string simulated_trace_hash(const App& app);

}  // namespace ringscope
