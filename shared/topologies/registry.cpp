// SPDX-License-Identifier: Apache-2.0
// Every topology preset, one line each, in the order of the menu.
#include <array>

#include "shared/topology.hpp"

#define RINGSCOPE_TOPOLOGIES(X) \
    X(uniform)                  \
    X(full_mesh)                \
    X(single_switch)            \
    X(dgx1_v100)                \
    X(dgx_a100)                 \
    X(hgx_h100)                 \
    X(hgx_h200)                 \
    X(b200)                     \
    X(pcie_box)                 \
    X(pcie_box_2socket)         \
    X(rail_infiniband)          \
    X(one_nic)                  \
    X(efa)                      \
    X(ethernet)                 \
    X(leaf_spine)               \
    X(fat_tree)                 \
    X(torus_2d)                 \
    X(torus_3d)                 \
    X(graph)

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
