// SPDX-License-Identifier: Apache-2.0
// Real numbers in the buffers of all ranks, and how many inputs each chunk has taken up.
//
// The input of every (seed, rank, element) is a whole number from 1 to 99, so that float32 sums
// over 4096 ranks are exact in any order and a missing or doubled input always shows. A small
// problem is held whole; of a larger one the first element of each chunk stands for the chunk
// (`samples` says which), as nobody has the memory of 1024 GPUs at hand.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/schedule.hpp"

namespace ringscope {

// The input of one element; the same on every machine.
float input_value(int64_t seed, int32_t rank, int64_t element);

// What an all-reduce shall make of it: the sum over all ranks, from the definition, not from a
// schedule.
float expected_value(const Problem& problem, int64_t seed, int64_t element);

class Buffers {
  public:
    // One chunk on its way.
    struct Payload {
        std::vector<int32_t> contributions;  // [chunk of the transfer]
        std::vector<float> values;           // [chunk of the transfer][sample]
    };

    Buffers(const Schedule& schedule, int64_t seed);

    // Every rank back to its own input.
    void reset();

    int32_t contributions(int32_t rank, int32_t chunk) const {
        return contributions_[cell(rank, chunk)];
    }

    // How many leading elements of a chunk are held, and one of them.
    int64_t samples(int32_t chunk) const;
    float value(int32_t rank, int32_t chunk, int64_t sample) const;

    Payload read(const Transfer& transfer) const;
    void write(const Transfer& transfer, const Payload& payload);

    // True when every rank holds every input once and every held value equals the expected one.
    bool complete() const;

  private:
    size_t cell(int32_t rank, int32_t chunk) const {
        return static_cast<size_t>(rank) * static_cast<size_t>(schedule_.chunk_count) +
               static_cast<size_t>(chunk);
    }

    Schedule schedule_;
    int64_t seed_;
    int64_t samples_max_;
    std::vector<int32_t> contributions_;  // [rank][chunk]
    std::vector<float> values_;           // [rank][chunk][sample]
};

}  // namespace ringscope
