// SPDX-License-Identifier: Apache-2.0
// The colours of the scene, for a light and a dark page. style.css has the same ground and accent.
#pragma once

#include <cstdint>

#include "web/draw.hpp"

namespace ringscope {

struct Theme {
    bool dark = false;
    Color ground;  // behind everything
    Color rank;    // the plate that holds a rank's buffer
    Color rank_edge;
    Color link;  // idle
    Color link_busy;
    Color label;
    Color label_quiet;
};

const Theme& theme(bool dark);

// Up to eight chunks get colours that also people with a colour vision deficiency tell apart (after
// Okabe and Ito, 2008); more get a ramp along the radius. Position, not colour, says which chunk it
// is.
Color chunk_color(const Theme& theme, int32_t chunk, int32_t chunk_count);

// Black or white, whichever reads better on `ground`.
Color ink_on(Color ground);

}  // namespace ringscope
