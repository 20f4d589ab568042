// SPDX-License-Identifier: Apache-2.0
// Gpu: draws a painter's triangles with WebGL, on the screen or into a layer that rests between
// frames.
//
// One shader program for everything, because building one takes longer than a frame: a vertex has a
// colour and a place in the letters' texture, whose corner is solid. All of it lives as long as the
// GL context does, and is made anew after the context was lost.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <GLES2/gl2.h>

#include "web/draw.hpp"

namespace ringscope {

class Gpu {
  public:
    // For the context that is current, which has OES_element_index_uint. Null: it cannot draw.
    static std::unique_ptr<Gpu> create();

    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;
    ~Gpu();

    // The screen's size. The layer is lost.
    void resize(int width_px, int height_px);
    // Coverage of the letters' texture, one byte per pixel, row after row.
    void set_sheet(int width_px, int height_px, std::span<const uint8_t> coverage);

    void clear(Color color);
    void draw(const Mesh& mesh);

    bool has_layer() const { return layer_texture_ != 0; }
    // Until end_layer, what is drawn goes into the layer. False: there can be none.
    bool begin_layer();
    void end_layer();
    // Covers the whole screen with it.
    void draw_layer();

  private:
    Gpu() = default;

    bool build_program();
    bool make_layer();
    void forget_layer();
    void draw_with(GLuint texture, const Mesh& mesh);

    GLuint program_ = 0;
    GLint scale_ = -1;  // where the program takes the screen's size
    GLuint vertices_ = 0;
    GLuint indices_ = 0;
    GLuint sheet_texture_ = 0;
    GLuint layer_texture_ = 0;
    GLuint layer_frame_ = 0;
    int width_px_ = 1;
    int height_px_ = 1;
};

}  // namespace ringscope
