// SPDX-License-Identifier: Apache-2.0
#include "web/gpu.hpp"

#include <cstddef>
#include <vector>

namespace ringscope {
namespace {

enum Attribute : GLuint { place_attribute, color_attribute, texture_attribute };

// Pixels from the upper left corner become GL's -1 to 1 from the lower left one.
constexpr const char* vertex_source = R"(
uniform vec2 scale;
attribute vec2 place;
attribute vec4 color;
attribute vec2 texture;
varying vec4 shade;
varying vec2 spot;
void main() {
    shade = color;
    spot = texture;
    gl_Position = vec4(place.x * scale.x - 1.0, 1.0 - place.y * scale.y, 0.0, 1.0);
}
)";

constexpr const char* fragment_source = R"(
precision mediump float;
uniform sampler2D sheet;
varying vec4 shade;
varying highp vec2 spot;
void main() {
    gl_FragColor = shade * texture2D(sheet, spot);
}
)";

// Whether it compiled shows when the program is linked: asking each would wait for the GPU once
// more.
void attach_shader(GLuint program, GLenum kind, const char* source) {
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);  // with the program
}

GLuint make_texture() {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

void set_attribute(Attribute attribute, GLint count, GLenum type, bool to_one, size_t offset) {
    glEnableVertexAttribArray(attribute);
    glVertexAttribPointer(attribute,
                          count,
                          type,
                          to_one ? GL_TRUE : GL_FALSE,
                          sizeof(Vertex),
                          reinterpret_cast<const void*>(offset));
}

}  // namespace

std::unique_ptr<Gpu> Gpu::create() {
    std::unique_ptr<Gpu> gpu(new Gpu);
    if (!gpu->build_program()) {
        return nullptr;
    }
    glGenBuffers(1, &gpu->vertices_);
    glGenBuffers(1, &gpu->indices_);
    glBindBuffer(GL_ARRAY_BUFFER, gpu->vertices_);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, gpu->indices_);
    set_attribute(place_attribute, 2, GL_FLOAT, false, offsetof(Vertex, place));
    set_attribute(color_attribute, 4, GL_UNSIGNED_BYTE, true, offsetof(Vertex, color));
    set_attribute(texture_attribute, 2, GL_FLOAT, false, offsetof(Vertex, texture));
    glEnable(GL_BLEND);
    // The screen stays opaque, or the page would shine through it.
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    return gpu;
}

Gpu::~Gpu() {
    forget_layer();
    glDeleteTextures(1, &sheet_texture_);
    glDeleteBuffers(1, &vertices_);
    glDeleteBuffers(1, &indices_);
    glDeleteProgram(program_);
}

bool Gpu::build_program() {
    program_ = glCreateProgram();
    attach_shader(program_, GL_VERTEX_SHADER, vertex_source);
    attach_shader(program_, GL_FRAGMENT_SHADER, fragment_source);
    glBindAttribLocation(program_, place_attribute, "place");
    glBindAttribLocation(program_, color_attribute, "color");
    glBindAttribLocation(program_, texture_attribute, "texture");
    glLinkProgram(program_);
    GLint linked = GL_FALSE;
    glGetProgramiv(program_, GL_LINK_STATUS, &linked);
    if (linked != GL_TRUE) {
        return false;
    }
    glUseProgram(program_);
    scale_ = glGetUniformLocation(program_, "scale");
    return true;
}

void Gpu::resize(int width_px, int height_px) {
    width_px_ = width_px;
    height_px_ = height_px;
    forget_layer();
    glViewport(0, 0, width_px, height_px);
    glUniform2f(scale_, 2.0F / static_cast<float>(width_px), 2.0F / static_cast<float>(height_px));
}

// White, and as opaque as the letter covers the pixel.
void Gpu::set_sheet(int width_px, int height_px, std::span<const uint8_t> coverage) {
    std::vector<uint8_t> pixels(coverage.size() * 2, 255);
    for (size_t i = 0; i < coverage.size(); ++i) {
        pixels[2 * i + 1] = coverage[i];
    }
    if (sheet_texture_ == 0) {
        sheet_texture_ = make_texture();
    }
    glBindTexture(GL_TEXTURE_2D, sheet_texture_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D,
                 0,
                 GL_LUMINANCE_ALPHA,
                 width_px,
                 height_px,
                 0,
                 GL_LUMINANCE_ALPHA,
                 GL_UNSIGNED_BYTE,
                 pixels.data());
}

void Gpu::clear(Color color) {
    const auto share = [](uint8_t value) { return static_cast<float>(value) / 255.0F; };
    glClearColor(share(color.r), share(color.g), share(color.b), 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

void Gpu::draw(const Mesh& mesh) {
    draw_with(sheet_texture_, mesh);
}

void Gpu::draw_with(GLuint texture, const Mesh& mesh) {
    if (mesh.indices.empty() || texture == 0) {
        return;
    }
    glBindTexture(GL_TEXTURE_2D, texture);
    glBufferData(GL_ARRAY_BUFFER,
                 static_cast<GLsizeiptr>(mesh.vertices.size() * sizeof(Vertex)),
                 mesh.vertices.data(),
                 GL_STREAM_DRAW);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER,
                 static_cast<GLsizeiptr>(mesh.indices.size() * sizeof(uint32_t)),
                 mesh.indices.data(),
                 GL_STREAM_DRAW);
    glDrawElements(
        GL_TRIANGLES, static_cast<GLsizei>(mesh.indices.size()), GL_UNSIGNED_INT, nullptr);
}

bool Gpu::make_layer() {
    layer_texture_ = make_texture();
    glTexImage2D(
        GL_TEXTURE_2D, 0, GL_RGBA, width_px_, height_px_, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glGenFramebuffers(1, &layer_frame_);
    glBindFramebuffer(GL_FRAMEBUFFER, layer_frame_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, layer_texture_, 0);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

void Gpu::forget_layer() {
    glDeleteFramebuffers(1, &layer_frame_);
    glDeleteTextures(1, &layer_texture_);
    layer_frame_ = 0;
    layer_texture_ = 0;
}

bool Gpu::begin_layer() {
    if (!has_layer() && !make_layer()) {
        end_layer();
        forget_layer();
        return false;
    }
    glBindFramebuffer(GL_FRAMEBUFFER, layer_frame_);
    return true;
}

void Gpu::end_layer() {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

void Gpu::draw_layer() {
    const auto width = static_cast<float>(width_px_);
    const auto height = static_cast<float>(height_px_);
    constexpr Color white{255, 255, 255, 255};
    // GL counts a texture's rows from below.
    Mesh mesh;
    const uint32_t a = mesh.add({0, 0}, white, {0, 1});
    const uint32_t b = mesh.add({width, 0}, white, {1, 1});
    const uint32_t c = mesh.add({width, height}, white, {1, 0});
    mesh.add_quad(a, b, c, mesh.add({0, height}, white, {0, 0}));
    draw_with(layer_texture_, mesh);
}

}  // namespace ringscope
