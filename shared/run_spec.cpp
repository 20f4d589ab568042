// SPDX-License-Identifier: Apache-2.0
#include "shared/run_spec.hpp"

#include <algorithm>
#include <array>

#include "shared/algorithm.hpp"
#include "shared/schedule.hpp"
#include "shared/topology.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr int64_t iterations_max = 1000;
constexpr int64_t segment_bytes_min = 256;
constexpr size_t fit_line_count_max = 3;

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

Status read_channels(RunSpec& run, std::string_view text) {
    return store(run.channels, parse_count("channels", text, 1, channel_count_max));
}

Status read_chunks(RunSpec& run, std::string_view text) {
    return store(run.chunks, parse_count("chunks", text, 1, piece_count_max));
}

Status read_segment(RunSpec& run, std::string_view text) {
    if (run.chunks > 0) {
        return invalid_field("segment", std::string(text), "cannot be given together with chunks");
    }
    const auto bytes = parse_bytes("segment", text);
    if (bytes && *bytes < segment_bytes_min) {
        return invalid_field("segment", std::string(text), "must be at least 256 bytes");
    }
    return store(run.segment_bytes, bytes);
}

Status read_group(RunSpec& run, std::string_view text) {
    return store(run.group, parse_count("group", text, 1, run.problem.rank_count));
}

// "best", or every rank once: "0-1-3-2".
Status read_ring(RunSpec& run, std::string_view text) {
    if (text == "best") {
        run.best_ring = true;
        return Done{};
    }
    const std::string allowed = "must be best, or name each rank from 0 to " +
                                std::to_string(run.problem.rank_count - 1) +
                                " once, such as 0-1-3-2";
    std::vector<bool> seen(static_cast<size_t>(run.problem.rank_count));
    std::vector<int32_t> ring;
    for (std::string_view rest = text; !rest.empty();) {
        const size_t dash = std::min(rest.find('-'), rest.size());
        const auto rank = parse_count("ring", rest.substr(0, dash), 0, run.problem.rank_count - 1);
        if (!rank || seen[static_cast<size_t>(*rank)]) {
            return invalid_field("ring", std::string(text), allowed);
        }
        seen[static_cast<size_t>(*rank)] = true;
        ring.push_back(static_cast<int32_t>(*rank));
        rest.remove_prefix(std::min(dash + 1, rest.size()));
    }
    if (std::ssize(ring) != run.problem.rank_count) {
        return invalid_field("ring", std::string(text), allowed);
    }
    run.ring = std::move(ring);
    return Done{};
}

std::string print_ring(const RunSpec& run) {
    if (run.best_ring) {
        return "best";
    }
    std::string text;
    for (const int32_t rank : run.ring) {
        text += (text.empty() ? "" : "-") + std::to_string(rank);
    }
    return text;
}

// The description of a whole graph; build_topology() reads it.
Status read_graph(RunSpec& run, std::string_view text) {
    const bool printable = std::all_of(
        text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '&'; });
    if (!printable) {
        return invalid_field(
            "graph", std::string(text), "must be printable characters without spaces and &");
    }
    run.graph = std::string(text);
    return Done{};
}

Status read_oversubscription(RunSpec& run, std::string_view text) {
    return store(run.oversubscription, parse_count("oversubscription", text, 1, 64));
}

Status read_forwarding(RunSpec& run, std::string_view text) {
    return store_name(run.forwarding, "forwarding", text, forwarding_names);
}

Status read_cost(RunSpec& run, std::string_view text) {
    return store_name(run.cost, "cost", text, cost_names);
}

Status read_protocol(RunSpec& run, std::string_view text) {
    return store_name(run.protocol, "protocol", text, protocol_names);
}

// "20us+50GB/s,60us+137GB/s"
Status read_fit(RunSpec& run, std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
        const size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view line = rest.substr(0, comma);
        const size_t plus = std::min(line.find('+'), line.size());
        const auto latency_ps = parse_time("fit", line.substr(0, plus));
        const auto rate = parse_bandwidth("fit", line.substr(std::min(plus + 1, line.size())));
        if (!latency_ps || !rate || run.fit.size() == fit_line_count_max) {
            return invalid_field("fit",
                                 std::string(text),
                                 "must be one to three lines of latency and rate, such as "
                                 "20us+50GB/s,60us+137GB/s");
        }
        run.fit.push_back({*latency_ps, *rate});
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return Done{};
}

std::string print_fit(const RunSpec& run) {
    std::string text;
    for (const FitLine& line : run.fit) {
        text += (text.empty() ? "" : ",") + print_time(line.latency_ps) + "+" +
                print_bandwidth(line.bytes_per_s);
    }
    return text;
}

Status read_reduce(RunSpec& run, std::string_view text) {
    return store(run.reduce_bytes_per_s, parse_bandwidth("reduce", text));
}

Status read_launch(RunSpec& run, std::string_view text) {
    return store(run.launch_ps, parse_time("launch", text));
}

Status read_slots(RunSpec& run, std::string_view text) {
    return store(run.slots, parse_count("slots", text, 1, 1024));
}

Status read_recovery(RunSpec& run, std::string_view text) {
    return store_name(run.recovery, "recovery", text, recovery_names);
}

Status read_timeout(RunSpec& run, std::string_view text) {
    return store(run.timeout_ps, parse_time("timeout", text));
}

// A number that says nothing when it is 0.
template <auto member>
std::string print_if_given(const RunSpec& run) {
    return run.*member == 0 ? "" : std::to_string(run.*member);
}

Status read_set(RunSpec& run, std::string_view text) {
    const auto knob = parse_knob(KnobUse::set, text, run.problem.rank_count);
    if (!knob) {
        return knob.error();
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
    const auto knob = parse_knob(KnobUse::change, text.substr(colon + 1), run.problem.rank_count);
    if (!knob) {
        return knob.error();
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

const std::string set_help =
    "a detail before the start: KEY:VALUE with KEY one of " + knob_list(KnobUse::set);
const std::string change_help =
    "a knob turned while it runs: TIME:KEY:VALUE with KEY one of " + knob_list(KnobUse::change);

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
    Key{{"channels", "rings or trees side by side, 1 to 64", "2"},
        read_channels,
        print_if_given<&RunSpec::channels>},
    Key{{"chunks", "pieces of each channel, one behind the other, 1 to 4096", "4"},
        read_chunks,
        print_if_given<&RunSpec::chunks>},
    Key{{"segment", "cuts messages down to this many bytes, instead of chunks", "512KiB"},
        read_segment,
        [](const RunSpec& run) {
            return run.segment_bytes == 0 ? "" : print_bytes(run.segment_bytes);
        }},
    Key{{"group", "ranks of a node or of a torus row; divides ranks", "8"},
        read_group,
        print_if_given<&RunSpec::group>},
    Key{{"ring", "the order of the ranks, or best to search for it", "0-1-3-2"},
        read_ring,
        print_ring},
    Key{{"topology", "which links there are", "uniform"},
        read_topology,
        [](const RunSpec& run) { return run.topology; }},
    Key{{"graph", "the links of topology=graph, as --topology-file makes it", "node,a,gpu;..."},
        read_graph,
        [](const RunSpec& run) { return run.graph; }},
    Key{{"oversubscription", "how much narrower uplinks are than what is below, 1 to 64", "4"},
        read_oversubscription,
        [](const RunSpec& run) { return std::to_string(run.oversubscription); }},
    Key{{"bandwidth", "rate of each link and direction", "50GB/s"},
        read_bandwidth,
        [](const RunSpec& run) { return print_bandwidth(run.bandwidth_bytes_per_s); },
        true},
    Key{{"latency", "latency of each message", "500ns"},
        read_latency,
        [](const RunSpec& run) { return print_time(run.latency_ps); },
        true},
    Key{{"forwarding", "how switches pass on: cut-through or store-and-forward", "cut-through"},
        read_forwarding,
        [](const RunSpec& run) {
            return std::string(forwarding_names[static_cast<size_t>(run.forwarding)]);
        }},
    Key{{"cost", "what time things take: plain, nccl or fitted", "plain"},
        read_cost,
        [](const RunSpec& run) { return std::string(cost_names[static_cast<size_t>(run.cost)]); }},
    Key{{"protocol", "of cost=nccl: auto, ll, ll128 or simple", "auto"},
        read_protocol,
        [](const RunSpec& run) {
            return std::string(protocol_names[static_cast<size_t>(run.protocol)]);
        }},
    Key{{"fit", "of cost=fitted: lines of latency and rate", "20us+50GB/s,60us+137GB/s"},
        read_fit,
        print_fit},
    Key{{"reduce", "rate at which a rank reduces; free when left out", "800GB/s"},
        read_reduce,
        [](const RunSpec& run) {
            return run.reduce_bytes_per_s == 0 ? "" : print_bandwidth(run.reduce_bytes_per_s);
        }},
    Key{{"launch", "time before any rank does anything", "5us"},
        read_launch,
        [](const RunSpec& run) { return print_time(run.launch_ps); }},
    Key{{"slots", "messages under way on a connection at most, 1 to 1024", "8"},
        read_slots,
        print_if_given<&RunSpec::slots>},
    Key{{"engine", "what carries the run out", "simulator"},
        read_engine,
        [](const RunSpec& run) { return run.engine; }},
    Key{{"recovery", "after a failure: none, restart, shrink or resume", "none"},
        read_recovery,
        [](const RunSpec& run) {
            return std::string(recovery_names[static_cast<size_t>(run.recovery)]);
        }},
    Key{{"timeout", "how long nothing may move before somebody acts", "1s"},
        read_timeout,
        [](const RunSpec& run) { return print_time(run.timeout_ps); }},
    Key{{"iterations", "how often it is repeated", "20"},
        read_iterations,
        [](const RunSpec& run) { return std::to_string(run.iterations); }},
    Key{{"seed", "of the input values", "1"},
        read_seed,
        [](const RunSpec& run) { return std::to_string(run.seed); }},
    Key{{"set", set_help, "link.3-4.bandwidth:5GB/s", true}, read_set, nullptr},
    Key{{"change", change_help, "1ms:bandwidth:5GB/s", true}, read_change, nullptr},
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

}  // namespace ringscope
