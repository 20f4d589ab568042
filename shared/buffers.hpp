// SPDX-License-Identifier: Apache-2.0
// Real numbers in the buffers of all ranks, and how many inputs each chunk has taken up.
//
// The input of every (seed, rank, element) is a whole number from 1 to 99, so that float32 sums
// over 4096 ranks are exact in any order and a missing or doubled input always shows. A small
// problem is held whole; of a larger one the first element of each chunk stands for the chunk
// (`samples` says which), as nobody has the memory of 1024 GPUs at hand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/schedule.hpp"

namespace ringscope {

// The input of one element; the same on every machine.
float input_value(int64_t seed, int32_t rank, int64_t element);

// What the collective shall make of an element of this chunk, from the definition, not from the
// steps of a schedule.
float expected_value(const Schedule& schedule, int64_t seed, int32_t chunk, int64_t element);

// The same of a run of the chunk's elements, and faster: who contributes is asked once.
void expect_values(const Schedule& schedule,
                   int64_t seed,
                   int32_t chunk,
                   int64_t element_begin,
                   std::span<float> values);

class Buffers {
  public:
    Buffers(const Schedule& schedule, int64_t seed);

    // Every rank back to its own input.
    void reset();

    int32_t contributions(int32_t rank, int32_t chunk) const {
        return static_cast<int32_t>(words_[cell(rank, chunk)]);
    }

    // How many leading elements of a chunk are held, and one of them.
    int64_t samples(int32_t chunk) const;
    float value(int32_t rank, int32_t chunk, int64_t sample) const;

    // One message on its way is payload_words() words: read() copies them out of the source's
    // buffer, write() takes them in at the target, as the transfer's action says.
    size_t payload_words(const Transfer& transfer) const {
        return static_cast<size_t>(transfer.chunk_count) * stride_;
    }
    void read(const Transfer& transfer, uint32_t* words) const {
        if (transfer.chunk_count == 1 && stride_ == 2) {  // as in a large ring
            const uint32_t* from = words_.data() + cell(transfer.source_rank, transfer.chunk_begin);
            words[0] = from[0];
            words[1] = from[1];
        } else {
            read_cells(transfer, words);
        }
    }
    void write(const Transfer& transfer, const uint32_t* words) {
        if (transfer.chunk_count == 1 && stride_ == 2) {
            uint32_t* to = words_.data() + cell(transfer.target_rank, transfer.chunk_begin);
            if (transfer.action == Action::reduce) {
                add_cell(to, words);
            } else {
                to[0] = words[0];
                to[1] = words[1];
            }
        } else {
            write_cells(transfer, words);
        }
    }
    std::vector<uint32_t> read(const Transfer& transfer) const;
    void write(const Transfer& transfer, const std::vector<uint32_t>& words);

    // Where the result is wrong: a rank that does not hold every contributor's input once, or a
    // held value that is not the expected one. Empty when all is right.
    std::string find_mistake() const;
    bool complete() const { return find_mistake().empty(); }

  private:
    // A trace from elsewhere may add a chunk to itself again and again; the count stops here.
    static constexpr uint32_t contributions_max = 1 << 20;

    // Cells lie by (chunk - rank): what the ranks of a ring touch at one time is one run of memory.
    size_t cell(int32_t rank, int32_t chunk) const {
        const int32_t diagonal = chunk - shifts_[static_cast<size_t>(rank)];
        const int32_t row = diagonal < 0 ? diagonal + chunk_count_ : diagonal;
        return (static_cast<size_t>(row) * shifts_.size() + static_cast<size_t>(rank)) * stride_;
    }
    void add_cell(uint32_t* to, const uint32_t* words) const {
        to[0] = std::min(to[0] + words[0], contributions_max);
        for (size_t i = 1; i < stride_; ++i) {
            to[i] = std::bit_cast<uint32_t>(std::bit_cast<float>(to[i]) +
                                            std::bit_cast<float>(words[i]));
        }
    }
    void read_cells(const Transfer& transfer, uint32_t* words) const;
    void write_cells(const Transfer& transfer, const uint32_t* words);
    bool is_right(int32_t rank, int32_t chunk, std::span<const float> expected) const;
    std::string name_mistake(int32_t rank, int32_t chunk, std::span<const float> expected) const;

    Schedule schedule_;
    int64_t seed_;
    int64_t samples_max_;
    int32_t chunk_count_;
    size_t stride_;                // words of one chunk: the count of inputs, then the samples
    std::vector<int32_t> shifts_;  // [participant] its index modulo chunk_count_
    std::vector<uint32_t> words_;  // [(chunk - participant) modulo chunk_count_][participant][word]
};

}  // namespace ringscope
