// SPDX-License-Identifier: Apache-2.0
// Schedule: a collective as data. Who sends which chunks to whom in which step, copied or reduced.
//
// A Schedule knows nothing of time, links or devices; the simulator, the engines and the pictures
// all read the same one. It is enumerated, never stored: a ring over 4096 ranks has 33.5 million
// transfers. Ranks, steps and chunks count from 0; ranges are half-open.
//
//     Result<Schedule> schedule = build_schedule("ring", problem);
//     std::vector<Transfer> sends;
//     schedule->append_sends(/*lane=*/0, /*step=*/3, /*rank=*/0, sends);
//
// Lanes. The buffer is cut into lane_count equal parts, and the algorithm does the same with each
// of them, independently: a rank goes through the steps of a lane without regard to the others. A
// lane belongs to a channel. Lanes of different channels have connections of their own, possibly
// with another order of the ranks; lanes of one channel follow each other on the same connections,
// which is what pipelining is.
//
// Positions. An algorithm knows positions 0 to n-1 only; `orders` says which rank sits where, for
// each channel. That is where a ring order, a bidirectional ring, the second of two trees and a
// ring that closes over a dead rank come from. The root of a broadcast or a reduce sits at 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/problem.hpp"
#include "shared/result.hpp"

namespace ringscope {

struct Algorithm;

enum class Action : uint8_t { copy, reduce };

// The atom: one message. It carries chunks, not bare elements, so that an empty chunk (fewer
// elements than ranks) still has a name; Schedule turns chunks into elements.
struct Transfer {
    int32_t step = 0;
    int32_t channel = 0;
    int32_t source_rank = 0;
    int32_t target_rank = 0;
    Action action = Action::copy;
    int32_t chunk_begin = 0;
    int32_t chunk_count = 0;

    bool operator==(const Transfer&) const = default;
};

inline constexpr int32_t channel_count_max = 64;
inline constexpr int32_t piece_count_max = 4096;    // per channel
inline constexpr int64_t cell_count_max = 1 << 25;  // chunks of all ranks together

// How an algorithm is laid over the ranks. Zero or empty: the algorithm's own choice.
struct Arrangement {
    int32_t channel_count = 0;
    int32_t piece_count = 0;       // lanes per channel
    int32_t group_size = 0;        // positions of a group (a node, a row of a torus); divides n
    int32_t rank_limit = 0;        // ranks that there are, when not all take part
    std::vector<int32_t> members = {};  // those that do, sorted; empty: all
    std::vector<std::vector<int32_t>> orders = {};  // [channel] position -> rank; the last repeats
};

struct Schedule {
    const Algorithm* algorithm = nullptr;
    Problem problem;
    int32_t step_count = 0;        // of each lane
    int32_t lane_chunk_count = 1;  // chunks of each lane
    int32_t channel_count = 1;
    int32_t piece_count = 1;  // lanes of each channel
    int32_t lane_count = 1;   // channel_count x piece_count
    int32_t group_size = 1;
    int32_t chunk_count = 1;        // lane_count x lane_chunk_count
    int32_t participant_count = 1;  // ranks, and after them the switch if it takes part
    bool with_switch = false;       // the last participant is a switch that reduces and multicasts

    int64_t shorter_chunk_elements = 0;  // of a buffer of problem.element_count
    int64_t longer_chunk_count = 0;      // so many first chunks have one more
    bool relabel_chunks = false;         // chunk j of a lane is named after the rank at position j

    std::vector<std::vector<int32_t>> orders;     // [channel][position] participant
    std::vector<std::vector<int32_t>> positions;  // [channel][participant] position, or -1
    std::vector<int32_t> members;                 // who takes part, sorted; empty: all ranks

    // Positions that the algorithm sees: the ranks that take part, without the switch.
    int32_t position_count() const { return problem.rank_count; }
    bool is_switch(int32_t participant) const {
        return with_switch && participant == participant_count - 1;
    }
    // Whether a rank takes part: after a failure the others may go on without it.
    bool is_member(int32_t participant) const { return positions.front()[participant] >= 0; }

    int32_t member_index(int32_t participant) const;  // among those who take part
    int32_t root() const { return members.empty() ? 0 : members.front(); }

    int32_t lane_channel(int32_t lane) const {
        return channel_count == 1 ? 0 : lane % channel_count;
    }
    int32_t lane_of(const Transfer& transfer) const {
        return lane_count == 1 ? 0 : transfer.chunk_begin / lane_chunk_count;
    }

    // The buffer is cut into chunk_count runs as equal as can be: the first element_count %
    // chunk_count of them hold one element more. Lane l has chunks l x lane_chunk_count and on.
    int64_t chunk_element_begin(int32_t chunk) const {
        return shorter_chunk_elements * chunk + std::min<int64_t>(chunk, longer_chunk_count);
    }
    int64_t chunk_element_count(int32_t chunk) const {
        return shorter_chunk_elements + (chunk < longer_chunk_count ? 1 : 0);
    }
    int64_t bytes(const Transfer& transfer) const {
        const int64_t begin = chunk_element_begin(transfer.chunk_begin);
        const int64_t end = chunk_element_begin(transfer.chunk_begin + transfer.chunk_count);
        return (end - begin) * element_bytes(problem.element_type);
    }
    // Cuts a buffer of another size the same way.
    void cut(int64_t element_count);

    // What the collective asks for. An owner is who ends a reduce-scatter with the chunk.
    int32_t chunk_owner(int32_t chunk) const;
    bool holds_input(int32_t participant, int32_t chunk) const;  // before the first step
    bool shall_hold(int32_t participant, int32_t chunk) const;   // the result, after the last
    bool contributes(int32_t participant, int32_t chunk) const;  // its input is in the result
    int32_t contributor_count() const;                           // of any chunk

    // Defined in algorithm.hpp, which callers include.
    // Appends what a participant sends (or receives) in `step` of `lane`, in a fixed order.
    int32_t receive_count(int32_t lane, int32_t step, int32_t participant) const;
    void append_sends(int32_t lane,
                      int32_t step,
                      int32_t participant,
                      std::vector<Transfer>& transfers) const;
    void append_receives(int32_t lane,
                         int32_t step,
                         int32_t participant,
                         std::vector<Transfer>& transfers) const;

    int64_t message_count() const;  // over all lanes

  private:
    int32_t position_of(int32_t lane, int32_t participant) const;  // -1: takes no part
    // From positions, and from chunks of a lane, to what they stand for.
    void place(int32_t lane, Transfer* transfer, const Transfer* end) const;
};

// Errors: unknown algorithm; a problem or an arrangement that the algorithm cannot do.
// problem.collective is set by the algorithm. An order may leave ranks out; problem.rank_count is
// then the number of those that take part.
Result<Schedule> build_schedule(std::string_view algorithm,
                                const Problem& problem,
                                const Arrangement& arrangement = {});

// What a correct schedule moves: found by enumeration, to be held against closed forms.
struct Proof {
    int64_t message_count = 0;
    std::vector<int64_t> sent_bytes;  // [participant]
};

// Proves, symbolically, that after the last step every rank holds what the collective asks for:
// each contributor's input exactly once. The error names the step, rank and chunk where that
// breaks. Cost: O(rank_count^2 x chunk_count / 64) memory and that times rank_count time; meant for
// tests.
Result<Proof> verify(const Schedule& schedule);

// "rank 2 sends chunk 7, the sum of 3 inputs, to rank 3, which adds it to its own": one transfer of
// the step, in words. Counts the inputs by going through all steps before: for pictures and
// narration of up to some hundred ranks.
std::string narrate(const Schedule& schedule, int32_t step, int32_t rank);

// Before a hop may start, `rank` must have finished its first `hop_count` hops.
struct Dependency {
    int32_t rank = 0;
    int32_t hop_count = 0;
};

// A transfer as its receiver carries it out. `direct` goes from the source's buffer into the
// target's. Where both ends send a chunk and overwrite it in one step, the receiver first fetches
// all it gets into its staging area and takes it in from there when everybody has fetched.
enum class HopKind : uint8_t { direct, fetch, take_in };

struct Hop {
    Transfer transfer;
    HopKind kind = HopKind::direct;
    int64_t staging_begin = 0;  // of fetch and take_in: element offset in the staging area
    std::vector<Dependency> dependencies;
};

struct HopPlan {
    std::vector<std::vector<Hop>> hops;           // [participant][hop], done one after the other
    std::vector<int64_t> staging_element_counts;  // [participant]
};

// For engines. The dependencies on others are derived from who last wrote and who still reads a
// chunk, so that a new algorithm cannot get them wrong. A fetch and its take_in are one event.
HopPlan derive_hops(const Schedule& schedule);

// Those of derive_hops(), by enumeration: without the memory that the hops themselves take.
std::vector<int64_t> staging_element_counts(const Schedule& schedule);

}  // namespace ringscope
