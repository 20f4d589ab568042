// SPDX-License-Identifier: Apache-2.0
#include "shared/buffers.hpp"

#include <algorithm>
#include <bit>

namespace ringscope {
namespace {

// Values held over all ranks before only the first element of each chunk is.
constexpr int64_t value_count_max = int64_t{1} << 20;

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

float expected_value(const Schedule& schedule, int64_t seed, int32_t chunk, int64_t element) {
    float sum = 0;
    expect_values(schedule, seed, chunk, element, {&sum, 1});
    return sum;
}

void expect_values(const Schedule& schedule,
                   int64_t seed,
                   int32_t chunk,
                   int64_t element_begin,
                   std::span<float> values) {
    std::vector<int32_t> contributors;
    for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
        if (schedule.contributes(rank, chunk)) {
            contributors.push_back(rank);
        }
    }
    for (size_t i = 0; i < values.size(); ++i) {
        float sum = 0;
        for (const int32_t rank : contributors) {
            sum += input_value(seed, rank, element_begin + static_cast<int64_t>(i));
        }
        values[i] = sum;
    }
}

Buffers::Buffers(const Schedule& schedule, int64_t seed)
    : schedule_(schedule), seed_(seed), chunk_count_(schedule.chunk_count) {
    const bool whole =
        schedule.problem.element_count <= value_count_max / schedule.participant_count;
    samples_max_ = whole ? schedule.chunk_element_count(0) : 1;  // chunk 0 is never the shorter one
    stride_ = 1 + static_cast<size_t>(samples_max_);
    for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
        shifts_.push_back(rank % chunk_count_);
    }
    words_.resize(shifts_.size() * static_cast<size_t>(chunk_count_) * stride_);
    reset();
}

void Buffers::reset() {
    for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
        for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
            uint32_t* words = words_.data() + cell(rank, chunk);
            const bool held = schedule_.holds_input(rank, chunk);
            const int64_t begin = schedule_.chunk_element_begin(chunk);
            words[0] = held ? 1 : 0;
            for (int64_t i = 0; i < samples_max_; ++i) {
                const bool filled = held && i < samples(chunk);
                const float value = filled ? input_value(seed_, rank, begin + i) : 0;
                words[1 + i] = std::bit_cast<uint32_t>(value);
            }
        }
    }
}

int64_t Buffers::samples(int32_t chunk) const {
    return std::min(samples_max_, schedule_.chunk_element_count(chunk));
}

float Buffers::value(int32_t rank, int32_t chunk, int64_t sample) const {
    RS_CHECK(sample >= 0 && sample < samples(chunk));
    return std::bit_cast<float>(words_[cell(rank, chunk) + 1 + static_cast<size_t>(sample)]);
}

void Buffers::read_cells(const Transfer& transfer, uint32_t* words) const {
    for (int32_t chunk = 0; chunk < transfer.chunk_count; ++chunk) {
        const size_t from = cell(transfer.source_rank, transfer.chunk_begin + chunk);
        std::copy_n(words_.data() + from, stride_, words);
        words += stride_;
    }
}

void Buffers::write_cells(const Transfer& transfer, const uint32_t* words) {
    for (int32_t chunk = 0; chunk < transfer.chunk_count; ++chunk) {
        uint32_t* to = words_.data() + cell(transfer.target_rank, transfer.chunk_begin + chunk);
        if (transfer.action == Action::reduce) {
            add_cell(to, words);
        } else {
            std::copy_n(words, stride_, to);
        }
        words += stride_;
    }
}

std::vector<uint32_t> Buffers::read(const Transfer& transfer) const {
    std::vector<uint32_t> words(payload_words(transfer));
    read(transfer, words.data());
    return words;
}

void Buffers::write(const Transfer& transfer, const std::vector<uint32_t>& words) {
    RS_CHECK(words.size() == payload_words(transfer));
    write(transfer, words.data());
}

bool Buffers::is_right(int32_t rank, int32_t chunk, std::span<const float> expected) const {
    const uint32_t* words = words_.data() + cell(rank, chunk);
    bool right = words[0] == static_cast<uint32_t>(schedule_.contributor_count());
    for (size_t i = 0; i < expected.size(); ++i) {
        right = right && std::bit_cast<float>(words[1 + i]) == expected[i];
    }
    return right;
}

// What is wrong with a chunk of a rank that is not right.
std::string Buffers::name_mistake(int32_t rank,
                                  int32_t chunk,
                                  std::span<const float> expected) const {
    if (const int32_t held = contributions(rank, chunk); held != schedule_.contributor_count()) {
        return "rank " + std::to_string(rank) + " ends with " + std::to_string(held) + " of " +
               std::to_string(schedule_.contributor_count()) + " inputs in chunk " +
               std::to_string(chunk);
    }
    int64_t sample = 0;
    while (value(rank, chunk, sample) == expected[static_cast<size_t>(sample)]) {
        ++sample;
    }
    return "rank " + std::to_string(rank) + ", element " +
           std::to_string(schedule_.chunk_element_begin(chunk) + sample) + " holds " +
           std::to_string(value(rank, chunk, sample)) + " where " +
           std::to_string(expected[static_cast<size_t>(sample)]) + " is right";
}

// The first one by chunk and rank; looked for in the order in which cells lie.
std::string Buffers::find_mistake() const {
    std::vector<std::vector<float>> expected(static_cast<size_t>(chunk_count_));
    for (int32_t chunk = 0; chunk < chunk_count_; ++chunk) {
        std::vector<float>& values = expected[static_cast<size_t>(chunk)];
        values.resize(static_cast<size_t>(samples(chunk)));
        expect_values(schedule_, seed_, chunk, schedule_.chunk_element_begin(chunk), values);
    }
    std::pair<int32_t, int32_t> first{chunk_count_, 0};
    for (int32_t row = 0; row < chunk_count_; ++row) {
        for (int32_t rank = 0; rank < schedule_.participant_count; ++rank) {
            const int32_t sum = row + shifts_[static_cast<size_t>(rank)];
            const int32_t chunk = sum < chunk_count_ ? sum : sum - chunk_count_;
            if (!is_right(rank, chunk, expected[static_cast<size_t>(chunk)]) &&
                schedule_.shall_hold(rank, chunk)) {
                first = std::min(first, {chunk, rank});
            }
        }
    }
    const auto [chunk, rank] = first;
    return chunk == chunk_count_ ? ""
                                 : name_mistake(rank, chunk, expected[static_cast<size_t>(chunk)]);
}

}  // namespace ringscope
