// SPDX-License-Identifier: Apache-2.0
#include "native/token.hpp"

#include <sys/random.h>

#include "shared/check.hpp"

namespace ringscope {

std::string random_hex(size_t byte_count) {
    std::string bytes(byte_count, '\0');
    // Up to 256 bytes come whole, whatever signals arrive: getrandom(2).
    RS_CHECK(byte_count <= 256 &&
             getrandom(bytes.data(), byte_count, 0) == static_cast<ssize_t>(byte_count));
    std::string digits;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}

bool Token::matches(std::string_view guess) const {
    std::string padded(guess.substr(0, text_.size()));
    padded.resize(text_.size());
    unsigned difference = guess.size() == text_.size() ? 0 : 1;
    for (size_t i = 0; i < text_.size(); ++i) {
        difference |= static_cast<unsigned>(text_[i] ^ padded[i]);
    }
    return difference == 0;
}

}  // namespace ringscope
