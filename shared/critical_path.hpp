// SPDX-License-Identifier: Apache-2.0
// CriticalPath: the chain of hops that the end of a run hangs on, and where its time went. Works
// backwards from the last hop: each began when the last thing it needed was there, which is either
// a hop that brought its rank the data, or an earlier message on the same connection, or nothing
// that a trace shows, and then its rank was late.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "shared/schedule.hpp"
#include "shared/topology.hpp"
#include "shared/trace.hpp"

namespace ringscope {

// Why a hop on the path began when it did.
enum class Reason : uint8_t {
    start,  // nothing before it: it began with the run
    data,   // a hop brought its rank what it sends on
    link,   // the message before it had to leave first
    late,   // its rank could have sent earlier, and did not
};

struct PathHop {
    int32_t event = 0;  // index into the events
    Reason reason = Reason::start;
    int64_t wait_ps = 0;  // of reason late: how much earlier it could have begun

    bool operator==(const PathHop&) const = default;
};

// Where the time on the path went. The parts add up to the whole.
struct PathSplit {
    int64_t latency_ps = 0;    // bytes in the air
    int64_t wire_ps = 0;       // bytes at the rate of the fastest link of the topology
    int64_t slow_link_ps = 0;  // what slower links add to that
    int64_t sharing_ps = 0;    // what others on the same links add, and knobs turned on the way
    int64_t late_ps = 0;       // ranks that were late

    bool operator==(const PathSplit&) const = default;
    int64_t total_ps() const { return latency_ps + wire_ps + slow_link_ps + sharing_ps + late_ps; }
};

struct CriticalPath {
    std::vector<PathHop> hops;  // from the first to the last
    PathSplit split;            // of a simulated run

    bool operator==(const CriticalPath&) const = default;
};

// The rate and latency of the way from one rank to another when nobody else uses it.
struct Way {
    int64_t bandwidth_bytes_per_s = 0;
    int64_t latency_ps = 0;
};

// Looks ways up once each.
class Ways {
  public:
    explicit Ways(const Topology& topology) : topology_(topology), router_(topology_) {}
    Ways(const Ways&) = delete;
    Ways& operator=(const Ways&) = delete;

    Way way(int32_t source, int32_t target, int32_t channel);
    int64_t fastest_bytes_per_s() const;  // of all links

  private:
    Topology topology_;
    Router router_;
    std::map<std::pair<int32_t, int32_t>, Way> known_;
};

// Of one round: its events in order of their end, and when it began. `ways` is null for a measured
// run, whose time is not split.
CriticalPath find_critical_path(const Schedule& schedule,
                                std::span<const Event> events,
                                int64_t begin_ps,
                                Ways* ways);

}  // namespace ringscope
