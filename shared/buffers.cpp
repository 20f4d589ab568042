// SPDX-License-Identifier: Apache-2.0
#include "shared/buffers.hpp"

#include <algorithm>

namespace ringscope {
namespace {

// Values held over all ranks before only the first element of each chunk is.
constexpr int64_t value_count_max = int64_t{1} << 20;

// A trace from elsewhere may add a chunk to itself again and again; the count stops here.
constexpr int32_t contributions_max = 1 << 20;

// SplitMix64's finaliser: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014, section 4.
uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace

float input_value(int64_t seed, int32_t rank, int64_t element) {
    const uint64_t key = static_cast<uint64_t>(element) +
                         0x9e3779b97f4a7c15U * (static_cast<uint64_t>(rank) + 1) +
                         0xd1b54a32d192ed03U * static_cast<uint64_t>(seed);
    return static_cast<float>(1 + (((mix(key) >> 32) * 99) >> 32));
}

float expected_value(const Problem& problem, int64_t seed, int64_t element) {
    float sum = 0;
    for (int32_t rank = 0; rank < problem.rank_count; ++rank) {
        sum += input_value(seed, rank, element);
    }
    return sum;
}

Buffers::Buffers(const Schedule& schedule, int64_t seed) : schedule_(schedule), seed_(seed) {
    const bool whole =
        schedule.problem.element_count <= value_count_max / schedule.problem.rank_count;
    samples_max_ = whole ? schedule.chunk_element_count(0) : 1;  // chunk 0 is never the shorter one
    const size_t cells = static_cast<size_t>(schedule.problem.rank_count) *
                         static_cast<size_t>(schedule.chunk_count);
    contributions_.resize(cells);
    values_.resize(cells * static_cast<size_t>(samples_max_));
    reset();
}

void Buffers::reset() {
    std::fill(contributions_.begin(), contributions_.end(), 1);
    for (int32_t rank = 0; rank < schedule_.problem.rank_count; ++rank) {
        for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
            float* values = values_.data() + cell(rank, chunk) * static_cast<size_t>(samples_max_);
            const int64_t begin = schedule_.chunk_element_begin(chunk);
            for (int64_t i = 0; i < samples(chunk); ++i) {
                values[i] = input_value(seed_, rank, begin + i);
            }
        }
    }
}

int64_t Buffers::samples(int32_t chunk) const {
    return std::min(samples_max_, schedule_.chunk_element_count(chunk));
}

float Buffers::value(int32_t rank, int32_t chunk, int64_t sample) const {
    RS_CHECK(sample >= 0 && sample < samples(chunk));
    return values_[cell(rank, chunk) * static_cast<size_t>(samples_max_) +
                   static_cast<size_t>(sample)];
}

Buffers::Payload Buffers::read(const Transfer& transfer) const {
    const size_t first = cell(transfer.source_rank, transfer.chunk_begin);
    const auto count = static_cast<size_t>(transfer.chunk_count);
    const auto samples = static_cast<size_t>(samples_max_);
    const float* values = values_.data() + first * samples;
    return {{contributions_.data() + first, contributions_.data() + first + count},
            {values, values + count * samples}};
}

void Buffers::write(const Transfer& transfer, const Payload& payload) {
    const size_t first = cell(transfer.target_rank, transfer.chunk_begin);
    const auto samples = static_cast<size_t>(samples_max_);
    if (transfer.action == Action::copy) {
        std::copy(payload.contributions.begin(),
                  payload.contributions.end(),
                  contributions_.data() + first);
        std::copy(payload.values.begin(), payload.values.end(), values_.data() + first * samples);
        return;
    }
    for (size_t i = 0; i < payload.contributions.size(); ++i) {
        contributions_[first + i] =
            std::min(contributions_[first + i] + payload.contributions[i], contributions_max);
    }
    for (size_t i = 0; i < payload.values.size(); ++i) {
        values_[first * samples + i] += payload.values[i];
    }
}

bool Buffers::complete() const {
    const int32_t rank_count = schedule_.problem.rank_count;
    for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
        for (int64_t i = 0; i < samples(chunk); ++i) {
            const float expected =
                expected_value(schedule_.problem, seed_, schedule_.chunk_element_begin(chunk) + i);
            for (int32_t rank = 0; rank < rank_count; ++rank) {
                if (value(rank, chunk, i) != expected) {
                    return false;
                }
            }
        }
        for (int32_t rank = 0; rank < rank_count; ++rank) {
            if (contributions(rank, chunk) != rank_count) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace ringscope
