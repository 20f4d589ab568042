// SPDX-License-Identifier: Apache-2.0
// Token: the secret that lets a page start and stop runs. Made at each start of the daemon, shown
// once, in the address it prints; never logged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringscope {

// Bytes from the system's generator as hexadecimal digits, two a byte.
std::string random_hex(size_t byte_count);

class Token {
  public:
    Token() : text_(random_hex(32)) {}

    const std::string& text() const { return text_; }

    // In a time that does not depend on how much of `guess` is right.
    bool matches(std::string_view guess) const;

  private:
    std::string text_;
};

}  // namespace ringscope
