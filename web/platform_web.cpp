// SPDX-License-Identifier: Apache-2.0
// The browser: SDL's window on the page's canvas, and frames only when there is something to draw.
#include <algorithm>

#include <emscripten.h>
#include <emscripten/html5.h>

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
    SDL_Renderer* renderer = nullptr;
    SDL_Texture* glyphs = nullptr;
    SDL_Texture* rest = nullptr;        // the layer that seldom changes
    std::vector<uint8_t> glyph_pixels;  // kept for the next window
    // What `rest` shows.
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

void make_glyph_texture() {
    Platform& state = platform();
    const GlyphSheet& sheet = the_app().sheet;
    if (state.glyphs != nullptr) {
        SDL_DestroyTexture(state.glyphs);
        state.glyphs = nullptr;
    }
    if (state.renderer == nullptr || sheet.width_px == 0) {
        return;
    }
    state.glyphs = SDL_CreateTexture(state.renderer,
                                     SDL_PIXELFORMAT_ABGR8888,
                                     SDL_TEXTUREACCESS_STATIC,
                                     sheet.width_px,
                                     sheet.height_px);
    if (state.glyphs != nullptr) {
        SDL_UpdateTexture(state.glyphs, nullptr, state.glyph_pixels.data(), sheet.width_px * 4);
        SDL_SetTextureBlendMode(state.glyphs, SDL_BLENDMODE_BLEND);
    }
}

// Of the canvas's size, or none.
SDL_Texture* make_rest_texture() {
    const App& app = the_app();
    SDL_Texture* texture = SDL_CreateTexture(platform().renderer,
                                             SDL_PIXELFORMAT_ABGR8888,
                                             SDL_TEXTUREACCESS_TARGET,
                                             app.width_px,
                                             app.height_px);
    if (texture != nullptr) {
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_NONE);
    }
    return texture;
}

void forget_rest() {
    Platform& state = platform();
    if (state.rest != nullptr) {
        SDL_DestroyTexture(state.rest);
        state.rest = nullptr;
    }
}

void clear() {
    const Color ground = theme(the_app().dark).ground;
    SDL_SetRenderDrawColor(platform().renderer, ground.r, ground.g, ground.b, 255);
    SDL_RenderClear(platform().renderer);
}

// How many moments have passed: with the revision, all that the resting layer depends on.
size_t passed_moment_count(const App& app) {
    const std::vector<int64_t>& moments_ps = app.show->moments_ps;
    return static_cast<size_t>(
        std::upper_bound(moments_ps.begin(), moments_ps.end(), app.show->replay.time_ps()) -
        moments_ps.begin());
}

void draw_rest(const View& view, Painter& painter) {
    clear();
    view.draw_rest(the_app(), painter);
    painter.flush(platform().renderer, platform().glyphs);
}

// Draws what rests into the texture, unless it is there already. False: there can be no texture.
bool refresh_rest(const View& view, Painter& painter) {
    Platform& state = platform();
    const App& app = the_app();
    const size_t moment_count = passed_moment_count(app);
    if (state.rest != nullptr && state.rest_revision == app.revision &&
        state.rest_look_revision == app.look_revision && state.rest_moment_count == moment_count) {
        return true;
    }
    if (state.rest == nullptr) {
        state.rest = make_rest_texture();
    }
    if (state.rest == nullptr || SDL_SetRenderTarget(state.renderer, state.rest) != 0) {
        return false;
    }
    draw_rest(view, painter);
    SDL_SetRenderTarget(state.renderer, nullptr);
    state.rest_revision = app.revision;
    state.rest_look_revision = app.look_revision;
    state.rest_moment_count = moment_count;
    return true;
}

void draw() {
    Platform& state = platform();
    const App& app = the_app();
    if (state.renderer == nullptr || !app.show) {
        return;
    }
    const View& view = *views().front();
    Painter painter(app.sheet);
    // The first picture does not wait for the making of a texture.
    if (state.frame_count > 0 && refresh_rest(view, painter)) {
        SDL_RenderCopy(state.renderer, state.rest, nullptr, nullptr);
    } else {
        draw_rest(view, painter);
    }
    view.draw_motion(app, painter);
    painter.flush(state.renderer, state.glyphs);
    SDL_RenderPresent(state.renderer);
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
    SDL_SetHint(SDL_HINT_RENDER_DRIVER, "opengles2");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
        return false;
    }
    // Without a title: the document has its own.
    state.window = SDL_CreateWindow(
        nullptr, 0, 0, std::max(1, app.width_px), std::max(1, app.height_px), SDL_WINDOW_OPENGL);
    if (state.window == nullptr) {
        return false;
    }
    state.renderer = SDL_CreateRenderer(state.window, -1, SDL_RENDERER_TARGETTEXTURE);
    // SDL would swallow keys, wheel and touches of the whole page and ask before leaving it. The
    // page's script listens to all of them itself.
    emscripten_html5_remove_all_event_listeners();
    if (state.renderer == nullptr) {
        return false;
    }
    SDL_SetRenderDrawBlendMode(state.renderer, SDL_BLENDMODE_BLEND);
    make_glyph_texture();
    return true;
}

void lose_window() {
    Platform& state = platform();
    if (state.renderer != nullptr) {
        SDL_DestroyRenderer(state.renderer);  // with its textures
    }
    if (state.window != nullptr) {
        SDL_DestroyWindow(state.window);
    }
    state.renderer = nullptr;
    state.window = nullptr;
    state.glyphs = nullptr;
    state.rest = nullptr;
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

void resize_window() {
    Platform& state = platform();
    const App& app = the_app();
    if (state.renderer == nullptr) {
        return;
    }
    SDL_SetWindowSize(state.window, app.width_px, app.height_px);
    SDL_RenderSetViewport(state.renderer, nullptr);
    forget_rest();
}

void upload_glyphs(std::span<const uint8_t> coverage) {
    Platform& state = platform();
    state.glyph_pixels.assign(coverage.size() * 4, 255);
    for (size_t i = 0; i < coverage.size(); ++i) {
        state.glyph_pixels[4 * i + 3] = coverage[i];
    }
    make_glyph_texture();
}

int64_t frame_count() {
    return platform().frame_count;
}

}  // namespace ringscope
