// SPDX-License-Identifier: Apache-2.0
// EventQueue: the moments to come, in order of time, and of insertion where times are equal.
//
// In a collective most things take equally long, so that moments are mostly inserted in the order
// in which they come up again. The queue lives on that: `run_` is sorted and used up from the
// front, `later_` collects what lies behind it and is sorted (if it has to be) only when its turn
// comes, and the few that fall into the run go to a small heap. In a ring a push and a pop cost a
// few nanoseconds, whatever the number of ranks and whenever they start; in the worst case it is a
// binary heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringscope {

template <class Item>
class EventQueue {
  public:
    struct Entry {
        int64_t time_ps = 0;
        int64_t sequence = 0;
        Item item;

        bool operator<(const Entry& other) const {
            return time_ps != other.time_ps ? time_ps < other.time_ps : sequence < other.sequence;
        }
    };

    bool empty() const { return next_ == run_.size() && heap_.empty() && later_.empty(); }

    void push(int64_t time_ps, const Item& item) {
        const Entry entry{time_ps, sequence_++, item};
        if (next_ < run_.size() && time_ps < run_.back().time_ps) {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), after);
            return;
        }
        sorted_ = sorted_ && (later_.empty() || later_.back().time_ps <= time_ps);
        later_.push_back(entry);
    }

    // INT64_MAX when empty.
    int64_t next_ps() {
        if (next_ == run_.size() && !later_.empty()) {
            start_run();
        }
        const int64_t run_ps = next_ < run_.size() ? run_[next_].time_ps : INT64_MAX;
        return heap_.empty() ? run_ps : std::min(run_ps, heap_.front().time_ps);
    }

    // Only while not empty().
    Entry pop() {
        if (next_ == run_.size() && !later_.empty()) {
            start_run();
        }
        if (!heap_.empty() && (next_ == run_.size() || heap_.front() < run_[next_])) {
            std::pop_heap(heap_.begin(), heap_.end(), after);
            const Entry entry = heap_.back();
            heap_.pop_back();
            return entry;
        }
        return run_[next_++];
    }

    // What probably comes up `ahead` pops from now, or null: for fetching its memory early.
    const Item* ahead(size_t ahead) const {
        const size_t place = next_ + ahead;
        if (place < run_.size()) {
            return &run_[place].item;
        }
        const size_t later = place - run_.size();
        return sorted_ && later < later_.size() ? &later_[later].item : nullptr;
    }

    void clear() {
        run_.clear();
        heap_.clear();
        later_.clear();
        next_ = 0;
        sorted_ = true;
    }

  private:
    static bool after(const Entry& a, const Entry& b) { return b < a; }

    void start_run() {
        if (!sorted_) {
            std::sort(later_.begin(), later_.end());
        }
        std::swap(run_, later_);
        later_.clear();
        next_ = 0;
        sorted_ = true;
    }

    std::vector<Entry> run_;
    size_t next_ = 0;  // of run_
    std::vector<Entry> heap_;
    std::vector<Entry> later_;
    bool sorted_ = true;  // later_
    int64_t sequence_ = 0;
};

}  // namespace ringscope
