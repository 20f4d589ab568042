// SPDX-License-Identifier: Apache-2.0
// Topology: which link joins two ranks, and how fast it is.
//
// Presets are files in topologies/, listed in topologies/registry.cpp. Links are looked up, never
// listed: a private link between each two of 4096 ranks would be 16.8 million of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "shared/run_spec.hpp"

namespace ringscope {

// One direction of a connection. Full duplex: the way back is a link of its own.
struct Link {
    int64_t bandwidth_bytes_per_s = 0;
    int64_t latency_ps = 0;

    bool operator==(const Link&) const = default;
};

struct Topology {
    Link common;                                             // every link that is not named below
    std::map<std::pair<int32_t, int32_t>, Link> exceptions;  // by source and target rank

    Link link(int32_t source_rank, int32_t target_rank) const;

    // Turns a knob about links; others change nothing.
    void apply(const Knob& knob);
};

struct TopologyPreset {
    std::string_view name;
    std::string_view summary;
    Topology (*build)(const RunSpec& run);
};

std::span<const TopologyPreset* const> topology_presets();

// The run's preset with its settings applied (its changes are not: they happen later).
Topology build_topology(const RunSpec& run);

}  // namespace ringscope
