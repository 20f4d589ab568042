// SPDX-License-Identifier: Apache-2.0
// Every topology preset, one line each, in the order of the menu.
#include <array>

#include "shared/topology.hpp"

#define RINGSCOPE_TOPOLOGIES(X) X(uniform)

namespace ringscope {

#define X(name) extern const TopologyPreset name##_topology;
RINGSCOPE_TOPOLOGIES(X)
#undef X

std::span<const TopologyPreset* const> topology_presets() {
#define X(name) &name##_topology,
    static const std::array list{RINGSCOPE_TOPOLOGIES(X)};
#undef X
    return list;
}

}  // namespace ringscope
