// SPDX-License-Identifier: Apache-2.0
// The ring: ranks as wedges clockwise from the top, each a stack of cells, its buffer. Chunk c lies
// at the same radius in every wedge, so a chunk travels along a circle, and the chunks under way in
// one step of the reduce-scatter form a spiral that turns from step to step.
//
// The stage serves every algorithm: what goes to a neighbour goes along the rim, what goes further,
// or to a switch, goes through the hole on a curve that bends round the words in its middle. The
// wedges stand in the order of the first channel; ranks that take no part in a round have none.
//
// A cell is tinted in its chunk's colour and filled, clockwise, by the share of ranks whose input
// it has taken up; a finished one also has a border. A token on its way looks like the cell it
// comes from.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "shared/algorithm.hpp"
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

constexpr float far_token_size = 13;   // on a curve, at most
constexpr int32_t far_tokens_max = 8;  // of one message
constexpr float near_turn = 0.86F;     // of the hole's radius: where curves to a wedge nearby turn
constexpr float far_turn = 0.6F;       // and those to the other side
constexpr float lane_turn = 0.07F;     // clockwise ones so much further out, the others further in
constexpr float switch_distance = 0.7F;  // of the hole's radius, from the middle down
constexpr float switch_fraction = 0.16F;

constexpr float cell_px_min = 1.3F;  // device pixels; thinner ones cannot be told apart
// Drawn on the smallest screen, however thin the cells: what the algorithms themselves cut 64 MiB
// into.
constexpr int32_t chunk_count_always = 128;

struct Layout {
    int32_t rank_count = 1;  // wedges
    int32_t chunk_count = 1;
    std::vector<int32_t> ranks;  // [wedge], clockwise
    std::vector<int32_t> slots;  // [participant] its wedge, or -1
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

    int32_t slot(int32_t rank) const { return slots[static_cast<size_t>(rank)]; }
    float angle_rad(int32_t rank) const { return period_rad * static_cast<float>(slot(rank)); }
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

// All that does not depend on the chunks.
Layout lay_out_wedges(const App& app, int32_t rank_count) {
    Layout layout;
    layout.rank_count = rank_count;
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
    fit_labels(layout);
    return layout;
}

Layout lay_out(const App& app) {
    const Schedule& schedule = app.show->replay.schedule();
    const int32_t rank_count = schedule.position_count();
    Layout layout = lay_out_wedges(app, rank_count);
    const std::vector<int32_t>& order = schedule.orders.front();
    layout.ranks.assign(order.begin(), order.begin() + rank_count);
    layout.slots.assign(static_cast<size_t>(schedule.participant_count), -1);
    for (int32_t slot = 0; slot < rank_count; ++slot) {
        layout.slots[static_cast<size_t>(layout.ranks[static_cast<size_t>(slot)])] = slot;
    }
    layout.chunk_count = schedule.chunk_count;
    layout.cell_px = (layout.outer_px - layout.inner_px) / static_cast<float>(layout.chunk_count);
    layout.gap_px = std::min(layout.cell_px * 0.14F, 3 * app.scale);
    return layout;
}

int32_t chunk_count_max(const App& app, int32_t rank_count) {
    if (app.width_px == 0) {
        return INT32_MAX;  // there is no canvas yet
    }
    const Layout layout = lay_out_wedges(app, rank_count);
    const float depth_px = layout.outer_px - layout.inner_px;
    return std::max(chunk_count_always, static_cast<int32_t>(depth_px / cell_px_min));
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
    float share = 0;  // of all inputs that the result takes up
    std::string number;
    bool dead = false;  // in a rank that is
};

Content content_of(const App& app, int32_t rank, int32_t chunk, bool with_number) {
    const Buffers& buffers = app.show->replay.buffers();
    const auto whole = static_cast<float>(app.show->replay.schedule().contributor_count());
    return {chunk,
            static_cast<float>(buffers.contributions(rank, chunk)) / whole,
            with_number ? number_text(buffers, rank, chunk) : "",
            is_dead(app, rank)};
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
    Color color = chunk_color(colors, content.chunk, layout.chunk_count);
    if (content.dead) {
        color = mix(colors.ground, color, 0.16F);
    }
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
    const Color ink = content.dead ? colors.link : finished ? ink_on(color) : colors.label;
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
    for (const int32_t rank : layout.ranks) {
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
    for (int32_t slot = 0; slot < layout.rank_count; slot += layout.label_stride) {
        const int32_t rank = layout.ranks[static_cast<size_t>(slot)];
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
            is_dead(app, rank) ? colors.link : colors.label_quiet);
    }
}

void draw_rest(const App& app, Painter& painter) {
    const Layout layout = lay_out(app);
    const bool with_numbers = number_size_px(layout) > 0;
    if (layout.rank_count <= plate_rank_count_max) {
        draw_plates(app, layout, painter);
    }
    for (const int32_t rank : layout.ranks) {
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

// Where a message goes: along the rim to a neighbour, or through the hole.
struct Direction {
    int32_t rim = 0;  // 1 clockwise, -1 back, 0: through the hole
};

Direction direction_of(const Layout& layout, const Transfer& transfer) {
    const int32_t source = layout.slot(transfer.source_rank);
    const int32_t target = layout.slot(transfer.target_rank);
    if (source < 0 || target < 0) {
        return {0};
    }
    const int32_t turn = (target - source + layout.rank_count) % layout.rank_count;
    return {turn == 1 ? 1 : turn == layout.rank_count - 1 ? -1 : 0};
}

void draw_head(Painter& painter, Point tip, Point base, float half_px, Color color) {
    const float length = std::max(1e-3F, std::hypot(tip.x - base.x, tip.y - base.y));
    const Point side{(tip.y - base.y) / length * half_px, (base.x - tip.x) / length * half_px};
    const Point head[] = {
        {base.x + side.x, base.y + side.y}, tip, {base.x - side.x, base.y - side.y}};
    painter.fill_convex(head, color);
}

// From wedge to wedge outside the cells, with an arrow's head at its end.
void draw_link(
    const Layout& layout, Painter& painter, int32_t source_slot, bool clockwise, Color color) {
    const float width_px = 1.6F * layout.scale;
    const float head_px =
        std::min(7 * layout.scale, layout.rim_px * (layout.period_rad - layout.wedge_rad) * 0.45F);
    const float clear_rad = std::min(6 * layout.scale / layout.rim_px, layout.period_rad * 0.06F);
    const float first_rad =
        layout.period_rad * static_cast<float>(clockwise ? source_slot : source_slot - 1);
    Sector arc;
    arc.center = layout.center;
    arc.inner_px = layout.rim_px - width_px / 2;
    arc.outer_px = layout.rim_px + width_px / 2;
    arc.begin_rad = first_rad + layout.wedge_rad / 2 + clear_rad;
    arc.end_rad = first_rad + layout.period_rad - layout.wedge_rad / 2 - clear_rad;
    const float head_rad = head_px / layout.rim_px;
    const float tip_rad = clockwise ? arc.end_rad : arc.begin_rad;
    const float base_rad = clockwise ? tip_rad - head_rad : tip_rad + head_rad;
    draw_head(painter,
              on_circle(layout.center, layout.rim_px, tip_rad),
              on_circle(layout.center, layout.rim_px, base_rad),
              head_px * 0.55F,
              color);
    const float overlap_rad = 1 / layout.rim_px;
    (clockwise ? arc.end_rad : arc.begin_rad) =
        clockwise ? base_rad + overlap_rad : base_rad - overlap_rad;
    painter.fill(arc, color);
}

// Along the rim: the links of a ring, and what is busy.
void draw_links(const App& app, const Layout& layout, Painter& painter) {
    const Theme& colors = theme(app.dark);
    const Replay& replay = app.show->replay;
    const auto count = static_cast<size_t>(layout.rank_count);
    std::vector<bool> onward(count);
    std::vector<bool> back(count);
    for (const int32_t index : replay.in_flight()) {
        const Transfer& transfer = replay.events()[static_cast<size_t>(index)].transfer;
        const int32_t rim = direction_of(layout, transfer).rim;
        if (rim != 0) {
            const auto slot = static_cast<size_t>(layout.slot(transfer.source_rank));
            (rim > 0 ? onward : back)[slot] = true;
        }
    }
    const bool ring = replay.schedule().algorithm->name == "ring";
    for (int32_t slot = 0; slot < layout.rank_count && layout.rank_count > 1; ++slot) {
        const auto at = static_cast<size_t>(slot);
        if (ring || onward[at]) {
            draw_link(layout, painter, slot, true, onward[at] ? colors.link_busy : colors.link);
        }
        if (back[at]) {
            draw_link(layout, painter, slot, false, colors.link_busy);
        }
    }
}

// How much of its way a hop has made.
float way_made(const Event& event, double time_ps) {
    const auto duration_ps =
        static_cast<double>(std::max<int64_t>(1, event.end_ps - event.begin_ps));
    return static_cast<float>(
        std::clamp((time_ps - static_cast<double>(event.begin_ps)) / duration_ps, 0.0, 1.0));
}

Content carried_content(const App& app, int32_t index, int32_t chunk, bool with_number) {
    const Replay& replay = app.show->replay;
    const Replay::Content carried = replay.carried(index, chunk);
    const auto whole = static_cast<float>(replay.schedule().contributor_count());
    const bool empty = replay.buffers().samples(chunk) == 0;
    return {chunk,
            static_cast<float>(carried.contributions) / whole,
            with_number && !empty ? std::to_string(static_cast<int64_t>(carried.value)) : "",
            false};
}

// Draws the cells that a token lies over once more without their numbers, so that no half-covered
// digits look out beside it.
void hide_covered_numbers(const App& app,
                          const Layout& layout,
                          Painter& painter,
                          const Transfer& transfer,
                          int32_t chunk,
                          float way) {
    const Sector cell = layout.cell(0, chunk, 1);
    const auto digits = static_cast<float>(std::to_string(99 * layout.rank_count).size());
    const float number_rad = digits * 0.31F * number_size_px(layout) / cell.middle_px();
    const float reach_rad = layout.wedge_rad / 2 * token_fraction + number_rad;
    const auto hide = [&](int32_t rank, float distance_rad) {
        if (distance_rad < reach_rad) {
            draw_cell(app,
                      layout,
                      painter,
                      layout.cell(layout.angle_rad(rank), chunk, 1),
                      content_of(app, rank, chunk, false));
        }
    };
    hide(transfer.source_rank, layout.period_rad * way);
    hide(transfer.target_rank, layout.period_rad * (1 - way));
}

// A message to a neighbour: each of its chunks slides along its circle.
void draw_rim_message(const App& app,
                      const Layout& layout,
                      Painter& painter,
                      int32_t index,
                      int32_t rim,
                      bool with_numbers) {
    const Event& event = app.show->replay.events()[static_cast<size_t>(index)];
    const Transfer& transfer = event.transfer;
    const float way = way_made(event, app.playback.time_ps);
    const float at_rad =
        layout.angle_rad(transfer.source_rank) + layout.period_rad * way * static_cast<float>(rim);
    for (int32_t i = 0; i < transfer.chunk_count; ++i) {
        const int32_t chunk = transfer.chunk_begin + i;
        if (with_numbers) {
            hide_covered_numbers(app, layout, painter, transfer, chunk, way);
        }
        Sector token = layout.cell(at_rad, chunk, token_fraction);
        const float missing_px = token_size_min * layout.scale - (token.outer_px - token.inner_px);
        if (missing_px > 0) {
            token.outer_px += missing_px / 2;
            token.inner_px -= missing_px / 2;
        }
        draw_token(app, layout, painter, token, carried_content(app, index, chunk, with_numbers));
    }
}

Point switch_center(const Layout& layout) {
    return {layout.center.x, layout.center.y + layout.inner_px * switch_distance};
}

// A quadratic Bezier curve.
struct Curve {
    Point begin;
    Point control;
    Point end;

    Point at(float way) const {
        const float rest = 1 - way;
        const auto blend = [&](float a, float b, float c) {
            return rest * rest * a + 2 * rest * way * b + way * way * c;
        };
        return {blend(begin.x, control.x, end.x), blend(begin.y, control.y, end.y)};
    }
};

// Through the hole from one participant to another, from and to `radius_px` in the wedges. It is
// half way at a place beside the words in the middle.
Curve curve_between(const Layout& layout, int32_t source, int32_t target, float radius_px) {
    const auto end_of = [&](int32_t participant) {
        return layout.slot(participant) < 0
                   ? switch_center(layout)
                   : on_circle(layout.center, radius_px, layout.angle_rad(participant));
    };
    Curve curve{end_of(source), {}, end_of(target)};
    if (layout.slot(source) < 0 || layout.slot(target) < 0) {
        // First along its own radius, so that it comes into the hole where its wedge is.
        const int32_t rank = layout.slot(source) < 0 ? target : source;
        curve.control =
            on_circle(layout.center, layout.inner_px * near_turn, layout.angle_rad(rank));
        return curve;
    }
    float turn_rad = layout.angle_rad(target) - layout.angle_rad(source);
    turn_rad += turn_rad < 0 ? 2 * pi : 0;
    turn_rad -= turn_rad > pi * 1.0001F ? 2 * pi : 0;
    const float far = std::abs(turn_rad) / pi;
    const float turn =
        near_turn + (far_turn - near_turn) * far + (turn_rad > 0 ? lane_turn : -lane_turn);
    const Point middle =
        on_circle(layout.center, layout.inner_px * turn, layout.angle_rad(source) + turn_rad / 2);
    curve.control = {2 * middle.x - (curve.begin.x + curve.end.x) / 2,
                     2 * middle.y - (curve.begin.y + curve.end.y) / 2};
    return curve;
}

void draw_disc(Painter& painter, Point center, float radius_px, Color color) {
    std::array<Point, 24> corners;
    for (size_t i = 0; i < corners.size(); ++i) {
        corners[i] = on_circle(
            center, radius_px, 2 * pi * static_cast<float>(i) / static_cast<float>(corners.size()));
    }
    painter.fill_convex(corners, color);
}

void draw_curve(const Layout& layout, Painter& painter, const Curve& curve, Color color) {
    constexpr int segment_count = 24;
    const float half_px = 0.7F * layout.scale;
    Point from = curve.at(0);
    for (int i = 1; i <= segment_count; ++i) {
        const Point to = curve.at(static_cast<float>(i) / segment_count);
        const float length = std::max(1e-3F, std::hypot(to.x - from.x, to.y - from.y));
        const Point side{(to.y - from.y) / length * half_px, (from.x - to.x) / length * half_px};
        const Point band[] = {{from.x + side.x, from.y + side.y},
                              {to.x + side.x, to.y + side.y},
                              {to.x - side.x, to.y - side.y},
                              {from.x - side.x, from.y - side.y}};
        painter.fill_convex(band, color);
        from = to;
    }
}

// Which chunks of a message are drawn when it has too many to draw them all.
std::vector<int32_t> drawn_chunks(const Transfer& transfer) {
    const int32_t count = std::min(transfer.chunk_count, far_tokens_max);
    std::vector<int32_t> chunks;
    for (int32_t i = 0; i < count; ++i) {
        chunks.push_back(transfer.chunk_begin + transfer.chunk_count * i / count);
    }
    return chunks;
}

// A message to somebody further away: its chunks follow each other, a disc each, on one curve.
void draw_far_message(const App& app, const Layout& layout, Painter& painter, int32_t index) {
    const Theme& colors = theme(app.dark);
    const Event& event = app.show->replay.events()[static_cast<size_t>(index)];
    const Transfer& transfer = event.transfer;
    const float size_px = std::clamp(
        layout.cell_px * 0.8F, token_size_min * layout.scale, far_token_size * layout.scale);
    const int32_t middle_chunk = transfer.chunk_begin + transfer.chunk_count / 2;
    const Sector cell = layout.cell(0, middle_chunk, 1);
    const Curve curve =
        curve_between(layout, transfer.source_rank, transfer.target_rank, cell.middle_px());
    draw_curve(layout, painter, curve, mix(colors.ground, colors.link_busy, 0.35F));
    const std::vector<int32_t> chunks = drawn_chunks(transfer);
    const float whole_way = way_made(event, app.playback.time_ps);
    for (size_t i = 0; i < chunks.size(); ++i) {
        const auto behind = static_cast<float>(i) - static_cast<float>(chunks.size() - 1) / 2;
        const float way = std::clamp(
            whole_way - behind * 0.035F * std::min(1.0F, 4 * whole_way * (1 - whole_way)),
            0.0F,
            1.0F);
        const Point at = curve.at(way);
        draw_disc(painter, at, size_px / 2 + 2 * layout.scale, colors.ground);
        draw_disc(painter, at, size_px / 2, chunk_color(colors, chunks[i], layout.chunk_count));
    }
}

void draw_switch(const App& app, const Layout& layout, Painter& painter) {
    const Theme& colors = theme(app.dark);
    const float radius_px = layout.inner_px * switch_fraction;
    const Point at = switch_center(layout);
    draw_disc(painter, at, radius_px + 1.5F * layout.scale, colors.label_quiet);
    draw_disc(painter, at, radius_px, colors.rank);
    const std::string text = "switch";
    const float half_px = painter.sheet().text_width_px(text, TextStyle::label) / 2;
    if (radius_px + half_px * 2 < layout.inner_px * 0.6F) {
        const Point beside{at.x + radius_px + half_px + 6 * layout.scale, at.y};
        painter.text(text, beside, TextStyle::label, colors.label_quiet);
    }
}

void draw_motion(const App& app, Painter& painter) {
    const Layout layout = lay_out(app);
    const Replay& replay = app.show->replay;
    draw_links(app, layout, painter);
    const bool with_numbers = number_size_px(layout) > 0;
    for (const int32_t index : replay.in_flight()) {
        const Transfer& transfer = replay.events()[static_cast<size_t>(index)].transfer;
        const int32_t rim = direction_of(layout, transfer).rim;
        if (rim != 0) {
            draw_rim_message(app, layout, painter, index, rim, with_numbers);
        } else {
            draw_far_message(app, layout, painter, index);
        }
    }
    if (replay.schedule().with_switch) {
        draw_switch(app, layout, painter);
    }
}

}  // namespace

extern const View ring_view;
const View ring_view{.name = "ring",
                     .measure = measure,
                     .chunk_count_max = chunk_count_max,
                     .draw_rest = draw_rest,
                     .draw_motion = draw_motion};

}  // namespace ringscope
