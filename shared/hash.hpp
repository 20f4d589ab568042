// SPDX-License-Identifier: Apache-2.0
// Two checksums of 64 bits. They find damage and name things; neither keeps a secret or stops a
// forger.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringscope {

// Sixteen hexadecimal digits.
inline std::string print_hash(uint64_t hash) {
    std::string digits(16, '0');
    for (size_t i = 0; i < 16; ++i) {
        digits[i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
    }
    return digits;
}

// FNV-1a, byte by byte: simple enough to be written anew wherever a trace's text is read.
// Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923.
class Fnv64 {
  public:
    void add(std::string_view bytes) {
        uint64_t state = state_;
        for (const char c : bytes) {
            state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
        state_ = state;
    }
    uint64_t value() const { return state_; }
    std::string text() const { return print_hash(state_); }

  private:
    uint64_t state_ = 0xcbf29ce484222325U;
};

// Seven words at a time, in seven lanes that a processor works on side by side: some nanoseconds a
// call. The words and their places count, the calls and their order too.
// Source of the multiplier and the shift: degski's 64-bit mixer.
class WordHash {
  public:
    void add(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g) {
        a_ = mix(a_, a);
        b_ = mix(b_, b);
        c_ = mix(c_, c);
        d_ = mix(d_, d);
        e_ = mix(e_, e);
        f_ = mix(f_, f);
        g_ = mix(g_, g);
        ++call_count_;
    }

    uint64_t value() const {
        uint64_t hash = call_count_;
        for (const uint64_t lane : {a_, b_, c_, d_, e_, f_, g_}) {
            hash = mix(hash, lane);
        }
        return mix(hash, 0);
    }

  private:
    static uint64_t mix(uint64_t lane, uint64_t word) {
        const uint64_t product = (lane ^ word) * 0xd6e8feb86659fd93U;
        return product ^ (product >> 32);
    }

    uint64_t a_ = 1;
    uint64_t b_ = 2;
    uint64_t c_ = 3;
    uint64_t d_ = 4;
    uint64_t e_ = 5;
    uint64_t f_ = 6;
    uint64_t g_ = 7;
    uint64_t call_count_ = 0;
};

}  // namespace ringscope
