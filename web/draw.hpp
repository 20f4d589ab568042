// SPDX-License-Identifier: Apache-2.0
// Painter: collects anti-aliased shapes and text, and hands them to SDL in one call.
//
//     Painter painter(sheet);
//     painter.fill(Sector{.center = c, .inner_px = 80, .outer_px = 100, .end_rad = 1}, ink);
//     painter.text("42", c, TextStyle::number, paper);
//     painter.flush(renderer, sheet_texture);
//
// Edges are smoothed by a rim of triangles that fades out over one pixel, so that they look the
// same on every driver. Lengths are device pixels. Angles are clockwise from the top, as a reader
// of a clock expects. Everything is drawn with the letters' texture, whose corner is white, so that
// the driver needs one shader program (building one takes longer than a frame) and later things lie
// above earlier ones.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <SDL.h>

namespace ringscope {

using Color = SDL_Color;

// `share` of b, the rest of a; opaque.
Color mix(Color a, Color b, float share);
Color with_alpha(Color color, float alpha);

struct Point {
    float x = 0;
    float y = 0;
};

Point on_circle(Point center, float radius_px, float angle_rad);

// A piece of a ring.
struct Sector {
    Point center;
    float inner_px = 0;
    float outer_px = 0;
    float begin_rad = 0;
    float end_rad = 0;
    float corner_px = 0;

    float middle_px() const { return (inner_px + outer_px) / 2; }
    float middle_rad() const { return (begin_rad + end_rad) / 2; }
    // Larger by `px` on every side; smaller when negative.
    Sector grown(float px) const;
};

enum class TextStyle : uint8_t { label, number };
inline constexpr size_t text_style_count = 2;

// Where the browser drew each letter, in one texture. The middle of its first four pixels is solid.
struct Glyph {
    SDL_FRect source{};  // in the texture, in its pixels
    float advance_px = 0;
    float density = 1;  // the texture's pixels per pixel on the screen; 2 survives being turned
};

struct GlyphSheet {
    int width_px = 0;
    int height_px = 0;
    std::array<std::array<Glyph, 128>, text_style_count> glyphs{};  // [style][ASCII code]

    float text_width_px(std::string_view text, TextStyle style) const;
    float text_height_px(TextStyle style) const;
};

class Painter {
  public:
    explicit Painter(const GlyphSheet& sheet);

    void fill(const Sector& sector, Color color);
    void stroke(const Sector& sector, float width_px, Color color);  // inside its border
    void fill_convex(std::span<const Point> corners, Color color);
    // Centred, turned clockwise.
    void text(
        std::string_view text, Point center, TextStyle style, Color color, float turn_rad = 0);
    const GlyphSheet& sheet() const { return sheet_; }

    // Draws what was collected and forgets it.
    void flush(SDL_Renderer* renderer, SDL_Texture* sheet_texture);

  private:
    struct Mesh {
        std::vector<SDL_Vertex> vertices;
        std::vector<int> indices;

        int add(Point point, Color color, SDL_FPoint texture);
        void add_triangle(int a, int b, int c);
        void add_quad(int a, int b, int c, int d);
    };

    // The border of the shape at hand and, for each corner, the way out of it.
    void trace_sector(const Sector& sector);
    void find_normals();
    void add_rim(float offset_px, Color color);
    void connect_rims(int first, int second);

    const GlyphSheet& sheet_;
    SDL_FPoint solid_;  // in the texture, from 0 to 1
    Mesh mesh_;
    std::vector<Point> border_;
    std::vector<Point> normals_;
};

}  // namespace ringscope
