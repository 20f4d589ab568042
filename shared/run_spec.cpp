// SPDX-License-Identifier: Apache-2.0
#include "shared/run_spec.hpp"

#include <algorithm>
#include <array>

#include "shared/algorithm.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr int64_t iterations_max = 1000;

// A name from a list, or an error that shows the list.
template <class List>
Result<std::string> parse_name(std::string_view field, std::string_view text, const List& names) {
    std::string allowed = "must be one of";
    for (const std::string_view name : names) {
        if (name == text) {
            return std::string(text);
        }
        allowed += " " + std::string(name);
    }
    return invalid_field(std::string(field), std::string(text), allowed);
}

// Stores what a parser found, or hands its error on.
template <class Target, class Value>
Status store(Target& target, const Result<Value>& value) {
    if (!value) {
        return value.error();
    }
    target = static_cast<Target>(*value);
    return Done{};
}

// An enumerator by its place in the list of names.
template <class Enum, class List>
Status store_name(Enum& target, std::string_view field, std::string_view text, const List& names) {
    if (const auto name = parse_name(field, text, names); !name) {
        return name.error();
    }
    const auto found = std::find(names.begin(), names.end(), text);
    target = static_cast<Enum>(found - names.begin());
    return Done{};
}

// The keys that depend on others (ranks before links, type before bytes) are read in the order of
// this table, whatever their order in the line.
struct Key {
    RunKey key;
    Status (*read)(RunSpec& run, std::string_view text);
    std::string (*print)(const RunSpec& run);  // of a key that is not repeatable
    bool always = false;                       // printed even when it is the default
};

Status read_algorithm(RunSpec& run, std::string_view text) {
    std::vector<std::string_view> names;
    for (const Algorithm* algorithm : algorithms()) {
        names.push_back(algorithm->name);
    }
    return store(run.algorithm, parse_name("algorithm", text, names));
}

Status read_ranks(RunSpec& run, std::string_view text) {
    return store(run.problem.rank_count, parse_count("ranks", text, 1, rank_count_max));
}

Status read_type(RunSpec& run, std::string_view text) {
    return store_name(run.problem.element_type, "type", text, element_type_names);
}

Status read_op(RunSpec& run, std::string_view text) {
    return store_name(run.problem.reduce_op, "op", text, reduce_op_names);
}

Status read_bytes(RunSpec& run, std::string_view text) {
    const auto bytes = parse_bytes("bytes", text);
    if (!bytes) {
        return bytes.error();
    }
    const int64_t element = element_bytes(run.problem.element_type);
    if (*bytes % element != 0) {
        return invalid_field(
            "bytes",
            std::string(text),
            "must be a multiple of " + std::to_string(element) +
                ", the size of type=" + std::string(element_type_name(run.problem.element_type)));
    }
    run.problem.element_count = *bytes / element;
    return Done{};
}

Status read_topology(RunSpec& run, std::string_view text) {
    std::vector<std::string_view> names;
    for (const TopologyPreset* preset : topology_presets()) {
        names.push_back(preset->name);
    }
    return store(run.topology, parse_name("topology", text, names));
}

Status read_bandwidth(RunSpec& run, std::string_view text) {
    return store(run.bandwidth_bytes_per_s, parse_bandwidth("bandwidth", text));
}

Status read_latency(RunSpec& run, std::string_view text) {
    return store(run.latency_ps, parse_time("latency", text));
}

// Which engines exist is not the core's knowledge; any short lower-case word is well formed.
Status read_engine(RunSpec& run, std::string_view text) {
    const bool well_formed =
        !text.empty() && text.size() <= 16 &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
    if (!well_formed) {
        return invalid_field("engine",
                             std::string(text),
                             "must be the name of an engine, such as simulator or threads");
    }
    run.engine = std::string(text);
    return Done{};
}

Status read_iterations(RunSpec& run, std::string_view text) {
    return store(run.iterations, parse_count("iterations", text, 1, iterations_max));
}

Status read_seed(RunSpec& run, std::string_view text) {
    return store(run.seed, parse_count("seed", text, 0, INT32_MAX));
}

Status read_set(RunSpec& run, std::string_view text) {
    const auto knob = parse_knob("set", text, run);
    if (!knob) {
        return knob.error();
    }
    if (knob->kind == Knob::Kind::bandwidth || knob->kind == Knob::Kind::latency) {
        return invalid_field(
            "set",
            std::string(text),
            "must name a link or a rank; for all links use bandwidth= and latency=");
    }
    if (run.settings.size() >= change_count_max) {
        return invalid_field(
            "set",
            std::string(text),
            "must be given at most " + std::to_string(change_count_max) + " times");
    }
    run.settings.push_back(*knob);
    return Done{};
}

Status read_change(RunSpec& run, std::string_view text) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return invalid_field(
            "change", std::string(text), "must be TIME:KEY:VALUE, such as 1ms:bandwidth:5GB/s");
    }
    const auto time_ps = parse_time("change", text.substr(0, colon));
    if (!time_ps) {
        return invalid_field(
            "change", std::string(text), "must begin with a time from 0s to 1000s, such as 1.5us");
    }
    const auto knob = parse_knob("change", text.substr(colon + 1), run);
    if (!knob) {
        return knob.error();
    }
    if (knob->kind == Knob::Kind::rank_start) {
        return invalid_field("change",
                             std::string(text),
                             "cannot move a start that is past; use set=rank.R.start:TIME");
    }
    if (run.changes.size() >= change_count_max) {
        return invalid_field(
            "change",
            std::string(text),
            "must be given at most " + std::to_string(change_count_max) + " times");
    }
    insert_change(run, {*time_ps, *knob});
    return Done{};
}

const std::array keys{
    Key{{"algorithm", "how the ranks share the work", "ring"},
        read_algorithm,
        [](const RunSpec& run) { return run.algorithm; },
        true},
    Key{{"ranks", "number of ranks, 1 to 4096", "8"},
        read_ranks,
        [](const RunSpec& run) { return std::to_string(run.problem.rank_count); },
        true},
    Key{{"type", "type of the elements: float32", "float32"},
        read_type,
        [](const RunSpec& run) {
            return std::string(element_type_name(run.problem.element_type));
        }},
    Key{{"op", "how elements are reduced: sum", "sum"},
        read_op,
        [](const RunSpec& run) { return std::string(reduce_op_name(run.problem.reduce_op)); }},
    Key{{"bytes", "buffer of each rank, 0 to 1TiB", "64MiB"},
        read_bytes,
        [](const RunSpec& run) { return print_bytes(buffer_bytes(run.problem)); },
        true},
    Key{{"topology", "which links there are", "uniform"},
        read_topology,
        [](const RunSpec& run) { return run.topology; }},
    Key{{"bandwidth", "rate of each link and direction", "50GB/s"},
        read_bandwidth,
        [](const RunSpec& run) { return print_bandwidth(run.bandwidth_bytes_per_s); },
        true},
    Key{{"latency", "latency of each message", "500ns"},
        read_latency,
        [](const RunSpec& run) { return print_time(run.latency_ps); },
        true},
    Key{{"engine", "what carries the run out", "simulator"},
        read_engine,
        [](const RunSpec& run) { return run.engine; }},
    Key{{"iterations", "how often a measuring engine repeats it", "20"},
        read_iterations,
        [](const RunSpec& run) { return std::to_string(run.iterations); }},
    Key{{"seed", "of the input values", "1"},
        read_seed,
        [](const RunSpec& run) { return std::to_string(run.seed); }},
    Key{{"set",
         "a detail before the start: KEY:VALUE with KEY one of link.A-B.bandwidth, "
         "link.A-B.latency, rank.R.start",
         "link.3-4.bandwidth:5GB/s",
         true},
        read_set,
        nullptr},
    Key{{"change",
         "a knob turned while it runs: TIME:KEY:VALUE with KEY one of bandwidth, latency, "
         "link.A-B.bandwidth, link.A-B.latency",
         "1ms:bandwidth:5GB/s",
         true},
        read_change,
        nullptr},
};

const Key* find_key(std::string_view name) {
    for (const Key& key : keys) {
        if (key.key.name == name) {
            return &key;
        }
    }
    return nullptr;
}

struct Field {
    const Key* key = nullptr;
    std::string_view value;
};

// Cuts the line at every '&' and looks the keys up.
Result<std::vector<Field>> split_fields(std::string_view line) {
    std::vector<Field> fields;
    while (!line.empty()) {
        const size_t end = std::min(line.find('&'), line.size());
        const std::string_view part = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        if (part.empty() || (part == "v1" && fields.empty())) {
            continue;
        }
        const size_t equals = part.find('=');
        const std::string_view name = part.substr(0, equals);
        const Key* key = find_key(name);
        if (equals == std::string_view::npos || key == nullptr) {
            std::string allowed = "is not a key; the keys are";
            for (const Key& known : keys) {
                allowed += " " + std::string(known.key.name);
            }
            const std::string_view value =
                equals == std::string_view::npos ? "" : part.substr(equals + 1);
            return invalid_field(std::string(name), std::string(value), allowed);
        }
        const auto same = [key](const Field& field) { return field.key == key; };
        if (!key->key.repeatable && std::any_of(fields.begin(), fields.end(), same)) {
            return invalid_field(
                std::string(name), std::string(part.substr(equals + 1)), "must be given only once");
        }
        fields.push_back({key, part.substr(equals + 1)});
    }
    return fields;
}

}  // namespace

std::span<const RunKey> run_keys() {
    static const auto list = [] {
        std::array<RunKey, keys.size()> all;
        std::transform(
            keys.begin(), keys.end(), all.begin(), [](const Key& key) { return key.key; });
        return all;
    }();
    return list;
}

Result<RunSpec> parse_run(std::string_view line) {
    if (line.size() > run_line_bytes_max) {
        return plain_error(ErrorKind::invalid_argument,
                           "the run line has " + std::to_string(line.size()) +
                               " characters; at most " + std::to_string(run_line_bytes_max) +
                               " are allowed");
    }
    const auto fields = split_fields(line);
    if (!fields) {
        return fields.error();
    }
    RunSpec run;
    for (const Key& key : keys) {
        for (const Field& field : *fields) {
            if (field.key != &key) {
                continue;
            }
            if (const Status status = key.read(run, field.value); !status) {
                return status.error();
            }
        }
    }
    return run;
}

void insert_change(RunSpec& run, const Change& change) {
    const auto later =
        std::find_if(run.changes.begin(), run.changes.end(), [&](const Change& other) {
            return other.time_ps > change.time_ps;
        });
    run.changes.insert(later, change);
}

std::string print_run(const RunSpec& run) {
    const RunSpec defaults;
    std::string line;
    const auto append = [&line](std::string_view name, const std::string& value) {
        line += (line.empty() ? "" : "&") + std::string(name) + "=" + value;
    };
    for (const Key& key : keys) {
        if (key.print == nullptr) {
            continue;
        }
        if (std::string value = key.print(run); key.always || value != key.print(defaults)) {
            append(key.key.name, value);
        }
    }
    for (const Knob& knob : run.settings) {
        append("set", print_knob(knob));
    }
    for (const Change& change : run.changes) {
        append("change", print_time(change.time_ps) + ":" + print_knob(change.knob));
    }
    return line;
}

namespace {

Error bad_knob(std::string_view field, std::string_view text) {
    return invalid_field(std::string(field),
                         std::string(text),
                         "must be KEY:VALUE with KEY one of bandwidth, latency, "
                         "link.A-B.bandwidth, link.A-B.latency, "
                         "rank.R.start");
}

Result<int32_t> parse_rank(std::string_view field, std::string_view text, const RunSpec& run) {
    const auto rank = parse_count(field, text, 0, run.problem.rank_count - 1);
    if (!rank) {
        return invalid_field(
            std::string(field),
            std::string(text),
            "must name a rank from 0 to " + std::to_string(run.problem.rank_count - 1));
    }
    return static_cast<int32_t>(*rank);
}

}  // namespace

Result<Knob> parse_knob(std::string_view field, std::string_view text, const RunSpec& run) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return bad_knob(field, text);
    }
    std::string_view key = text.substr(0, colon);
    const std::string_view value = text.substr(colon + 1);
    const std::string value_field = std::string(field) + "=" + std::string(key);
    Knob knob;
    if (key == "bandwidth" || key == "latency") {
        knob.kind = key == "bandwidth" ? Knob::Kind::bandwidth : Knob::Kind::latency;
    } else if (key.starts_with("link.")) {
        key.remove_prefix(5);
        const size_t dash = key.find('-');
        const size_t point = key.find('.');
        if (dash == std::string_view::npos || point == std::string_view::npos || dash > point) {
            return bad_knob(field, text);
        }
        const std::string_view detail = key.substr(point + 1);
        if (detail != "bandwidth" && detail != "latency") {
            return bad_knob(field, text);
        }
        const auto source = parse_rank(value_field, key.substr(0, dash), run);
        const auto target = parse_rank(value_field, key.substr(dash + 1, point - dash - 1), run);
        if (!source || !target) {
            return source ? target.error() : source.error();
        }
        if (*source == *target) {
            return invalid_field(
                std::string(field), std::string(text), "must name two different ranks");
        }
        knob.kind = detail == "bandwidth" ? Knob::Kind::link_bandwidth : Knob::Kind::link_latency;
        knob.rank = *source;
        knob.target_rank = *target;
    } else if (key.starts_with("rank.") && key.ends_with(".start")) {
        const auto rank = parse_rank(value_field, key.substr(5, key.size() - 11), run);
        if (!rank) {
            return rank.error();
        }
        knob.kind = Knob::Kind::rank_start;
        knob.rank = *rank;
    } else {
        return bad_knob(field, text);
    }
    const bool rate = knob.kind == Knob::Kind::bandwidth || knob.kind == Knob::Kind::link_bandwidth;
    const auto number = rate ? parse_bandwidth(value_field, value) : parse_time(value_field, value);
    if (!number) {
        return number.error();
    }
    knob.value = *number;
    return knob;
}

std::string print_knob(const Knob& knob) {
    const std::string link =
        "link." + std::to_string(knob.rank) + "-" + std::to_string(knob.target_rank);
    switch (knob.kind) {
        case Knob::Kind::bandwidth:
            return "bandwidth:" + print_bandwidth(knob.value);
        case Knob::Kind::latency:
            return "latency:" + print_time(knob.value);
        case Knob::Kind::link_bandwidth:
            return link + ".bandwidth:" + print_bandwidth(knob.value);
        case Knob::Kind::link_latency:
            return link + ".latency:" + print_time(knob.value);
        case Knob::Kind::rank_start:
            return "rank." + std::to_string(knob.rank) + ".start:" + print_time(knob.value);
    }
    return "";
}

}  // namespace ringscope
