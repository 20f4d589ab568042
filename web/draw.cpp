// SPDX-License-Identifier: Apache-2.0
#include "web/draw.hpp"

#include <algorithm>
#include <cmath>

namespace ringscope {
namespace {

// A chord may leave its arc by this much before one more corner is spent on it.
constexpr float chord_error_px = 0.12F;
constexpr int arc_segment_count_max = 64;
constexpr float feather_px = 0.5F;  // to each side of the border
constexpr int corner_segment_count = 3;

uint8_t channel(float value) {
    return static_cast<uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

int arc_segment_count(float radius_px, float angle_rad) {
    const float segment_rad =
        2 * std::acos(1 - std::min(1.0F, chord_error_px / std::max(radius_px, 1.0F)));
    return std::clamp(
        static_cast<int>(std::ceil(angle_rad / segment_rad)), 1, arc_segment_count_max);
}

// How far a rounded corner draws the border in, `distance_px` along from where the shape begins.
float corner_inset_px(float corner_px, float distance_px) {
    if (distance_px >= corner_px) {
        return 0;
    }
    const float rest_px = corner_px - distance_px;
    return corner_px - std::sqrt(std::max(0.0F, corner_px * corner_px - rest_px * rest_px));
}

}  // namespace

Color mix(Color a, Color b, float share) {
    const auto blend = [share](uint8_t from, uint8_t to) {
        return channel(static_cast<float>(from) +
                       (static_cast<float>(to) - static_cast<float>(from)) * share);
    };
    return {blend(a.r, b.r), blend(a.g, b.g), blend(a.b, b.b), 255};
}

Color with_alpha(Color color, float alpha) {
    color.a = channel(static_cast<float>(color.a) * alpha);
    return color;
}

Point on_circle(Point center, float radius_px, float angle_rad) {
    return {center.x + radius_px * std::sin(angle_rad), center.y - radius_px * std::cos(angle_rad)};
}

Sector Sector::grown(float px) const {
    Sector sector = *this;
    sector.inner_px = std::max(0.0F, inner_px - px);
    sector.outer_px += px;
    sector.begin_rad -= px / middle_px();
    sector.end_rad += px / middle_px();
    sector.corner_px = std::max(0.0F, corner_px + px);
    return sector;
}

float GlyphSheet::text_width_px(std::string_view text, TextStyle style) const {
    float sum_px = 0;
    for (const char c : text) {
        sum_px +=
            glyphs[static_cast<size_t>(style)][static_cast<unsigned char>(c) & 127].advance_px;
    }
    return sum_px;
}

float GlyphSheet::text_height_px(TextStyle style) const {
    const Glyph& digit = glyphs[static_cast<size_t>(style)]['0'];
    return digit.height_px / digit.density;
}

Painter::Painter(const GlyphSheet& sheet)
    : sheet_(sheet),
      solid_{1 / static_cast<float>(std::max(1, sheet.width_px)),
             1 / static_cast<float>(std::max(1, sheet.height_px))} {}

uint32_t Mesh::add(Point place, Color color, Point texture) {
    vertices.push_back({place, color, texture});
    return static_cast<uint32_t>(vertices.size() - 1);
}

void Mesh::add_triangle(uint32_t a, uint32_t b, uint32_t c) {
    indices.insert(indices.end(), {a, b, c});
}

void Mesh::add_quad(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    indices.insert(indices.end(), {a, b, c, a, c, d});
}

void Mesh::clear() {
    vertices.clear();
    indices.clear();
}

// The outer arc clockwise, then the inner one back: corner i of the one faces corner count-1-i.
void Painter::trace_sector(const Sector& sector) {
    border_.clear();
    const float angle_rad = sector.end_rad - sector.begin_rad;
    const float length_px = angle_rad * sector.middle_px();
    const float corner_px =
        std::min({sector.corner_px, length_px / 2, (sector.outer_px - sector.inner_px) / 2});
    std::array<float, arc_segment_count_max + 3 + 2 * corner_segment_count> along_px{};
    size_t count = 0;
    if (corner_px > 0.4F) {
        for (int i = 0; i < corner_segment_count; ++i) {
            const float quarter =
                static_cast<float>(i) / corner_segment_count * static_cast<float>(M_PI) / 2;
            along_px[count++] = corner_px * (1 - std::cos(quarter));
        }
    }
    const int segments = arc_segment_count(sector.outer_px, angle_rad);
    const float straight_begin_px = corner_px > 0.4F ? corner_px : 0;
    for (int i = 0; i <= segments; ++i) {
        along_px[count++] = straight_begin_px + (length_px - 2 * straight_begin_px) *
                                                    static_cast<float>(i) /
                                                    static_cast<float>(segments);
    }
    if (corner_px > 0.4F) {
        for (int i = corner_segment_count - 1; i >= 0; --i) {
            along_px[count] = length_px - along_px[static_cast<size_t>(i)];
            ++count;
        }
    }
    const auto corner = [&](size_t i, bool outer) {
        const float inset_px =
            corner_px > 0.4F
                ? corner_inset_px(corner_px, std::min(along_px[i], length_px - along_px[i]))
                : 0;
        const float radius_px = outer ? sector.outer_px - inset_px : sector.inner_px + inset_px;
        return on_circle(
            sector.center, radius_px, sector.begin_rad + along_px[i] / sector.middle_px());
    };
    for (size_t i = 0; i < count; ++i) {
        border_.push_back(corner(i, true));
    }
    for (size_t i = count; i-- > 0;) {
        border_.push_back(corner(i, false));
    }
}

void Painter::find_normals() {
    const size_t count = border_.size();
    normals_.resize(count);
    const auto edge_normal = [&](size_t i) {
        const Point a = border_[i];
        const Point b = border_[(i + 1) % count];
        const float length = std::max(1e-3F, std::hypot(b.x - a.x, b.y - a.y));
        return Point{(b.y - a.y) / length, (a.x - b.x) / length};
    };
    Point before = edge_normal(count - 1);
    for (size_t i = 0; i < count; ++i) {
        const Point after = edge_normal(i);
        const Point sum{before.x + after.x, before.y + after.y};
        // A mitre: as far out as both edges move. Very sharp corners are cut off.
        const float scale = 2 / std::max(0.5F, sum.x * sum.x + sum.y * sum.y);
        normals_[i] = {sum.x * scale, sum.y * scale};
        before = after;
    }
}

void Painter::add_rim(float offset_px, Color color) {
    for (size_t i = 0; i < border_.size(); ++i) {
        mesh_.add(
            {border_[i].x + normals_[i].x * offset_px, border_[i].y + normals_[i].y * offset_px},
            color,
            solid_);
    }
}

void Painter::connect_rims(uint32_t first, uint32_t second) {
    const auto count = static_cast<uint32_t>(border_.size());
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t next = (i + 1) % count;
        mesh_.add_quad(first + i, first + next, second + next, second + i);
    }
}

void Painter::fill(const Sector& sector, Color color) {
    if (sector.end_rad <= sector.begin_rad || sector.outer_px <= sector.inner_px) {
        return;
    }
    trace_sector(sector);
    find_normals();
    const auto inside = static_cast<uint32_t>(mesh_.vertices.size());
    const auto count = static_cast<uint32_t>(border_.size());
    add_rim(-feather_px, color);
    add_rim(feather_px, with_alpha(color, 0));
    for (uint32_t i = 0; i + 1 < count / 2; ++i) {
        mesh_.add_quad(inside + i, inside + i + 1, inside + count - 2 - i, inside + count - 1 - i);
    }
    connect_rims(inside, inside + count);
}

void Painter::stroke(const Sector& sector, float width_px, Color color) {
    if (sector.end_rad <= sector.begin_rad || sector.outer_px <= sector.inner_px) {
        return;
    }
    trace_sector(sector);
    find_normals();
    const auto first = static_cast<uint32_t>(mesh_.vertices.size());
    const auto count = static_cast<uint32_t>(border_.size());
    const Color clear = with_alpha(color, 0);
    add_rim(feather_px, clear);
    add_rim(-feather_px, color);
    add_rim(-std::max(feather_px, width_px - feather_px), color);
    add_rim(-width_px - feather_px, clear);
    for (uint32_t rim = 0; rim < 3; ++rim) {
        connect_rims(first + rim * count, first + (rim + 1) * count);
    }
}

void Painter::fill_convex(std::span<const Point> corners, Color color) {
    border_.assign(corners.begin(), corners.end());
    find_normals();
    const auto inside = static_cast<uint32_t>(mesh_.vertices.size());
    const auto count = static_cast<uint32_t>(border_.size());
    add_rim(-feather_px, color);
    add_rim(feather_px, with_alpha(color, 0));
    for (uint32_t i = 1; i + 1 < count; ++i) {
        mesh_.add_triangle(inside, inside + i, inside + i + 1);
    }
    connect_rims(inside, inside + count);
}

void Painter::text(
    std::string_view text, Point center, TextStyle style, Color color, float turn_rad) {
    if (sheet_.width_px == 0) {
        return;
    }
    if (turn_rad == 0) {  // on whole pixels, where letters are sharpest
        const float width_px = sheet_.text_width_px(text, style);
        const float height_px = sheet_.text_height_px(style);
        center = {std::round(center.x - width_px / 2) + width_px / 2,
                  std::round(center.y - height_px / 2) + height_px / 2};
    }
    const float cosine = std::cos(turn_rad);
    const float sine = std::sin(turn_rad);
    const auto sheet_width = static_cast<float>(sheet_.width_px);
    const auto sheet_height = static_cast<float>(sheet_.height_px);
    float left = -sheet_.text_width_px(text, style) / 2;
    const float top = -sheet_.text_height_px(style) / 2;
    for (const char letter : text) {
        const Glyph& glyph =
            sheet_.glyphs[static_cast<size_t>(style)][static_cast<unsigned char>(letter) & 127];
        const auto corner = [&](float dx, float dy) {
            const float x = left + dx / glyph.density;
            const float y = top + dy / glyph.density;
            return mesh_.add(
                {center.x + x * cosine - y * sine, center.y + x * sine + y * cosine},
                color,
                {(glyph.source.x + dx) / sheet_width, (glyph.source.y + dy) / sheet_height});
        };
        const uint32_t a = corner(0, 0);
        const uint32_t b = corner(glyph.width_px, 0);
        const uint32_t c = corner(glyph.width_px, glyph.height_px);
        mesh_.add_quad(a, b, c, corner(0, glyph.height_px));
        left += glyph.advance_px;
    }
}

}  // namespace ringscope
