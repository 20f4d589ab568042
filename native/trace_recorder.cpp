// SPDX-License-Identifier: Apache-2.0
#include "native/trace_recorder.hpp"

namespace ringscope {
namespace {

// A block has block_event_count lines of some 60 bytes; whatever is far longer is no trace.
constexpr size_t block_bytes_max = size_t{1} << 20;

}  // namespace

Status TraceRecorder::push(std::string_view bytes) {
    pending_ += bytes;
    for (size_t end = pending_.find('\n', scanned_bytes_); end != std::string::npos;
         end = pending_.find('\n', scanned_bytes_)) {
        const bool closes_block =
            std::string_view(pending_).substr(scanned_bytes_).starts_with("block\t");
        scanned_bytes_ = end + 1;
        if (!closes_block) {
            continue;
        }
        if (const Status status = take_block(std::string_view(pending_).substr(0, scanned_bytes_));
            !status) {
            return status.error();
        }
        pending_.erase(0, scanned_bytes_);
        scanned_bytes_ = 0;
    }
    if (pending_.size() > block_bytes_max) {
        return plain_error(ErrorKind::device, "a block of the trace does not end");
    }
    return Done{};
}

Status TraceRecorder::take_block(std::string_view block) {
    if (finished_) {
        return plain_error(ErrorKind::device, "there is text after the end of the trace");
    }
    if (const Status status = decoder_.push(block, events_); !status) {
        return status.error();
    }
    if (decoder_.run() != run_) {
        return plain_error(ErrorKind::device, "the trace is of another run");
    }
    for (const Event& event : events_) {
        report_.add(event);
        hash_.add(event);
    }
    events_.clear();
    keep(block);
    if (decoder_.finished()) {
        for (const Round& round : decoder_.rounds()) {
            hash_.add_round(round);
        }
        for (const Note& note : decoder_.notes()) {
            hash_.add_note(note);
        }
        finish(decoder_.outcome());
    }
    return Done{};
}

void TraceRecorder::keep(std::string_view text) {
    text_ += text;
    started_ = true;
}

void TraceRecorder::finish(const Outcome& outcome) {
    hash_.finish(outcome);
    outcome_ = outcome;
    finished_ = true;
}

void TraceRecorder::close(const Outcome& outcome) {
    if (finished_) {
        return;
    }
    TraceEncoder encoder = started_ ? TraceEncoder::continued() : TraceEncoder(run_);
    encoder.finish(outcome);
    keep(encoder.text());
    finish(outcome);
}

}  // namespace ringscope
