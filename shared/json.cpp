// SPDX-License-Identifier: Apache-2.0
#include "shared/json.hpp"

#include <algorithm>

#include "shared/report.hpp"
#include "shared/result.hpp"
#include "shared/trace.hpp"

namespace ringscope {

// Bytes that are no UTF-8 can only come from hostile input; each becomes a replacement character.
void JsonWriter::append_string(std::string_view text) {
    const auto continuation_count = [](unsigned char lead) {
        return lead < 0x80                   ? 0
               : lead >= 0xc2 && lead < 0xe0 ? 1
               : lead >= 0xe0 && lead < 0xf0 ? 2
               : lead >= 0xf0 && lead < 0xf5 ? 3
                                             : -1;
    };
    text_ += '"';
    for (size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const int more = continuation_count(c);
        bool valid = more >= 0 && i + static_cast<size_t>(more) < text.size();
        if (valid && more > 0) {  // no overlong forms, no surrogates, nothing beyond U+10FFFF
            const auto second = static_cast<unsigned char>(text[i + 1]);
            valid = !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second > 0x9f) &&
                    !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second > 0x8f);
        }
        for (int k = 1; valid && k <= more; ++k) {
            valid = (static_cast<unsigned char>(text[i + static_cast<size_t>(k)]) & 0xc0) == 0x80;
        }
        if (!valid) {
            text_ += "\\ufffd";
            ++i;
            continue;
        }
        if (c == '"' || c == '\\') {
            text_ += '\\';
            text_ += static_cast<char>(c);
        } else if (c < 0x20) {
            text_ += "\\u00";
            text_ += "0123456789abcdef"[c >> 4];
            text_ += "0123456789abcdef"[c & 15];
        } else {
            text_ += text.substr(i, static_cast<size_t>(more) + 1);
        }
        i += static_cast<size_t>(more) + 1;
    }
    text_ += '"';
}

std::string error_json(const Error& error) {
    JsonWriter json;
    json.begin_object().field("title", std::string_view(error.message));
    if (!error.field.empty()) {
        json.field("field", std::string_view(error.field))
            .field("value", std::string_view(error.value))
            .field("allowed", std::string_view(error.allowed));
    }
    json.end_object();
    return json.text();
}

namespace {

// Where the time went, and what each link and rank did; null for a run with too many hops.
void append_details(JsonWriter& json, const Report& report) {
    constexpr size_t cable_count_max = 64;
    if (!report.detailed) {
        json.key("critical_path").null();
        return;
    }
    const PathSplit& split = report.path.split;
    json.key("critical_path").begin_object();
    json.field("latency_ps", split.latency_ps)
        .field("wire_ps", split.wire_ps)
        .field("slow_link_ps", split.slow_link_ps)
        .field("sharing_ps", split.sharing_ps)
        .field("late_ps", split.late_ps);
    json.key("hops").begin_array();
    for (const std::string& hop : report.path_text) {
        json.value(std::string_view(hop));
    }
    json.end_array().end_object();
    json.key("cables").begin_array();
    for (size_t i = 0; i < std::min(report.cables.size(), cable_count_max); ++i) {
        const CableReport& cable = report.cables[i];
        json.begin_object()
            .field("name", std::string_view(cable.name))
            .field("bytes", cable.bytes)
            .field("busy_ps", cable.busy_ps)
            .field("use_permille", cable.use_permille)
            .end_object();
    }
    json.end_array();
    json.key("idle_ps").begin_array();
    for (const RankReport& rank : report.ranks) {
        json.value(rank.idle_ps);
    }
    json.end_array();
}

}  // namespace

void append_report(JsonWriter& json, const Report& report) {
    json.field("duration_ps", report.duration_ps)
        .field("algbw_bytes_per_s", report.algbw_bytes_per_s)
        .field("busbw_bytes_per_s", report.busbw_bytes_per_s);
    json.key("lower_bound_ps");
    if (report.lower_bound_ps > 0) {
        json.value(report.lower_bound_ps);
    } else {
        json.null();
    }
    json.field("messages", report.message_count)
        .field("wire_bytes_per_rank", report.wire_bytes_per_rank)
        .field("bottleneck", std::string_view(report.bottleneck));
    json.key("links").begin_array();
    for (const LinkReport& link : report.links) {
        json.begin_object()
            .field("source", link.source_rank)
            .field("target", link.target_rank)
            .field("messages", link.message_count)
            .field("bytes", link.bytes)
            .field("busy_ps", link.busy_ps)
            .end_object();
    }
    json.end_array();
    append_details(json, report);
}

void append_outcome(JsonWriter& json, const Outcome& outcome) {
    json.field("outcome", outcome_name(outcome.kind))
        .field("verified", outcome.kind == OutcomeKind::ok);
    if (!outcome.reason.empty()) {
        json.field("reason", std::string_view(outcome.reason));
    }
}

}  // namespace ringscope
