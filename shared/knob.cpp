// SPDX-License-Identifier: Apache-2.0
#include "shared/knob.hpp"

#include <algorithm>
#include <array>

#include "shared/algorithm.hpp"
#include "shared/problem.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr std::array<std::string_view, 4> fault_names{"drop", "duplicate", "corrupt", "empty"};
constexpr int64_t slowdown_one = 1000;
constexpr int64_t slowdown_max = 1000 * slowdown_one;

enum class Scope : uint8_t { run, link, rank };
enum class Value : uint8_t { rate, time, bytes, count, algorithm, off_or_on, fault, factor };

struct Form {
    Knob::Kind kind;
    Scope scope;
    std::string_view name;
    Value value;
    bool can_set;
    bool can_change;
};

// By Knob::Kind.
constexpr std::array forms{
    Form{Knob::Kind::bandwidth, Scope::run, "bandwidth", Value::rate, false, true},
    Form{Knob::Kind::latency, Scope::run, "latency", Value::time, false, true},
    Form{Knob::Kind::bytes, Scope::run, "bytes", Value::bytes, false, true},
    Form{Knob::Kind::algorithm, Scope::run, "algorithm", Value::algorithm, false, true},
    Form{Knob::Kind::ranks, Scope::run, "ranks", Value::count, false, true},
    Form{Knob::Kind::link_bandwidth, Scope::link, "bandwidth", Value::rate, true, true},
    Form{Knob::Kind::link_latency, Scope::link, "latency", Value::time, true, true},
    Form{Knob::Kind::link_up, Scope::link, "up", Value::off_or_on, true, true},
    Form{Knob::Kind::link_fault, Scope::link, "fault", Value::fault, true, true},
    Form{Knob::Kind::rank_start, Scope::rank, "start", Value::time, true, false},
    Form{Knob::Kind::rank_bytes, Scope::rank, "bytes", Value::bytes, true, false},
    Form{Knob::Kind::rank_alive, Scope::rank, "alive", Value::off_or_on, true, true},
    Form{Knob::Kind::rank_frozen, Scope::rank, "frozen", Value::off_or_on, true, true},
    Form{Knob::Kind::rank_delay, Scope::rank, "delay", Value::time, false, true},
    Form{Knob::Kind::rank_slowdown, Scope::rank, "slowdown", Value::factor, true, true},
};

const Form& form_of(Knob::Kind kind) {
    return forms[static_cast<size_t>(kind)];
}

std::string_view field_of(KnobUse use) {
    return use == KnobUse::set ? "set" : "change";
}

bool usable(const Form& form, KnobUse use) {
    return use == KnobUse::set ? form.can_set : form.can_change;
}

std::string generic_name(const Form& form) {
    const std::string_view prefix = form.scope == Scope::run    ? ""
                                    : form.scope == Scope::link ? "link.A-B."
                                                                : "rank.R.";
    return std::string(prefix) + std::string(form.name);
}

Error bad_knob(KnobUse use, std::string_view text) {
    return invalid_field(std::string(field_of(use)),
                         std::string(text),
                         "must be KEY:VALUE with KEY one of " + knob_list(use));
}

Result<int32_t> parse_rank(std::string_view field, std::string_view text, int32_t rank_count) {
    const auto rank = parse_count(field, text, 0, rank_count - 1);
    if (!rank) {
        return invalid_field(std::string(field),
                             std::string(text),
                             "must name a rank from 0 to " + std::to_string(rank_count - 1));
    }
    return static_cast<int32_t>(*rank);
}

// One end of a link: a rank's number, or a node's name with rank -1.
Status parse_end(std::string_view field,
                 std::string_view text,
                 int32_t rank_count,
                 int32_t& rank,
                 std::string& node) {
    if (is_node_name(text)) {
        rank = -1;
        node = std::string(text);
        return Done{};
    }
    const auto number = parse_rank(field, text, rank_count);
    if (!number) {
        return number.error();
    }
    rank = *number;
    return Done{};
}

Status parse_ends(std::string_view field, std::string_view ends, int32_t rank_count, Knob& knob) {
    const size_t dash = std::min(ends.find('-'), ends.size());
    const std::string_view target = ends.substr(std::min(dash + 1, ends.size()));
    if (const Status status =
            parse_end(field, ends.substr(0, dash), rank_count, knob.rank, knob.source_node);
        !status) {
        return status.error();
    }
    if (const Status status =
            parse_end(field, target, rank_count, knob.target_rank, knob.target_node);
        !status) {
        return status.error();
    }
    if (knob.rank == knob.target_rank && knob.source_node == knob.target_node) {
        return invalid_field(
            std::string(field), std::string(ends), "must name two different ranks or nodes");
    }
    return Done{};
}

// "2.5": up to three decimals.
Result<int64_t> parse_factor(std::string_view field, std::string_view text) {
    const size_t point = std::min(text.find('.'), text.size());
    const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
    const auto whole = parse_count(field, text.substr(0, point), 1, slowdown_max / slowdown_one);
    const bool well_formed = whole && decimals.size() <= 3 &&
                             (point == text.size() || !decimals.empty()) &&
                             decimals.find_first_not_of("0123456789") == std::string_view::npos;
    int64_t value = well_formed ? *whole * slowdown_one : 0;
    int64_t weight = slowdown_one / 10;
    for (const char digit : well_formed ? decimals : "") {
        value += weight * (digit - '0');
        weight /= 10;
    }
    if (!well_formed || value > slowdown_max) {
        return invalid_field(
            std::string(field), std::string(text), "must be a factor from 1 to 1000, such as 2.5");
    }
    return value;
}

template <class List, class NameOf>
Result<int64_t> parse_listed(std::string_view field,
                             std::string_view text,
                             const List& list,
                             NameOf name_of) {
    std::string allowed = "must be one of";
    for (size_t i = 0; i < list.size(); ++i) {
        if (name_of(list[i]) == text) {
            return static_cast<int64_t>(i);
        }
        allowed += " " + std::string(name_of(list[i]));
    }
    return invalid_field(std::string(field), std::string(text), allowed);
}

Result<int64_t> parse_value(Value form, std::string_view field, std::string_view text) {
    switch (form) {
        case Value::rate:
            return parse_bandwidth(field, text);
        case Value::time:
            return parse_time(field, text);
        case Value::bytes: {
            const auto bytes = parse_bytes(field, text);
            if (bytes && *bytes % element_bytes(ElementType::float32) != 0) {
                return invalid_field(std::string(field),
                                     std::string(text),
                                     "must be a multiple of 4, the size of type=float32");
            }
            return bytes;
        }
        case Value::count:
            return parse_count(field, text, 1, rank_count_max);
        case Value::algorithm:
            return parse_listed(
                field, text, algorithms(), [](const Algorithm* known) { return known->name; });
        case Value::off_or_on:
            return parse_count(field, text, 0, 1);
        case Value::fault:
            return parse_listed(
                field, text, fault_names, [](std::string_view name) { return name; });
        case Value::factor:
            return parse_factor(field, text);
    }
    return int64_t{0};
}

std::string print_factor(int64_t thousandths) {
    std::string text = std::to_string(thousandths / slowdown_one);
    if (const int64_t rest = thousandths % slowdown_one; rest != 0) {
        std::string decimals = std::to_string(slowdown_one + rest).substr(1);
        decimals.erase(decimals.find_last_not_of('0') + 1);
        text += "." + decimals;
    }
    return text;
}

std::string print_value(const Knob& knob) {
    switch (form_of(knob.kind).value) {
        case Value::rate:
            return print_bandwidth(knob.value);
        case Value::time:
            return print_time(knob.value);
        case Value::bytes:
            return print_bytes(knob.value);
        case Value::count:
        case Value::off_or_on:
            return std::to_string(knob.value);
        case Value::algorithm:
            return std::string(algorithms()[static_cast<size_t>(knob.value)]->name);
        case Value::fault:
            return std::string(fault_names[static_cast<size_t>(knob.value)]);
        case Value::factor:
            return print_factor(knob.value);
    }
    return "";
}

}  // namespace

bool is_node_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !text.empty() && text.size() <= node_name_bytes_max && text[0] >= 'a' &&
           text[0] <= 'z' && std::all_of(text.begin(), text.end(), allowed);
}

Result<Knob> parse_knob(KnobUse use, std::string_view text, int32_t rank_count) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return bad_knob(use, text);
    }
    const std::string_view key = text.substr(0, colon);
    const size_t first_point = key.find('.');
    const size_t last_point = key.rfind('.');
    const Scope scope = first_point == std::string_view::npos ? Scope::run
                        : key.starts_with("link.")            ? Scope::link
                                                              : Scope::rank;
    const std::string_view name =
        scope == Scope::run ? key : key.substr(std::min(last_point + 1, key.size()));
    const auto form = std::find_if(forms.begin(), forms.end(), [&](const Form& known) {
        return known.scope == scope && known.name == name;
    });
    const bool two_points = scope == Scope::run || last_point > first_point;
    if (form == forms.end() || !two_points || (scope == Scope::rank && !key.starts_with("rank."))) {
        return bad_knob(use, text);
    }
    if (!usable(*form, use)) {
        return invalid_field(
            std::string(field_of(use)), std::string(text), "must be one of " + knob_list(use));
    }
    const std::string field = std::string(field_of(use)) + "=" + std::string(key);
    Knob knob;
    knob.kind = form->kind;
    if (scope != Scope::run) {
        const std::string_view whom = key.substr(5, last_point - 5);
        if (scope == Scope::link) {
            if (const Status status = parse_ends(field, whom, rank_count, knob); !status) {
                return status.error();
            }
        } else {
            const auto rank = parse_rank(field, whom, rank_count);
            if (!rank) {
                return rank.error();
            }
            knob.rank = *rank;
        }
    }
    const auto value = parse_value(form->value, field, text.substr(colon + 1));
    if (!value) {
        return value.error();
    }
    knob.value = *value;
    return knob;
}

std::string knob_name(const Knob& knob) {
    const Form& form = form_of(knob.kind);
    const auto end = [](int32_t rank, const std::string& node) {
        return rank >= 0 ? std::to_string(rank) : node;
    };
    switch (form.scope) {
        case Scope::run:
            return std::string(form.name);
        case Scope::link:
            return "link." + end(knob.rank, knob.source_node) + "-" +
                   end(knob.target_rank, knob.target_node) + "." + std::string(form.name);
        case Scope::rank:
            return "rank." + std::to_string(knob.rank) + "." + std::string(form.name);
    }
    return "";
}

std::string print_knob(const Knob& knob) {
    return knob_name(knob) + ":" + print_value(knob);
}

std::string show_knob_value(const Knob& knob) {
    switch (form_of(knob.kind).value) {
        case Value::rate:
            return show_bandwidth(knob.value);
        case Value::time:
            return show_time(knob.value);
        case Value::bytes:
            return show_bytes(knob.value);
        case Value::off_or_on:
            return knob.value != 0 ? "yes" : "no";
        case Value::factor:
            return print_factor(knob.value) + " x";
        case Value::count:
        case Value::algorithm:
        case Value::fault:
            break;
    }
    return print_value(knob);
}

std::string knob_list(KnobUse use) {
    std::string list;
    for (const Form& form : forms) {
        if (usable(form, use)) {
            list += (list.empty() ? "" : ", ") + generic_name(form);
        }
    }
    return list;
}

}  // namespace ringscope
