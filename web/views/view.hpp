// SPDX-License-Identifier: Apache-2.0
// View: one way to draw the state. One file in views/ defines each, one line in registry.cpp lists
// it.
//
// A picture has two layers, so that a frame costs little: what rests between two hops' ends, which
// is kept as a texture, and what moves all the time.
#pragma once

#include <span>
#include <string_view>

#include "web/app.hpp"
#include "web/draw.hpp"

namespace ringscope {

// What the page has to know to put its own words into the picture. In device pixels.
struct ViewMetrics {
    float label_px = 0;        // size of the letters, by style
    float number_px = 0;       // 0: no numbers
    float free_radius_px = 0;  // of the empty circle in the middle
};

struct View {
    std::string_view name;
    ViewMetrics (*measure)(const App& app);
    // The most chunks that it can draw of so many ranks, at the canvas's size.
    int32_t (*chunk_count_max)(const App& app, int32_t rank_count);
    void (*draw_rest)(const App& app, Painter& painter);
    void (*draw_motion)(const App& app, Painter& painter);
};

// The first one is the page's first.
std::span<const View* const> views();

}  // namespace ringscope
