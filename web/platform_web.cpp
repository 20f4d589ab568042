// SPDX-License-Identifier: Apache-2.0
// The browser: SDL's window on the page's canvas, and frames only when there is something to draw.
#include <algorithm>
#include <memory>
#include <vector>

#include <SDL.h>
#include <emscripten.h>
#include <emscripten/html5.h>

#include "web/gpu.hpp"
#include "web/platform.hpp"
#include "web/theme.hpp"
#include "web/views/view.hpp"

// The page's script reads the state once per frame.
EM_JS(void, notify_page, (), { Module["onFrame"](); });

namespace ringscope {
namespace {

// A tab that was hidden has not lived through the time since; nor has a frame that took for ever.
constexpr double passed_s_max = 0.1;

struct Platform {
    SDL_Window* window = nullptr;
    SDL_GLContext context = nullptr;
    std::unique_ptr<Gpu> gpu;
    std::vector<uint8_t> coverage;  // of the letters: kept for the next context
    // What the GPU's layer shows.
    int64_t rest_revision = -1;
    int64_t rest_look_revision = -1;
    size_t rest_moment_count = 0;

    bool frame_requested = false;
    double last_frame_ms = -1;
    int64_t frame_count = 0;
};

Platform& platform() {
    static Platform state;
    return state;
}

void show_letters() {
    const Platform& state = platform();
    const GlyphSheet& sheet = the_app().sheet;
    if (state.gpu && !state.coverage.empty()) {
        state.gpu->set_sheet(sheet.width_px, sheet.height_px, state.coverage);
    }
}

// How many moments have passed: with the revision, all that the resting layer depends on.
size_t passed_moment_count(const App& app) {
    const std::vector<int64_t>& moments_ps = app.show->moments_ps;
    return static_cast<size_t>(
        std::upper_bound(moments_ps.begin(), moments_ps.end(), app.show->replay.time_ps()) -
        moments_ps.begin());
}

void draw_rest(const View& view, Painter& painter) {
    Gpu& gpu = *platform().gpu;
    gpu.clear(theme(the_app().dark).ground);
    view.draw_rest(the_app(), painter);
    gpu.draw(painter.mesh());
    painter.clear();
}

// Draws what rests into the layer, unless it is there already. False: there can be no layer.
bool refresh_rest(const View& view, Painter& painter) {
    Platform& state = platform();
    const App& app = the_app();
    const size_t moment_count = passed_moment_count(app);
    if (state.gpu->has_layer() && state.rest_revision == app.revision &&
        state.rest_look_revision == app.look_revision && state.rest_moment_count == moment_count) {
        return true;
    }
    if (!state.gpu->begin_layer()) {
        return false;
    }
    draw_rest(view, painter);
    state.gpu->end_layer();
    state.rest_revision = app.revision;
    state.rest_look_revision = app.look_revision;
    state.rest_moment_count = moment_count;
    return true;
}

void draw() {
    Platform& state = platform();
    const App& app = the_app();
    if (!state.gpu || !app.show) {
        return;
    }
    const View& view = *views().front();
    Painter painter(app.sheet);
    // The first picture does not wait for the making of a layer.
    if (state.frame_count > 0 && refresh_rest(view, painter)) {
        state.gpu->draw_layer();
    } else {
        draw_rest(view, painter);
    }
    view.draw_motion(app, painter);
    state.gpu->draw(painter.mesh());
    SDL_GL_SwapWindow(state.window);
    ++state.frame_count;
}

void draw_if_dirty() {
    App& app = the_app();
    if (app.dirty) {
        app.dirty = false;
        draw();
        notify_page();
    }
}

EM_BOOL frame(double now_ms, void*) {
    Platform& state = platform();
    App& app = the_app();
    state.frame_requested = false;
    const double passed_s = state.last_frame_ms < 0 ? 0 : (now_ms - state.last_frame_ms) / 1000;
    const bool more = advance(app, std::clamp(passed_s, 0.0, passed_s_max));
    draw_if_dirty();
    state.last_frame_ms = more ? now_ms : -1;
    if (more) {
        request_frame();
    }
    return EM_FALSE;
}

}  // namespace

App& the_app() {
    static App app;
    return app;
}

void stay() {
    emscripten_exit_with_live_runtime();
}

void request_frame() {
    Platform& state = platform();
    if (!state.frame_requested) {
        state.frame_requested = true;
        emscripten_request_animation_frame(frame, nullptr);
    }
}

void draw_now() {
    draw_if_dirty();
}

bool open_window() {
    Platform& state = platform();
    const App& app = the_app();
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
        return false;
    }
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_ES);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 2);
    // Without a title: the document has its own.
    state.window = SDL_CreateWindow(nullptr, 0, 0, app.width_px, app.height_px, SDL_WINDOW_OPENGL);
    // SDL would swallow keys, wheel and touches of the whole page and ask before leaving it. The
    // page's script listens to all of them itself.
    emscripten_html5_remove_all_event_listeners();
    if (state.window == nullptr) {
        return false;
    }
    state.context = SDL_GL_CreateContext(state.window);
    if (state.context == nullptr) {
        return false;
    }
    // More than 65,536 corners in one call. No browser of the last ten years is without it.
    if (!emscripten_webgl_enable_extension(emscripten_webgl_get_current_context(),
                                           "OES_element_index_uint")) {
        return false;
    }
    state.gpu = Gpu::create();
    if (!state.gpu) {
        return false;
    }
    state.gpu->resize(app.width_px, app.height_px);
    show_letters();
    return true;
}

void lose_window() {
    Platform& state = platform();
    state.gpu.reset();
    if (state.context != nullptr) {
        SDL_GL_DeleteContext(state.context);
    }
    if (state.window != nullptr) {
        SDL_DestroyWindow(state.window);
    }
    state.context = nullptr;
    state.window = nullptr;
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

void resize_window() {
    Platform& state = platform();
    const App& app = the_app();
    if (state.gpu) {
        SDL_SetWindowSize(state.window, app.width_px, app.height_px);
        state.gpu->resize(app.width_px, app.height_px);
    }
}

void upload_glyphs(std::span<const uint8_t> coverage) {
    platform().coverage.assign(coverage.begin(), coverage.end());
    show_letters();
}

int64_t frame_count() {
    return platform().frame_count;
}

}  // namespace ringscope
