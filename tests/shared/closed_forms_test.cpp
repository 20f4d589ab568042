// SPDX-License-Identifier: Apache-2.0
// Every closed form against a network that is simulated port by port and knows nothing of it:
// equal where it says that it is exact, never below otherwise.
#include "shared/closed_forms.hpp"

#include <algorithm>
#include <set>

#include "shared/algorithm.hpp"
#include "shared/units.hpp"
#include "tests/shared/port_reference.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

constexpr int64_t bandwidth_bytes_per_s = 1'000'000'000;  // a byte is 1000 ps: nothing to round
constexpr double bytes_per_ps = 1e-3;

Schedule laid(std::string_view algorithm,
              int32_t rank_count,
              int64_t element_count,
              const Arrangement& arrangement) {
    auto schedule = build_schedule(
        algorithm, {.rank_count = rank_count, .element_count = element_count}, arrangement);
    EXPECT_TRUE(schedule) << schedule.error().message;
    return *schedule;
}

// All chunks of the same size.
Schedule evenly_laid(std::string_view algorithm,
                     int32_t rank_count,
                     int64_t chunk_elements,
                     const Arrangement& arrangement) {
    const int32_t chunk_count = laid(algorithm, rank_count, 1, arrangement).chunk_count;
    return laid(algorithm, rank_count, chunk_elements * chunk_count, arrangement);
}

int64_t closed_form(const Schedule& schedule, int64_t latency_ps) {
    return schedule.algorithm->closed_form_ps(schedule, bandwidth_bytes_per_s, latency_ps);
}

bool is_exact(const Schedule& schedule) {
    const auto exact = schedule.algorithm->closed_form_exact;
    return exact == nullptr || exact(schedule);
}

double reference(const Schedule& schedule, int64_t latency_ps) {
    return PortReference(schedule, bytes_per_ps, static_cast<double>(latency_ps)).end_ps();
}

// Of latencies: none, one that pieces hide, and one that they do not.
void compare(const Schedule& schedule) {
    const int64_t message_ps =
        wire_ps(schedule, (schedule.lane_chunk_count + 1) / 2, bandwidth_bytes_per_s);
    for (const int64_t latency_ps : {int64_t{0}, message_ps / 3, 3 * message_ps}) {
        const auto formula_ps = static_cast<double>(closed_form(schedule, latency_ps));
        const double time_ps = reference(schedule, latency_ps);
        const double tolerance_ps = 1e-9 * formula_ps;
        if (is_exact(schedule)) {
            EXPECT_NEAR(time_ps, formula_ps, tolerance_ps) << "latency " << latency_ps;
        } else {
            EXPECT_LE(time_ps, formula_ps + tolerance_ps) << "latency " << latency_ps;
            EXPECT_GE(time_ps, formula_ps / 5) << "a bound that far above says nothing";
        }
    }
}

TEST(ClosedForms, OfEveryAlgorithmHoldOnTheirNetwork) {
    for (const Algorithm* algorithm : algorithms()) {
        for (int32_t rank_count = 1; rank_count <= 17; ++rank_count) {
            for (const int32_t channels : {1, 2}) {
                for (const int32_t pieces : {1, 2, 5}) {
                    SCOPED_TRACE(std::string(algorithm->name) +
                                 " ranks=" + std::to_string(rank_count) + " channels=" +
                                 std::to_string(channels) + " chunks=" + std::to_string(pieces));
                    compare(evenly_laid(algorithm->name,
                                        rank_count,
                                        100,
                                        {.channel_count = channels, .piece_count = pieces}));
                }
            }
        }
    }
}

// More ranks and pieces than are worth trying with every algorithm.
TEST(ClosedForms, OfChainsAndTreesHoldForManyPieces) {
    for (const char* algorithm : {"chain", "tree", "double_tree", "ring_broadcast", "in_switch"}) {
        for (const int32_t rank_count : {3, 6, 16, 33}) {
            for (const int32_t pieces : {3, 16, 64}) {
                SCOPED_TRACE(std::string(algorithm) + " ranks=" + std::to_string(rank_count) +
                             " chunks=" + std::to_string(pieces));
                compare(evenly_laid(algorithm, rank_count, 100, {.piece_count = pieces}));
            }
        }
    }
}

TEST(ClosedForms, OfFoldedRanksHoldForMoreOfThem) {
    for (const char* algorithm : {"recursive_doubling", "halving_doubling"}) {
        for (const int32_t rank_count : {25, 29, 31, 33, 49, 61}) {
            SCOPED_TRACE(std::string(algorithm) + " ranks=" + std::to_string(rank_count));
            compare(evenly_laid(algorithm, rank_count, 100, {.piece_count = 1}));
        }
    }
}

// The longest chunk stands for all. Ranks whose chunks are shorter run ahead and get in the way of
// others, but by no more than an element per chunk.
TEST(ClosedForms, OfOnePieceOfUnevenChunksAreAtMostAnElementPerChunkShort) {
    for (const Algorithm* algorithm : algorithms()) {
        for (int32_t rank_count = 2; rank_count <= 17; ++rank_count) {
            const Arrangement arrangement{.channel_count = 1, .piece_count = 1};
            const int64_t chunks = laid(algorithm->name, rank_count, 1, arrangement).chunk_count;
            for (const int64_t element_count : {int64_t{1}, chunks + 1, 3 * chunks + chunks / 2}) {
                SCOPED_TRACE(std::string(algorithm->name) + " ranks=" + std::to_string(rank_count) +
                             " elements=" + std::to_string(element_count));
                const Schedule uneven =
                    laid(algorithm->name, rank_count, element_count, arrangement);
                const Schedule longer = evenly_laid(
                    algorithm->name, rank_count, uneven.chunk_element_count(0) + 1, arrangement);
                EXPECT_LE(reference(uneven, 1000),
                          static_cast<double>(closed_form(longer, 1000)) * (1 + 1e-9));
            }
        }
    }
}

TEST(ClosedForms, SayWhenTheyAreExact) {
    std::set<std::string_view> always;
    std::set<std::string_view> in_one_piece;  // on one channel, for 8 ranks
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->closed_form_exact == nullptr) {
            always.insert(algorithm->name);
        } else if (is_exact(laid(algorithm->name, 8, 64, {.channel_count = 1, .piece_count = 1}))) {
            in_one_piece.insert(algorithm->name);
        }
    }
    EXPECT_EQ(always,
              (std::set<std::string_view>{"direct",
                                          "in_switch",
                                          "parameter_server",
                                          "ring",
                                          "ring_all_gather",
                                          "ring_bidirectional",
                                          "ring_broadcast",
                                          "ring_reduce",
                                          "ring_reduce_scatter"}));
    EXPECT_EQ(in_one_piece,
              (std::set<std::string_view>{"chain",
                                          "double_tree",
                                          "halving_doubling",
                                          "recursive_doubling",
                                          "reduce_broadcast",
                                          "torus",
                                          "tree",
                                          "two_level"}));
}

// By hand, with alpha = 7 us and 4000 bytes at 1 GB/s, 4 us, in each chunk.
TEST(ClosedForms, OfEightRanksByHand) {
    struct Example {
        const char* algorithm;
        int32_t pieces;
        int64_t latencies;
        int64_t chunks;
    };
    const Example examples[] = {
        {"ring", 1, 14, 14},              // 2(N-1)(alpha + w)
        {"ring", 2, 14, 14 + 1},          // and a piece more behind it
        {"ring", 3, 1, 14 * 3},           // three keep the links busy all the time
        {"recursive_doubling", 1, 3, 3},  // log2 N (alpha + w)
        {"halving_doubling", 1, 6, 2 * (4 + 2 + 1)},
        {"direct", 1, 2, 2 * 7},
        {"reduce_broadcast", 1, 6, 3 + (3 + 2 + 1)},  // down, to 3 children, then 2, then 1
        {"parameter_server", 1, 2, 2 * 7},
        {"parameter_server", 5, 2, 2 * 7 + 4 * 7},
        {"chain", 1, 14, 14},
        {"tree", 1, 6, 2 * (2 + 2 + 1)},  // the root has one child
        {"two_level", 1, 8, 2 * 4 + 6},   // groups of 2: a part is 4 chunks; 4 groups
        {"in_switch", 9, 1, 10},
        {"ring_broadcast", 9, 7, 7 + 8},
        {"ring_reduce", 9, 7, 7 + 8},
        {"ring_all_gather", 1, 7, 7},
        {"ring_reduce_scatter", 1, 7, 7},
    };
    for (const Example& example : examples) {
        const Schedule schedule = evenly_laid(
            example.algorithm, 8, 1000, {.channel_count = 1, .piece_count = example.pieces});
        EXPECT_EQ(closed_form(schedule, 7'000'000),
                  example.latencies * 7'000'000 + example.chunks * 4'000'000)
            << example.algorithm;
    }
}

// What no all-reduce among ranks alone can beat, and a switch that adds up does.
TEST(ClosedForms, OnlyTheSwitchBeatsTheLowerBound) {
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->collective != Collective::all_reduce) {
            continue;
        }
        for (int32_t rank_count = 2; rank_count <= 9; ++rank_count) {
            const Schedule schedule =
                evenly_laid(algorithm->name, rank_count, 64, {.piece_count = 4});
            const int64_t bound_ps =
                transfer_ps(2 * (rank_count - 1) * buffer_bytes(schedule.problem) / rank_count,
                            bandwidth_bytes_per_s);
            const double time_ps = reference(schedule, 0);
            const bool beats = time_ps < static_cast<double>(bound_ps) * (1 - 1e-9);
            EXPECT_EQ(beats, schedule.with_switch && rank_count > 2)
                << algorithm->name << " ranks=" << rank_count;
        }
    }
}

TEST(ClosedForms, StopAtTheEndOfTheClock) {
    for (const Algorithm* algorithm : algorithms()) {
        const Schedule schedule = laid(algorithm->name, rank_count_max, bytes_max / 4, {});
        const int64_t time_ps = algorithm->closed_form_ps(schedule, 1, 1000 * ps_per_s);
        EXPECT_GT(time_ps, 0) << algorithm->name;
        EXPECT_LE(time_ps, time_ps_max) << algorithm->name;
    }
}

}  // namespace
}  // namespace ringscope
