// SPDX-License-Identifier: Apache-2.0
// Every algorithm, one line each, in the order of the menu.
#include <array>

#include "shared/algorithm.hpp"

#define RINGSCOPE_ALGORITHMS(X) \
    X(ring)                     \
    X(ring_bidirectional)       \
    X(recursive_doubling)       \
    X(halving_doubling)         \
    X(direct)                   \
    X(reduce_broadcast)         \
    X(parameter_server)         \
    X(chain)                    \
    X(tree)                     \
    X(double_tree)              \
    X(two_level)                \
    X(torus)                    \
    X(in_switch)                \
    X(ring_reduce_scatter)      \
    X(ring_all_gather)          \
    X(ring_broadcast)           \
    X(ring_reduce)

namespace ringscope {

#define X(name) extern const Algorithm name##_algorithm;
RINGSCOPE_ALGORITHMS(X)
#undef X

std::span<const Algorithm* const> algorithms() {
#define X(name) &name##_algorithm,
    static const std::array list{RINGSCOPE_ALGORITHMS(X)};
#undef X
    return list;
}

const Algorithm* find_algorithm(std::string_view name) {
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->name == name) {
            return algorithm;
        }
    }
    return nullptr;
}

}  // namespace ringscope
