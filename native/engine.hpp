// SPDX-License-Identifier: Apache-2.0
// Engine: what carries a run out on real hardware and measures it. Each is one file in engines/ and
// one line in engines/registry.cpp; the command line, the daemon and the tests pick it up from
// there.
//
// An engine runs in a worker process of its own (worker.hpp), so it may crash or hang: its parent
// keeps the deadline. The simulator is no engine in this sense; it is only listed among them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "native/trace_writer.hpp"
#include "shared/json.hpp"
#include "shared/run_spec.hpp"
#include "shared/schedule.hpp"
#include "shared/trace.hpp"

namespace ringscope {

struct EngineInfo {
    std::string_view name;
    std::string_view summary;
    int32_t rank_count_max = 0;
    std::string_view missing;  // why it cannot run here, in words; empty when it can
};

struct Engine {
    EngineInfo info;

    // Whether this run can be done here. Cheap; asked before a worker starts and again inside it.
    Status (*check)(const RunSpec& run, const Schedule& schedule);

    // Runs all iterations, writes every hop as an event and says how it ended; the caller writes
    // the outcome. Blocks until done. Errors: as check, and what the machine refuses.
    Result<Outcome> (*run)(const RunSpec& run, const Schedule& schedule, TraceWriter& trace);
};

// In the order of the menu, those that cannot run here included.
std::vector<EngineInfo> engine_infos();

// {"name", "summary", "rank_count_max", "missing"}, the last one null when it can run here.
void append_engine(JsonWriter& json, const EngineInfo& info);

// The engine that measures `run`, after its check. Errors name the field: an unknown engine, one
// that is missing here, the simulator (which measures nothing), and whatever the engine's check
// refuses.
Result<const Engine*> find_engine(const RunSpec& run);

// Refuses the keys that would have to act on the machine and cannot: set, change, recovery,
// timeout. Those that describe a network and its costs are allowed: the prediction beside the
// measurement follows them. For every engine's check.
Status check_no_knobs(const RunSpec& run);

}  // namespace ringscope
