// SPDX-License-Identifier: Apache-2.0
// The ring: ranks as wedges clockwise from the top, each a stack of N cells, its buffer. Chunk c
// lies at the same radius in every wedge, so a chunk travels along a circle, and the chunks under
// way in one step of the reduce-scatter form a spiral that turns from step to step.
//
// A cell is tinted in its chunk's colour and filled, clockwise, by the share of ranks whose input
// it has taken up; a finished one also has a border. A token on its way looks like the cell it
// comes from.
#include <algorithm>
#include <cmath>
#include <string>

#include "web/theme.hpp"
#include "web/views/view.hpp"

namespace ringscope {
namespace {

constexpr float pi = 3.14159265F;

// In CSS pixels.
constexpr float label_size = 12;
constexpr float number_size_min = 8.5F;
constexpr float number_size_max = 15;
constexpr float rim_distance = 11;   // from the outermost cell to the links
constexpr float label_distance = 8;  // from the links to the labels
constexpr float margin = 4;

constexpr float hole_fraction = 0.415F;  // of the outer radius
constexpr float wedge_rad_max = 70 * pi / 180;
constexpr int32_t plate_rank_count_max = 24;  // beyond, a rank's plate would be a hairline
constexpr int32_t word_rank_count_max = 16;   // beyond, labels are bare numbers
constexpr float token_fraction = 0.66F;       // of its wedge
constexpr float token_size_min = 3.5F;        // thinner ones would be lost among the cells

struct Layout {
    int32_t rank_count = 1;
    int32_t chunk_count = 1;
    float scale = 1;
    Point center;
    float inner_px = 0;
    float outer_px = 0;
    float rim_px = 0;
    float period_rad = 0;
    float wedge_rad = 0;
    float cell_px = 0;  // with the gap to the next
    float gap_px = 0;
    bool label_words = false;
    int32_t label_stride = 1;

    float angle_rad(int32_t rank) const { return period_rad * static_cast<float>(rank); }
    Sector cell(float at_rad, int32_t chunk, float width_fraction) const {
        const float half_rad = wedge_rad / 2 * width_fraction;
        const float top_px = outer_px - cell_px * static_cast<float>(chunk);
        return {.center = center,
                .inner_px = top_px - cell_px + gap_px,
                .outer_px = top_px,
                .begin_rad = at_rad - half_rad,
                .end_rad = at_rad + half_rad,
                .corner_px = std::min(5 * scale, cell_px / 5)};
    }
};

// Each label may take this much of the circle.
void fit_labels(Layout& layout) {
    const float circumference_px = 2 * pi * layout.rim_px;
    const float label_width_px = 22 * layout.scale;
    while (circumference_px / static_cast<float>(layout.rank_count) *
               static_cast<float>(layout.label_stride) <
           label_width_px) {
        layout.label_stride *= 2;
    }
}

Layout lay_out(const App& app) {
    Layout layout;
    const Schedule& schedule = app.show->replay.schedule();
    layout.rank_count = schedule.problem.rank_count;
    layout.chunk_count = schedule.chunk_count;
    layout.scale = app.scale;
    const float half_width_px = static_cast<float>(app.width_px) / 2;
    const float half_height_px = static_cast<float>(app.height_px) / 2;
    layout.center = {half_width_px, half_height_px};
    layout.label_words =
        layout.rank_count <= word_rank_count_max && half_width_px > half_height_px * 1.15F;
    const float label_width = layout.label_words ? 48 : 18;
    const float around = rim_distance + label_distance + margin;
    const float outer_px = std::min(half_width_px - (around + label_width) * app.scale,
                                    half_height_px - (around + label_size) * app.scale);
    layout.outer_px = std::max(40 * app.scale, outer_px);
    layout.inner_px = layout.outer_px * hole_fraction;
    layout.rim_px = layout.outer_px + rim_distance * app.scale;
    layout.period_rad = 2 * pi / static_cast<float>(layout.rank_count);
    layout.wedge_rad = std::min(layout.period_rad / 2, wedge_rad_max);
    layout.cell_px = (layout.outer_px - layout.inner_px) / static_cast<float>(layout.chunk_count);
    layout.gap_px = std::min(layout.cell_px * 0.14F, 3 * app.scale);
    fit_labels(layout);
    return layout;
}

// The longest number is the sum of all inputs, each at most 99.
float number_size_px(const Layout& layout) {
    const auto digits = static_cast<float>(std::to_string(99 * layout.rank_count).size());
    const Sector innermost = layout.cell(0, layout.chunk_count - 1, token_fraction);
    const float room_px = (innermost.end_rad - innermost.begin_rad) * innermost.middle_px() * 0.9F;
    const float size_px = std::min({(layout.cell_px - layout.gap_px) * 0.72F,
                                    room_px / (digits * 0.62F),
                                    number_size_max * layout.scale});
    return size_px >= number_size_min * layout.scale ? std::round(size_px) : 0;
}

ViewMetrics measure(const App& app) {
    const Layout layout = lay_out(app);
    return {.label_px = std::round(label_size * layout.scale),
            .number_px = number_size_px(layout),
            .free_radius_px = layout.inner_px};
}

std::string number_text(const Buffers& buffers, int32_t rank, int32_t chunk) {
    if (buffers.samples(chunk) == 0) {
        return "";
    }
    return std::to_string(static_cast<int64_t>(buffers.value(rank, chunk, 0)));
}

struct Content {
    int32_t chunk = 0;
    float share = 0;  // of all ranks' inputs
    std::string number;
};

Content content_of(const App& app, int32_t rank, int32_t chunk, bool with_number) {
    const Buffers& buffers = app.show->replay.buffers();
    const auto rank_count = static_cast<float>(app.show->run.problem.rank_count);
    return {chunk,
            static_cast<float>(buffers.contributions(rank, chunk)) / rank_count,
            with_number ? number_text(buffers, rank, chunk) : ""};
}

// The part of a sector that `share` of it fills, clockwise.
Sector filled_part(const Sector& sector, float share) {
    Sector part = sector;
    part.end_rad = sector.begin_rad + (sector.end_rad - sector.begin_rad) * share;
    return part;
}

// Along the cell, and never upside down.
void draw_number(const Layout& layout,
                 Painter& painter,
                 const Sector& sector,
                 const Content& content,
                 Color ink) {
    const float angle_rad = sector.middle_rad();
    const float turn_rad = std::cos(angle_rad) > -0.02F ? angle_rad : angle_rad + pi;
    painter.text(content.number,
                 on_circle(layout.center, sector.middle_px(), angle_rad),
                 TextStyle::number,
                 ink,
                 turn_rad);
}

void draw_cell(const App& app,
               const Layout& layout,
               Painter& painter,
               const Sector& sector,
               const Content& content) {
    const Theme& colors = theme(app.dark);
    const Color color = chunk_color(colors, content.chunk, layout.chunk_count);
    const Color plate = layout.rank_count <= plate_rank_count_max ? colors.rank : colors.ground;
    const Color tint = mix(plate, color, app.dark ? 0.2F : 0.17F);
    const bool finished = content.share >= 1;
    const Color full = mix(tint, color, finished ? 1.0F : app.dark ? 0.62F : 0.55F);
    if (!finished) {
        painter.fill(sector, tint);
    }
    painter.fill(filled_part(sector, content.share), full);
    if (finished) {
        const Color edge =
            app.dark ? mix(color, {255, 255, 255, 255}, 0.55F) : mix(color, {0, 0, 0, 255}, 0.35F);
        painter.stroke(sector, std::min(1.5F * layout.scale, layout.cell_px * 0.18F), edge);
    }
    const Color ink = finished ? ink_on(color) : colors.label;
    draw_number(layout, painter, sector, content, ink);
}

void draw_token(const App& app,
                const Layout& layout,
                Painter& painter,
                const Sector& sector,
                const Content& content) {
    const Theme& colors = theme(app.dark);
    const Color color = chunk_color(colors, content.chunk, layout.chunk_count);
    const float halo_px = std::min(2 * layout.scale, layout.cell_px * 0.2F);
    painter.fill(sector.grown(halo_px), colors.ground);
    painter.fill(sector, color);
    draw_number(layout, painter, sector, content, ink_on(color));
}

void draw_plates(const App& app, const Layout& layout, Painter& painter) {
    const Theme& colors = theme(app.dark);
    const float frame_px = 5 * layout.scale;
    for (int32_t rank = 0; rank < layout.rank_count; ++rank) {
        Sector plate = layout.cell(layout.angle_rad(rank), 0, 1);
        plate.inner_px = layout.inner_px + layout.gap_px;
        plate.corner_px = 3 * layout.scale;
        plate = plate.grown(frame_px);
        painter.fill(plate, colors.rank);
        painter.stroke(plate, layout.scale, colors.rank_edge);
    }
}

void draw_labels(const App& app, const Layout& layout, Painter& painter) {
    const Theme& colors = theme(app.dark);
    const GlyphSheet& sheet = painter.sheet();
    for (int32_t rank = 0; rank < layout.rank_count; rank += layout.label_stride) {
        const std::string text = (layout.label_words ? "rank " : "") + std::to_string(rank);
        const float angle_rad = layout.angle_rad(rank);
        // So far out that the text's box just clears the rim, whatever the direction.
        const float half_width_px = sheet.text_width_px(text, TextStyle::label) / 2;
        const float half_height_px = label_size * layout.scale / 2;
        const float reach_px = half_width_px * std::abs(std::sin(angle_rad)) +
                               half_height_px * std::abs(std::cos(angle_rad));
        painter.text(
            text,
            on_circle(
                layout.center, layout.rim_px + label_distance * layout.scale + reach_px, angle_rad),
            TextStyle::label,
            colors.label_quiet);
    }
}

void draw_rest(const App& app, Painter& painter) {
    const Layout layout = lay_out(app);
    const bool with_numbers = number_size_px(layout) > 0;
    if (layout.rank_count <= plate_rank_count_max) {
        draw_plates(app, layout, painter);
    }
    for (int32_t rank = 0; rank < layout.rank_count; ++rank) {
        for (int32_t chunk = 0; chunk < layout.chunk_count; ++chunk) {
            draw_cell(app,
                      layout,
                      painter,
                      layout.cell(layout.angle_rad(rank), chunk, 1),
                      content_of(app, rank, chunk, with_numbers));
        }
    }
    draw_labels(app, layout, painter);
}

// From wedge to wedge outside the cells, with an arrow's head at its end.
void draw_link(const Layout& layout, Painter& painter, int32_t source_rank, Color color) {
    const float width_px = 1.6F * layout.scale;
    const float head_px =
        std::min(7 * layout.scale, layout.rim_px * (layout.period_rad - layout.wedge_rad) * 0.45F);
    const float clear_rad = std::min(6 * layout.scale / layout.rim_px, layout.period_rad * 0.06F);
    Sector arc;
    arc.center = layout.center;
    arc.inner_px = layout.rim_px - width_px / 2;
    arc.outer_px = layout.rim_px + width_px / 2;
    arc.begin_rad = layout.angle_rad(source_rank) + layout.wedge_rad / 2 + clear_rad;
    arc.end_rad = layout.angle_rad(source_rank + 1) - layout.wedge_rad / 2 - clear_rad;
    const float head_begin_rad = arc.end_rad - head_px / layout.rim_px;
    const float half_head_px = head_px * 0.55F;
    const Point head[] = {on_circle(layout.center, layout.rim_px + half_head_px, head_begin_rad),
                          on_circle(layout.center, layout.rim_px, arc.end_rad),
                          on_circle(layout.center, layout.rim_px - half_head_px, head_begin_rad)};
    painter.fill_convex(head, color);
    arc.end_rad = head_begin_rad + 1 / layout.rim_px;
    painter.fill(arc, color);
}

void draw_links(const App& app, const Layout& layout, Painter& painter) {
    const Theme& colors = theme(app.dark);
    const Replay& replay = app.show->replay;
    std::vector<bool> busy(static_cast<size_t>(layout.rank_count));
    for (const int32_t index : replay.in_flight()) {
        busy[static_cast<size_t>(
            replay.events()[static_cast<size_t>(index)].transfer.source_rank)] = true;
    }
    for (int32_t rank = 0; rank < layout.rank_count && layout.rank_count > 1; ++rank) {
        draw_link(layout,
                  painter,
                  rank,
                  busy[static_cast<size_t>(rank)] ? colors.link_busy : colors.link);
    }
}

// How much of its way a hop has made.
float way_made(const Event& event, double time_ps) {
    const auto duration_ps =
        static_cast<double>(std::max<int64_t>(1, event.end_ps - event.begin_ps));
    return static_cast<float>(
        std::clamp((time_ps - static_cast<double>(event.begin_ps)) / duration_ps, 0.0, 1.0));
}

// Draws the cells that a token lies over once more without their numbers, so that no half-covered
// digits look out beside it.
void hide_covered_numbers(
    const App& app, const Layout& layout, Painter& painter, const Transfer& transfer, float way) {
    const Sector cell = layout.cell(0, transfer.chunk_begin, 1);
    const auto digits = static_cast<float>(std::to_string(99 * layout.rank_count).size());
    const float number_rad = digits * 0.31F * number_size_px(layout) / cell.middle_px();
    const float reach_rad = layout.wedge_rad / 2 * token_fraction + number_rad;
    const auto hide = [&](int32_t rank, float distance_rad) {
        if (distance_rad < reach_rad) {
            draw_cell(app,
                      layout,
                      painter,
                      layout.cell(layout.angle_rad(rank), transfer.chunk_begin, 1),
                      content_of(app, rank, transfer.chunk_begin, false));
        }
    };
    hide(transfer.source_rank, layout.period_rad * way);
    hide(transfer.target_rank, layout.period_rad * (1 - way));
}

void draw_motion(const App& app, Painter& painter) {
    const Layout layout = lay_out(app);
    const Replay& replay = app.show->replay;
    draw_links(app, layout, painter);
    const bool with_numbers = number_size_px(layout) > 0;
    for (const int32_t index : replay.in_flight()) {
        const Event& event = replay.events()[static_cast<size_t>(index)];
        const float way = way_made(event, app.playback.time_ps);
        if (with_numbers) {
            hide_covered_numbers(app, layout, painter, event.transfer, way);
        }
        const float at_rad = layout.angle_rad(event.transfer.source_rank) + layout.period_rad * way;
        const int32_t chunk = event.transfer.chunk_begin;
        Sector token = layout.cell(at_rad, chunk, token_fraction);
        const float missing_px = token_size_min * layout.scale - (token.outer_px - token.inner_px);
        if (missing_px > 0) {
            token.outer_px += missing_px / 2;
            token.inner_px -= missing_px / 2;
        }
        // The source's cell keeps what it has sent until the chunk comes round again.
        draw_token(app,
                   layout,
                   painter,
                   token,
                   content_of(app, event.transfer.source_rank, chunk, with_numbers));
    }
}

}  // namespace

extern const View ring_view;
const View ring_view{
    .name = "ring", .measure = measure, .draw_rest = draw_rest, .draw_motion = draw_motion};

}  // namespace ringscope
