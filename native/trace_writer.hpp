// SPDX-License-Identifier: Apache-2.0
// TraceWriter: encodes a run's events as they come and hands the text on, so that a trace of any
// length never lies in memory as a whole. Knows nothing of files or pipes: the sink does.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "shared/trace_codec.hpp"

namespace ringscope {

class TraceWriter {
  public:
    using Sink = std::function<void(std::string_view)>;

    TraceWriter(const RunSpec& run, Sink sink) : encoder_(run), sink_(std::move(sink)) {}

    void add(const Event& event) {
        encoder_.add(event);
        if (encoder_.text().size() >= pass_on_bytes) {
            pass_on();
        }
    }

    // Closes the block, so that a live viewer may see all events up to here.
    void flush() {
        encoder_.close_block();
        pass_on();
    }

    void finish(const Outcome& outcome) {
        encoder_.finish(outcome);
        pass_on();
    }

    // Of everything so far.
    std::string hash() const { return encoder_.hash().text(); }

  private:
    static constexpr size_t pass_on_bytes = 64 * 1024;

    void pass_on() {
        sink_(encoder_.text());
        encoder_.text().clear();
    }

    TraceEncoder encoder_;
    Sink sink_;
};

}  // namespace ringscope
