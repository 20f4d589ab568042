// SPDX-License-Identifier: Apache-2.0
// Painter: collects anti-aliased shapes and text as triangles, to be drawn in one call.
//
//     Painter painter(sheet);
//     painter.fill(Sector{.center = c, .inner_px = 80, .outer_px = 100, .end_rad = 1}, ink);
//     painter.text("42", c, TextStyle::number, paper);
//     gpu.draw(painter.mesh());
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

namespace ringscope {

struct Color {
    uint8_t r = 0;
    uint8_t g = 0;
    uint8_t b = 0;
    uint8_t a = 255;
};

// `share` of b, the rest of a; opaque.
Color mix(Color a, Color b, float share);
Color with_alpha(Color color, float alpha);

struct Point {
    float x = 0;
    float y = 0;
};

// One corner of a triangle, as the GPU takes it.
struct Vertex {
    Point place;
    Color color;
    Point texture;  // from 0 to 1
};

struct Mesh {
    std::vector<Vertex> vertices;
    std::vector<uint32_t> indices;  // of vertices; three make a triangle

    uint32_t add(Point place, Color color, Point texture);
    void add_triangle(uint32_t a, uint32_t b, uint32_t c);
    void add_quad(uint32_t a, uint32_t b, uint32_t c, uint32_t d);
    void clear();
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
    Point source;  // in the texture, in its pixels
    float width_px = 0;
    float height_px = 0;
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

    const Mesh& mesh() const { return mesh_; }
    void clear() { mesh_.clear(); }

  private:
    // The border of the shape at hand and, for each corner, the way out of it.
    void trace_sector(const Sector& sector);
    void find_normals();
    void add_rim(float offset_px, Color color);
    void connect_rims(uint32_t first, uint32_t second);

    const GlyphSheet& sheet_;
    Point solid_;  // in the texture, from 0 to 1
    Mesh mesh_;
    std::vector<Point> border_;
    std::vector<Point> normals_;
};

}  // namespace ringscope
