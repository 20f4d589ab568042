// SPDX-License-Identifier: Apache-2.0
// Machines for NCCL's cost model, each number with its public source.
//
// None is fitted to a measurement of its own machine. A channel count or rate is what NCCL's search
// finds from its table of link rates; an effect, where there is one, follows from NCCL's source or
// was measured on another machine of the class, and the text says on which. `published` takes the
// effects away again and leaves NCCL's own belief.
#pragma once

#include <span>
#include <string_view>

#include "shared/nccl_model.hpp"

namespace ringscope {

struct NcclPreset {
    std::string_view name;     // "a100-1x8": GPU, nodes x ranks per node
    std::string_view summary;  // "8 x A100 with NVSwitch"
    NcclMachine machine;
};

std::span<const NcclPreset> nccl_presets();

// Null when there is no such preset.
const NcclPreset* find_nccl_preset(std::string_view name);

// The same machine by NCCL's constants alone.
NcclMachine published(NcclMachine machine);

}  // namespace ringscope
