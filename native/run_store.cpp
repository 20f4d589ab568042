// SPDX-License-Identifier: Apache-2.0
#include "native/run_store.hpp"

#include <algorithm>

#include "native/token.hpp"
#include "shared/check.hpp"

namespace ringscope {
namespace {

constexpr size_t piece_bytes = 16 * 1024;  // a few milliseconds of a loopback connection
constexpr size_t id_bytes = 8;

}  // namespace

std::string_view run_state_name(RunState state) {
    switch (state) {
        case RunState::queued:
            return "queued";
        case RunState::running:
            return "running";
        case RunState::done:
            return "done";
    }
    return "";
}

std::string RunStore::add(const RunSpec& run) {
    auto record = std::make_shared<Record>();
    record->entry.id = random_hex(id_bytes);
    record->entry.run = run;
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
    forget_oldest();
    return record->entry.id;
}

void RunStore::begin(const std::string& id) {
    const std::lock_guard lock(mutex_);
    find_record(id)->entry.state = RunState::running;
}

void RunStore::append(const std::string& id, std::string_view text) {
    {
        const std::lock_guard lock(mutex_);
        find_record(id)->text += text;
        trace_bytes_ += text.size();
        forget_oldest();
    }
    changed_.notify_all();
}

void RunStore::finish(const std::string& id, std::string result_json) {
    {
        const std::lock_guard lock(mutex_);
        Entry& entry = find_record(id)->entry;
        entry.state = RunState::done;
        entry.result_json = std::move(result_json);
    }
    changed_.notify_all();
}

std::optional<RunStore::Entry> RunStore::find(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    for (const auto& record : records_) {
        if (record->entry.id == id) {
            return record->entry;
        }
    }
    return std::nullopt;
}

std::vector<RunStore::Entry> RunStore::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<Entry> entries;
    for (const auto& record : records_) {
        entries.push_back(record->entry);
    }
    return entries;
}

void RunStore::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
}

std::optional<RunStore::Viewer> RunStore::view(const std::string& id, int64_t line) {
    const std::lock_guard lock(mutex_);
    for (const auto& record : records_) {
        if (record->entry.id == id) {
            return Viewer(*this, record, line);
        }
    }
    return std::nullopt;
}

// Of a run that is not done: only such are written to, and only done ones are forgotten.
std::shared_ptr<RunStore::Record> RunStore::find_record(const std::string& id) const {
    const auto found = std::find_if(records_.begin(), records_.end(), [&](const auto& record) {
        return record->entry.id == id;
    });
    RS_CHECK(found != records_.end());
    return *found;
}

void RunStore::forget_oldest() {
    while (records_.size() > limits_.run_count_max || trace_bytes_ > limits_.trace_bytes_max) {
        const auto oldest = std::find_if(records_.begin(), records_.end(), [](const auto& record) {
            return record->entry.state == RunState::done;
        });
        if (oldest == records_.end()) {
            return;  // the queue and the events of a run are bounded elsewhere
        }
        trace_bytes_ -= (*oldest)->text.size();
        records_.erase(oldest);
    }
}

RunStore::Viewer::State RunStore::Viewer::next(std::string& lines,
                                               std::chrono::milliseconds patience) {
    std::unique_lock lock(store_.mutex_);
    const Record& record = *record_;
    skip();
    store_.changed_.wait_for(lock, patience, [&] {
        return store_.stopped_ || record.text.size() > offset_ ||
               record.entry.state == RunState::done;
    });
    if (store_.stopped_) {
        return State::stopped;
    }
    skip();
    const std::string_view rest = std::string_view(record.text).substr(offset_);
    if (rest.empty()) {
        return record.entry.state == RunState::done ? State::end : State::more;
    }
    size_t end = rest.substr(0, piece_bytes).rfind('\n');
    if (end == std::string_view::npos) {
        end = rest.find('\n');  // one line longer than a piece
    }
    lines += rest.substr(0, end + 1);
    line_count_ +=
        std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end) + 1, '\n');
    offset_ += end + 1;
    return State::more;
}

// Passes over the lines that a viewer who comes back has seen already.
void RunStore::Viewer::skip() {
    while (line_count_ < lines_to_skip_ && offset_ < record_->text.size()) {
        offset_ = record_->text.find('\n', offset_) + 1;
        ++line_count_;
    }
}

}  // namespace ringscope
