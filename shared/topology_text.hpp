// SPDX-License-Identifier: Apache-2.0
// A whole graph as text, to read, to write by hand and to put into a run line.
//
//     ringscope-topology 1
//     # what follows a hash is for people
//     node gpu0 gpu host=0
//     node gpu1 gpu host=0
//     node nvswitch0 nvswitch host=0 reduces
//     link gpu0 nvswitch0 240GB/s 300ns nvlink
//     link gpu1 nvswitch0 240GB/s 300ns nvlink
//     rank 0 gpu0
//     rank 1 gpu1
//
// node NAME KIND [host=N] [reduces]                  KIND is one of node_kind_names
// link FROM TO RATE LATENCY KIND [one-way] [down]    KIND is one of link_kind_names
// rank NUMBER NODE                                   0 to n-1, each once, each at a node of its own
//
// A link is two, one per direction, unless it says one-way. RATE may also be `bandwidth`, the run's
// own, or a part of it such as `bandwidth/4`; LATENCY may be `latency`. A node comes before what
// names it. At most one node reduces: the switch for in-network algorithms. GPUs pass nothing on,
// so what joins more than two of them is a switch, a CPU or a network. Every rank must reach every
// other.
//
// The compact form, of the run line's graph=, has the same lines without the first one and without
// remarks, joined by ';' and their words by ','.
#pragma once

#include <string>
#include <string_view>

#include "shared/result.hpp"
#include "shared/run_spec.hpp"
#include "shared/topology.hpp"

namespace ringscope {

inline constexpr int32_t graph_node_count_max = 8192;
inline constexpr int32_t graph_link_count_max = 65536;  // directions
inline constexpr int32_t graph_host_max = 65535;
inline constexpr size_t graph_text_bytes_max = size_t{4} << 20;

enum class TopologyForm : uint8_t { file, compact };

// Rates that are the run's come from `run`; nothing else of it matters. Errors name `field`, the
// word, its line, and what is allowed.
Result<Topology> parse_topology(std::string_view field,
                                std::string_view text,
                                TopologyForm form,
                                const RunSpec& run);

// parse_topology(print_topology(t)) == t, for a topology that no pair of ranks without a link was
// set apart in, and whose host_rank_count is count_host_ranks().
std::string print_topology(const Topology& topology, TopologyForm form);

}  // namespace ringscope
