// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes JSON text, for the command line, the daemon and the page alike.
//
// Only a writer. What comes in as JSON is read by a library, in native/; the page's script has its
// own.
//     JsonWriter json;
//     json.begin_object().field("ranks", 8).field("engine", "threads").end_object();
//     json.text();
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringscope {

class JsonWriter {
  public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name) {
        separate();
        append_string(name);
        text_ += ':';
        after_key_ = true;
        return *this;
    }

    JsonWriter& value(std::string_view text) {
        separate();
        append_string(text);
        return *this;
    }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
    template <std::integral Number>
    JsonWriter& value(Number number) {
        return raw(std::to_string(number));
    }
    JsonWriter& null() { return raw("null"); }
    // Text that is JSON already.
    JsonWriter& raw(std::string_view json) {
        separate();
        text_ += json;
        return *this;
    }

    template <class Value>
    JsonWriter& field(std::string_view name, const Value& content) {
        return key(name).value(content);
    }

    const std::string& text() const { return text_; }

  private:
    JsonWriter& open(char bracket) {
        separate();
        text_ += bracket;
        first_ = true;
        return *this;
    }
    JsonWriter& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }
    void separate() {
        if (!first_ && !after_key_) {
            text_ += ',';
        }
        first_ = false;
        after_key_ = false;
    }
    void append_string(std::string_view text);

    std::string text_;
    bool first_ = true;
    bool after_key_ = false;
};

struct Error;
struct Report;
struct Outcome;

// The shape of every error, of the daemon too (RFC 9457): {"title", "field"?, "value"?,
// "allowed"?}.
std::string error_json(const Error& error);

// Appends a report's and an outcome's fields to an open object.
void append_report(JsonWriter& json, const Report& report);
void append_outcome(JsonWriter& json, const Outcome& outcome);

}  // namespace ringscope
