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
        if (next_ < run_.size() && time_ps < run_.back().time_ps) {
            heap_.push_back({time_ps, sequence_++, item});
            std::push_heap(heap_.begin(), heap_.end(), after);
            return;
        }
        sorted_ = sorted_ && last_ps_ <= time_ps;
        last_ps_ = time_ps;
        later_.push_back({time_ps, sequence_++, item});
    }

    // The first entry, or null when there is none; valid until the next push or pop.
    const Entry* front() {
        if (next_ == run_.size()) {
            if (later_.empty()) {
                return heap_.empty() ? nullptr : &heap_.front();
            }
            start_run();
        }
        const bool from_heap = !heap_.empty() && heap_.front() < run_[next_];
        return from_heap ? &heap_.front() : &run_[next_];
    }
    // Removes what front() returned.
    void pop_front(const Entry* front) {
        if (!heap_.empty() && front == &heap_.front()) {
            std::pop_heap(heap_.begin(), heap_.end(), after);
            heap_.pop_back();
        } else {
            ++next_;
        }
    }

    // INT64_MAX when empty.
    int64_t next_ps() {
        const Entry* first = front();
        return first == nullptr ? INT64_MAX : first->time_ps;
    }

    // Only while not empty().
    Entry pop() {
        const Entry* first = front();
        const Entry entry = *first;
        pop_front(first);
        return entry;
    }

    void clear() {
        run_.clear();
        heap_.clear();
        later_.clear();
        next_ = 0;
        last_ps_ = INT64_MIN;
        sorted_ = true;
    }

  private:
    // A vector that only grows at its end; its push_back is small enough to be inlined.
    class Entries {
      public:
        bool empty() const { return size_ == 0; }
        size_t size() const { return size_; }
        const Entry& operator[](size_t i) const { return memory_[i]; }
        const Entry& back() const { return memory_[size_ - 1]; }
        Entry* begin() { return memory_.data(); }
        Entry* end() { return memory_.data() + size_; }
        void push_back(const Entry& entry) {
            if (size_ == memory_.size()) [[unlikely]] {
                memory_.resize(std::max<size_t>(16, 2 * size_));
            }
            memory_[size_++] = entry;
        }
        void clear() { size_ = 0; }

      private:
        std::vector<Entry> memory_;
        size_t size_ = 0;
    };

    static bool after(const Entry& a, const Entry& b) { return b < a; }

    void start_run() {
        if (!sorted_) {
            std::sort(later_.begin(), later_.end());
        }
        std::swap(run_, later_);
        later_.clear();
        next_ = 0;
        last_ps_ = INT64_MIN;
        sorted_ = true;
    }

    Entries run_;
    size_t next_ = 0;  // of run_
    std::vector<Entry> heap_;
    Entries later_;
    int64_t last_ps_ = INT64_MIN;  // of later_
    bool sorted_ = true;           // later_
    int64_t sequence_ = 0;
};

}  // namespace ringscope
