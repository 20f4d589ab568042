// SPDX-License-Identifier: Apache-2.0
// What the page's C++ needs of the machine it runs on. platform_web.cpp is the browser.
#pragma once

#include <cstdint>
#include <span>

#include "web/app.hpp"

namespace ringscope {

// The one state of this page.
App& the_app();

// Called at the end of main(): what follows comes from the page.
void stay();

// Draws soon; again and again for as long as advance() says so. Without it nothing is drawn.
void request_frame();

// Draws at once: the first picture need not wait for the browser's next frame.
void draw_now();

// Fits the window to App's size.
void resize_window();

// The letters of App::sheet: one byte of coverage per pixel.
void upload_glyphs(std::span<const uint8_t> coverage);

// Builds the window and all that the GPU holds anew, as after the browser took the GPU away. False
// when nothing can be drawn.
bool open_window();
void lose_window();

// Pictures drawn since the start.
int64_t frame_count();

}  // namespace ringscope
