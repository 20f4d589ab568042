// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "web/views/view.hpp"

namespace ringscope {

extern const View ring_view;

std::span<const View* const> views() {
    static constexpr std::array list{&ring_view};
    return list;
}

}  // namespace ringscope
