// SPDX-License-Identifier: Apache-2.0
#include "shared/trace_hash.hpp"

#include <array>

namespace ringscope {

TraceHash::TraceHash(const RunSpec& run) {
    add_text(run_record, print_run(run));
}

void TraceHash::finish(const Outcome& outcome) {
    add_text(outcome_record, print_outcome(outcome));
}

void TraceHash::add_text(int32_t record, std::string_view text) {
    std::array<uint64_t, 7> words{static_cast<uint64_t>(record), text.size()};
    const auto add = [&] {
        state_.add(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
        words = {};
    };
    size_t byte = 2 * 8;
    for (const char c : text) {
        if (byte == words.size() * 8) {
            add();
            byte = 0;
        }
        words[byte / 8] |= uint64_t{static_cast<unsigned char>(c)} << (byte % 8 * 8);
        ++byte;
    }
    add();
}

std::string trace_hash(const Trace& trace) {
    TraceHash hash(trace.run);
    tell(trace, hash);
    return hash.text();
}

}  // namespace ringscope
