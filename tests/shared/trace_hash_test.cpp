// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_hash.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "shared/trace_codec.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

Trace small_trace() {
    return trace_of(run_of("ranks=3&bytes=40"));
}

// As bytes, by the description in trace_hash.hpp alone.
class Records {
  public:
    void number(uint64_t value, int byte_count) {
        for (int byte = 0; byte < byte_count; ++byte) {
            bytes_ += static_cast<char>(value >> (8 * byte));
        }
    }
    void text(uint64_t record, const std::string& text) {
        number(record, 8);
        number(text.size(), 8);
        bytes_ += text;
        bytes_.append((56 - bytes_.size() % 56) % 56, '\0');
    }
    void event(const Event& event) {
        const Transfer& transfer = event.transfer;
        number(transfer.action == Action::copy ? 2 : 3, 4);
        for (const int32_t value : {event.iteration,
                                    transfer.step,
                                    transfer.channel,
                                    transfer.source_rank,
                                    transfer.target_rank,
                                    transfer.chunk_begin,
                                    transfer.chunk_count}) {
            number(static_cast<uint64_t>(value), 4);
        }
        for (const int64_t value : {event.bytes, event.begin_ps, event.end_ps}) {
            number(static_cast<uint64_t>(value), 8);
        }
    }
    std::string hash() const {
        std::array<uint64_t, 7> lanes{1, 2, 3, 4, 5, 6, 7};
        for (size_t begin = 0; begin < bytes_.size(); begin += 8) {
            uint64_t& lane = lanes[begin / 8 % 7];
            lane = mix(lane ^ word(begin));
        }
        uint64_t hash = bytes_.size() / 56;
        for (const uint64_t lane : lanes) {
            hash = mix(hash ^ lane);
        }
        return print_hash(mix(hash));
    }

  private:
    static uint64_t mix(uint64_t value) {
        value *= 0xd6e8feb86659fd93U;
        return value ^ (value >> 32);
    }
    uint64_t word(size_t begin) const {
        uint64_t value = 0;
        for (size_t byte = 0; byte < 8; ++byte) {
            value |= uint64_t{static_cast<unsigned char>(bytes_[begin + byte])} << (8 * byte);
        }
        return value;
    }

    std::string bytes_;
};

TEST(TraceHash, IsWhatTheHeaderSays) {
    for (const char* line : {"ranks=2&bytes=4", "ranks=3&bytes=1000&seed=7", "ranks=1&seed=123"}) {
        Trace trace = trace_of(run_of(line));
        for (size_t length = 0; length < 70; ++length) {
            trace.outcome = {OutcomeKind::failed, std::string(length, 'x')};
            Records records;
            records.text(1, print_run(trace.run));
            for (const Event& event : trace.events) {
                records.event(event);
            }
            records.text(4, length == 0 ? "failed" : "failed\t" + trace.outcome.reason);
            EXPECT_EQ(trace_hash(trace), records.hash()) << line << ' ' << length;
        }
    }
}

TEST(TraceHash, NamesEveryField) {
    const Trace trace = small_trace();
    std::vector<Trace> others(1, trace);
    const auto change = [&](auto&& how) {
        others.push_back(trace);
        how(others.back());
    };
    for (const size_t i : {size_t{0}, trace.events.size() - 1}) {
        change([&](Trace& other) {
            Action& action = other.events[i].transfer.action;
            action = action == Action::copy ? Action::reduce : Action::copy;
        });
        change([&](Trace& other) { ++other.events[i].iteration; });
        change([&](Trace& other) { ++other.events[i].transfer.step; });
        change([&](Trace& other) { ++other.events[i].transfer.channel; });
        change([&](Trace& other) { ++other.events[i].transfer.source_rank; });
        change([&](Trace& other) { ++other.events[i].transfer.target_rank; });
        change([&](Trace& other) { ++other.events[i].transfer.chunk_begin; });
        change([&](Trace& other) { ++other.events[i].transfer.chunk_count; });
        change([&](Trace& other) { ++other.events[i].bytes; });
        change([&](Trace& other) { ++other.events[i].begin_ps; });
        change([&](Trace& other) { ++other.events[i].end_ps; });
    }
    change([](Trace& other) { std::swap(other.events[0], other.events[1]); });
    change([](Trace& other) { other.events.pop_back(); });
    change([](Trace& other) { other.events.push_back(other.events.back()); });
    change([](Trace& other) { other.events.push_back({}); });
    change([](Trace& other) { other.events.clear(); });
    change([](Trace& other) { other.run.seed = 2; });
    change([](Trace& other) { other.run.settings.push_back({.value = 1}); });
    for (const OutcomeKind kind : {OutcomeKind::wrong, OutcomeKind::failed, OutcomeKind::timeout}) {
        change([&](Trace& other) { other.outcome.kind = kind; });
    }
    change([](Trace& other) { other.outcome.reason = "why"; });
    std::set<std::string> hashes;
    for (const Trace& other : others) {
        EXPECT_TRUE(hashes.insert(trace_hash(other)).second) << "of " << &other - others.data();
    }
}

// What a careless hash would let cancel out: two numbers of neighbouring hops that both change.
TEST(TraceHash, TellsPairsOfSmallChangesApart) {
    const Trace trace = small_trace();
    const auto hash_with = [&](size_t field, int shift, size_t other_field, int other_shift) {
        std::array<std::array<int64_t, 10>, 2> changes{};
        changes[field / 10][field % 10] ^= int64_t{1} << shift;
        changes[other_field / 10][other_field % 10] ^= int64_t{1} << other_shift;
        TraceHash hash(trace.run);
        for (size_t i = 0; i < changes.size(); ++i) {
            Event event = trace.events[i];
            size_t next = 0;
            for (int32_t* number : {&event.iteration,
                                    &event.transfer.step,
                                    &event.transfer.channel,
                                    &event.transfer.source_rank,
                                    &event.transfer.target_rank,
                                    &event.transfer.chunk_begin,
                                    &event.transfer.chunk_count}) {
                *number ^= static_cast<int32_t>(changes[i][next++]);
            }
            for (int64_t* number : {&event.bytes, &event.begin_ps, &event.end_ps}) {
                *number ^= changes[i][next++];
            }
            hash.add(event);
        }
        return hash.text();
    };
    std::set<std::string> hashes;
    size_t count = 0;
    for (size_t field = 0; field < 20; ++field) {
        for (size_t other = field + 1; other < 20; ++other) {
            for (int shift = 0; shift < 31; shift += 3) {
                for (int other_shift = 0; other_shift < 31; other_shift += 3) {
                    hashes.insert(hash_with(field, shift, other, other_shift));
                    ++count;
                }
            }
        }
    }
    EXPECT_EQ(hashes.size(), count);
}

TEST(TraceHash, IsTheSameForEveryTextOfATrace) {
    for (Trace trace : {small_trace(), trace_of(run_of("ranks=1")), trace_of(run_of("ranks=17"))}) {
        trace.outcome = {OutcomeKind::failed, "in\ttwo\nlines, " + std::string(2000, 'x')};
        for (const int64_t event_count : {1, 5, 1000}) {
            TraceEncoder encoder(trace.run);
            for (int64_t i = 0; i < std::ssize(trace.events); ++i) {
                encoder.add(trace.events[static_cast<size_t>(i)]);
                if (i % event_count == 0) {
                    encoder.close_block();
                }
            }
            encoder.finish(trace.outcome);
            EXPECT_EQ(trace_hash(*decode(encoder.text())), trace_hash(trace));
        }
    }
}

}  // namespace
}  // namespace ringscope
