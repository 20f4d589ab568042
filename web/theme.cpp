// SPDX-License-Identifier: Apache-2.0
#include "web/theme.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ringscope {
namespace {

constexpr Color rgb(uint32_t hex) {
    return {static_cast<uint8_t>(hex >> 16),
            static_cast<uint8_t>(hex >> 8),
            static_cast<uint8_t>(hex),
            255};
}

const Theme light_theme{
    .dark = false,
    .ground = rgb(0xffffff),
    .rank = rgb(0xf6f7f9),
    .rank_edge = rgb(0xe3e6ea),
    .link = rgb(0xd3d8de),
    .link_busy = rgb(0x3f51d9),
    .label = rgb(0x1b1f27),
    .label_quiet = rgb(0x5d6673),
};

const Theme dark_theme{
    .dark = true,
    .ground = rgb(0x14171c),
    .rank = rgb(0x1b1f26),
    .rank_edge = rgb(0x2a2f38),
    .link = rgb(0x3a414c),
    .link_busy = rgb(0x97a6ff),
    .label = rgb(0xeceef2),
    .label_quiet = rgb(0xa0a8b4),
};

constexpr std::array light_chunks{rgb(0x2874bd),
                                  rgb(0xe69a1f),
                                  rgb(0x16997a),
                                  rgb(0xc8649f),
                                  rgb(0x56b0e0),
                                  rgb(0xcf541a),
                                  rgb(0xb9a41a),
                                  rgb(0x7461b8)};
constexpr std::array dark_chunks{rgb(0x4f97e0),
                                 rgb(0xf0a83c),
                                 rgb(0x30b78f),
                                 rgb(0xe08abb),
                                 rgb(0x7fc9f2),
                                 rgb(0xec7742),
                                 rgb(0xdccb52),
                                 rgb(0xa493ea)};

float encode_srgb(float linear) {
    linear = std::clamp(linear, 0.0F, 1.0F);
    return linear <= 0.0031308F ? 12.92F * linear : 1.055F * std::pow(linear, 1 / 2.4F) - 0.055F;
}

float decode_srgb(uint8_t value) {
    const float share = static_cast<float>(value) / 255;
    return share <= 0.04045F ? share / 12.92F : std::pow((share + 0.055F) / 1.055F, 2.4F);
}

// Source: Ottosson, "A perceptual color space for image processing", 2020.
Color from_oklch(float lightness, float chroma, float hue_degrees) {
    const float hue_rad = hue_degrees * static_cast<float>(M_PI) / 180;
    const float a = chroma * std::cos(hue_rad);
    const float b = chroma * std::sin(hue_rad);
    const auto cube = [](float x) { return x * x * x; };
    const float l = cube(lightness + 0.3963377774F * a + 0.2158037573F * b);
    const float m = cube(lightness - 0.1055613458F * a - 0.0638541728F * b);
    const float s = cube(lightness - 0.0894841775F * a - 1.2914855480F * b);
    const auto channel = [](float linear) {
        return static_cast<uint8_t>(255 * encode_srgb(linear) + 0.5F);
    };
    return {channel(4.0767416621F * l - 3.3077115913F * m + 0.2309699292F * s),
            channel(-1.2684380046F * l + 2.6097574011F * m - 0.3413193965F * s),
            channel(-0.0041960863F * l - 0.7034186147F * m + 1.7076147010F * s),
            255};
}

}  // namespace

const Theme& theme(bool dark) {
    return dark ? dark_theme : light_theme;
}

Color chunk_color(const Theme& theme, int32_t chunk, int32_t chunk_count) {
    if (chunk_count <= static_cast<int32_t>(light_chunks.size())) {
        return (theme.dark ? dark_chunks : light_chunks)[static_cast<size_t>(chunk)];
    }
    // From blue over green to amber, lighter all the way, so that the order survives without hue.
    const float share = static_cast<float>(chunk) / static_cast<float>(chunk_count - 1);
    const float darkest = theme.dark ? 0.56F : 0.47F;
    const float lightest = theme.dark ? 0.84F : 0.78F;
    return from_oklch(darkest + (lightest - darkest) * share, 0.135F, 285 - 205 * share);
}

Color ink_on(Color ground) {
    const float luminance = 0.2126F * decode_srgb(ground.r) + 0.7152F * decode_srgb(ground.g) +
                            0.0722F * decode_srgb(ground.b);
    // Equal contrast against both (WCAG 2) lies at 0.179.
    return luminance > 0.2F ? rgb(0x14171c) : rgb(0xffffff);
}

}  // namespace ringscope
