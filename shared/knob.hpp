// SPDX-License-Identifier: Apache-2.0
// Knob: one detail of a run that can be set before the start or turned while it runs, and its
// spelling: "link.3-4.bandwidth:5GB/s", "rank.2.alive:0", "bytes:16MiB".
//
// A link is named by its two ends. An end is a rank (3) or a node of the topology (nvswitch0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "shared/result.hpp"

namespace ringscope {

// What happens to the next message that leaves on a link.
enum class Fault : uint8_t {
    drop,       // it never arrives
    duplicate,  // it is taken in twice
    corrupt,    // one bit of it is flipped
    empty,      // it arrives without its content, and nobody notices
};

struct Knob {
    enum class Kind : uint8_t {
        bandwidth,       // of every link that follows the run's own rate
        latency,         // of every link that follows the run's own latency
        bytes,           // from the next iteration on, as are the next two
        algorithm,       // value: its place in the registry
        ranks,           //
        link_bandwidth,  //
        link_latency,    //
        link_up,         // value: 0 cuts it, 1 restores it
        link_fault,      // value: a Fault
        rank_start,      // it joins this late
        rank_bytes,      // it believes that the buffer has this many bytes
        rank_alive,      // value: 0 kills it, 1 brings it back at the next attempt
        rank_frozen,     // value: 1 freezes it, 0 lets it go on
        rank_delay,      // it does nothing for this long
        rank_slowdown,   // value: how many times longer it takes, in thousandths
    };
    Kind kind = Kind::bandwidth;
    int32_t rank = 0;              // of a rank's knob; the link's source, or -1 where it is a node
    int32_t target_rank = 0;       // the link's target, or -1 where it is a node
    int64_t value = 0;             // bytes per second, picoseconds, bytes, or as said above
    std::string source_node = {};  // names of the ends that are no ranks
    std::string target_node = {};

    bool operator==(const Knob&) const = default;
};

// A knob turned while the run goes on.
struct Change {
    int64_t time_ps = 0;
    Knob knob;

    bool operator==(const Change&) const = default;
};

// Whether a node may be called that: a lower-case letter, then letters, digits and underscores. So
// it is no rank's number, and can stand in a knob.
inline constexpr size_t node_name_bytes_max = 24;
bool is_node_name(std::string_view text);

enum class KnobUse : uint8_t { set, change };

// As in set= and, after the time, in change=. Errors name the key, the value and what is allowed:
// an unknown knob, one that cannot be used this way, a rank that is not below rank_count.
Result<Knob> parse_knob(KnobUse use, std::string_view text, int32_t rank_count);
std::string print_knob(const Knob& knob);

// "link.3-4.bandwidth", and the value for people: "5 GB/s", "cut", "2.5 x".
std::string knob_name(const Knob& knob);
std::string show_knob_value(const Knob& knob);

// The knobs that can be used this way, for help texts: "link.A-B.bandwidth, rank.R.start".
std::string knob_list(KnobUse use);

}  // namespace ringscope
