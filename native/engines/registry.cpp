// SPDX-License-Identifier: Apache-2.0
// Every engine, one line each, in the order of the menu.
#include <array>
#include <string>

#include "native/engine.hpp"
#include "shared/arrange.hpp"
#include "shared/units.hpp"

#define RINGSCOPE_ENGINES(X) X(threads)

namespace ringscope {

#define X(name) extern const Engine name##_engine;
RINGSCOPE_ENGINES(X)
#undef X

namespace {

#define X(name) &name##_engine,
constexpr std::array engines{RINGSCOPE_ENGINES(X)};
#undef X

constexpr EngineInfo simulator_info{
    "simulator", "no hardware: simulated time, real numbers", rank_count_max, ""};

// Known by name, so that who asks for one is told why there is none.
constexpr std::string_view not_here = "not part of this version";
constexpr std::array absent{
    EngineInfo{"cuda", "GPUs of one machine, with kernels of our own", 0, not_here},
    EngineInfo{"nccl", "GPUs of any number of machines, through NCCL", 0, not_here},
    EngineInfo{"mpi", "CPU ranks of any number of machines, through MPI", 0, not_here},
};

Error unknown_engine(const std::string& name) {
    std::string allowed = "must be one of";
    for (const EngineInfo& info : engine_infos()) {
        if (info.missing.empty()) {
            allowed += " " + std::string(info.name);
        }
    }
    return invalid_field("engine", name, allowed);
}

}  // namespace

std::vector<EngineInfo> engine_infos() {
    std::vector<EngineInfo> infos{simulator_info};
    for (const Engine* engine : engines) {
        infos.push_back(engine->info);
    }
    infos.insert(infos.end(), absent.begin(), absent.end());
    return infos;
}

void append_engine(JsonWriter& json, const EngineInfo& info) {
    json.begin_object()
        .field("name", info.name)
        .field("summary", info.summary)
        .field("rank_count_max", info.rank_count_max)
        .key("missing");
    info.missing.empty() ? json.null() : json.value(info.missing);
    json.end_object();
}

Result<const Engine*> find_engine(const RunSpec& run) {
    if (simulated(run)) {
        return invalid_field("engine",
                             run.engine,
                             "measures nothing; use engine=threads to measure, or simulate it");
    }
    for (const EngineInfo& info : engine_infos()) {
        if (info.name == run.engine && !info.missing.empty()) {
            Error error = invalid_field("engine", run.engine, std::string(info.missing));
            error.kind = ErrorKind::unsupported;
            return error;
        }
    }
    for (const Engine* engine : engines) {
        if (engine->info.name != run.engine) {
            continue;
        }
        const auto schedule = build_schedule(run);
        if (!schedule) {
            return schedule.error();
        }
        if (const Status status = engine->check(run, *schedule); !status) {
            return status.error();
        }
        return engine;
    }
    return unknown_engine(run.engine);
}

Status check_no_knobs(const RunSpec& run) {
    const std::string allowed =
        "acts on a simulated run only; engine=" + run.engine + " measures a real one as it is";
    const RunSpec defaults;
    if (!run.settings.empty()) {
        return invalid_field("set", print_knob(run.settings.front()), allowed);
    }
    if (!run.changes.empty()) {
        const Change& change = run.changes.front();
        return invalid_field(
            "change", print_time(change.time_ps) + ":" + print_knob(change.knob), allowed);
    }
    if (run.recovery != defaults.recovery) {
        const auto name = recovery_names[static_cast<size_t>(run.recovery)];
        return invalid_field("recovery", std::string(name), allowed);
    }
    if (run.timeout_ps != defaults.timeout_ps) {
        return invalid_field("timeout",
                             print_time(run.timeout_ps),
                             allowed + ", with a deadline instead of a timeout");
    }
    return Done{};
}

}  // namespace ringscope
