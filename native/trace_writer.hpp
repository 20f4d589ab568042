// SPDX-License-Identifier: Apache-2.0
// TraceWriter: names a run's trace as its events come, and writes it if somebody takes the text: a
// trace of any length never lies in memory as a whole. Knows nothing of files or pipes: the sink
// does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"

namespace ringscope {

class TraceWriter {
  public:
    using Sink = std::function<void(std::string_view)>;

    // Without a sink no text is made, which takes far longer than the hash.
    TraceWriter(const RunSpec& run, Sink sink) : hash_(run), sink_(std::move(sink)) {
        if (sink_) {
            encoder_.emplace(run);
        }
    }

    void add(const Event& event) {
        hash_.add(event);
        if (!encoder_) {
            return;
        }
        encoder_->add(event);
        if (encoder_->text().size() >= pass_on_bytes) {
            pass_on();
        }
    }

    void add_round(const Round& round) {
        hash_.add_round(round);
        if (encoder_) {
            encoder_->add_round(round);
        }
    }
    void add_note(const Note& note) {
        hash_.add_note(note);
        if (encoder_) {
            encoder_->add_note(note);
        }
    }

    // Closes the block, so that a live viewer may see all events up to here.
    void flush() {
        if (encoder_) {
            encoder_->close_block();
            pass_on();
        }
    }

    void finish(const Outcome& outcome) {
        hash_.finish(outcome);
        if (encoder_) {
            encoder_->finish(outcome);
            pass_on();
        }
    }

    // Of everything so far.
    std::string hash() const { return hash_.text(); }

  private:
    static constexpr size_t pass_on_bytes = 64 * 1024;

    void pass_on() {
        sink_(encoder_->text());
        encoder_->text().clear();
    }

    TraceHash hash_;
    std::optional<TraceEncoder> encoder_;
    Sink sink_;
};

}  // namespace ringscope
