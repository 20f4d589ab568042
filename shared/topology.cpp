// SPDX-License-Identifier: Apache-2.0
#include "shared/topology.hpp"

namespace ringscope {

Link Topology::link(int32_t source_rank, int32_t target_rank) const {
    const auto found = exceptions.find({source_rank, target_rank});
    return found == exceptions.end() ? common : found->second;
}

void Topology::apply(const Knob& knob) {
    const auto named = [&]() -> Link& {
        return exceptions.try_emplace({knob.rank, knob.target_rank}, common).first->second;
    };
    switch (knob.kind) {
        case Knob::Kind::bandwidth:  // of every link, those set apart before included
            common.bandwidth_bytes_per_s = knob.value;
            for (auto& [ranks, link] : exceptions) {
                link.bandwidth_bytes_per_s = knob.value;
            }
            break;
        case Knob::Kind::latency:
            common.latency_ps = knob.value;
            for (auto& [ranks, link] : exceptions) {
                link.latency_ps = knob.value;
            }
            break;
        case Knob::Kind::link_bandwidth:
            named().bandwidth_bytes_per_s = knob.value;
            break;
        case Knob::Kind::link_latency:
            named().latency_ps = knob.value;
            break;
        case Knob::Kind::rank_start:
            break;
    }
}

Topology build_topology(const RunSpec& run) {
    for (const TopologyPreset* preset : topology_presets()) {
        if (preset->name == run.topology) {
            Topology topology = preset->build(run);
            for (const Knob& knob : run.settings) {
                topology.apply(knob);
            }
            return topology;
        }
    }
    RS_CHECK(false && "a RunSpec names a preset that is not in the registry");
    return {};
}

}  // namespace ringscope
