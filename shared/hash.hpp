// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: the checksum of trace blocks and the name of a trace. Not for secrets.
// Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringscope {

class Fnv64 {
  public:
    void add(std::string_view bytes) {
        for (const char c : bytes) {
            state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
    }
    uint64_t value() const { return state_; }

    // Sixteen hexadecimal digits.
    std::string text() const {
        std::string digits(16, '0');
        for (size_t i = 0; i < 16; ++i) {
            digits[i] = "0123456789abcdef"[(state_ >> (60 - 4 * i)) & 15];
        }
        return digits;
    }

  private:
    uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace ringscope
