// SPDX-License-Identifier: Apache-2.0
// threads: a real collective in this machine's memory. The ranks are virtual, as is a switch that
// takes part; as many workers as there are cores share them, each pinned to a core. A hop is done
// by its receiver's worker when the hops it depends on are done: straight from the source's buffer
// into the target's, or fetched into the target's staging area and later taken in from there.
//
// Stamps: steady_clock. A hop begins when all it depends on is done and its worker turns to it, and
// ends when its last element is written; what passes between two hops is waiting. A fetch and its
// take_in are one event, from the begin of the first to the end of the other, the wait between them
// included. Time 0 is the moment the last worker reaches the start of the first iteration. Filling
// and checking the buffers is not timed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <span>
#include <string>
#include <thread>
#include <tuple>

#include <sched.h>
#include <sys/mman.h>

#include "native/engine.hpp"
#include "shared/algorithm.hpp"
#include "shared/buffers.hpp"
#include "shared/units.hpp"

// The sum twice as fast in cache where the CPU can. Sanitizers start too late for the code that
// chooses.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define RINGSCOPE_CLONES [[gnu::target_clones("default", "avx2"), gnu::optimize("O3")]]
#else
#define RINGSCOPE_CLONES
#endif

namespace ringscope {
namespace {

constexpr int32_t participant_count_max = 256;
constexpr size_t cache_line_bytes = 64;
constexpr size_t huge_page_bytes = size_t{2} << 20;
constexpr std::chrono::milliseconds drain_period{20};  // a live viewer cannot see more often

using Clock = std::chrono::steady_clock;

RINGSCOPE_CLONES void add_elements(float* __restrict target,
                                   const float* __restrict source,
                                   int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        target[i] += source[i];
    }
}

struct FreeMemory {
    void operator()(float* memory) const { std::free(memory); }
};
using Elements = std::unique_ptr<float, FreeMemory>;

// Not filled: its worker does that, so that the pages lie near its core. Null when there is no
// memory.
Elements allocate_elements(int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(float);
    const size_t alignment = bytes >= huge_page_bytes ? huge_page_bytes : cache_line_bytes;
    const size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    Elements elements(static_cast<float*>(std::aligned_alloc(alignment, rounded)));
    if (elements != nullptr && alignment == huge_page_bytes) {
        madvise(elements.get(),
                rounded,
                MADV_HUGEPAGE);  // a wish; without it the run is slower, not wrong
    }
    return elements;
}

// Waits ever more cheaply: a hand-over between two cores takes well under a microsecond, but with
// more threads than cores whoever spins keeps the other from running.
class Backoff {
  public:
    void pause() {
        ++turns_;
        if (turns_ <= spin_turns) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        } else if (turns_ <= spin_turns + yield_turns) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    void reset() {
        turns_ = 0;
    }

  private:
    static constexpr int spin_turns = 200;   // some microseconds
    static constexpr int yield_turns = 200;  // some hundred when nobody else wants the core
    int turns_ = 0;
};

// Where all workers meet; nobody leaves before everybody has come.
class MeetingPoint {
  public:
    explicit MeetingPoint(int32_t worker_count) : worker_count_(worker_count) {}

    void meet() {
        const uint32_t round = round_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == worker_count_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        for (Backoff backoff; round_.load(std::memory_order_acquire) == round;) {
            backoff.pause();
        }
    }

  private:
    const int32_t worker_count_;
    alignas(cache_line_bytes) std::atomic<int32_t> arrived_{0};
    alignas(cache_line_bytes) std::atomic<uint32_t> round_{0};
};

// A rank, or the switch.
struct Participant {
    Elements buffer;
    Elements staging;
};

// How many of its hops a participant has done in this iteration. Written by its worker only.
struct alignas(cache_line_bytes) Progress {
    std::atomic<int32_t> hop_count{0};
};

struct Stamp {
    int32_t participant = 0;
    int32_t hop = 0;
    int32_t iteration = 0;
    Clock::time_point begin;
    Clock::time_point end;
};

struct Mismatch {
    int32_t iteration = 0;
    int32_t rank = 0;
    int64_t element = 0;
    float value = 0;
};

// One worker's part. It fills stamps up to stamp_count; the main thread reads them up to there.
struct alignas(cache_line_bytes) Worker {
    std::vector<int32_t> participants;
    int64_t hop_count = 0;  // of one iteration
    Clock::time_point ready;
    std::vector<Stamp> stamps;
    std::vector<Mismatch> mismatches;  // at most one
    alignas(cache_line_bytes) std::atomic<size_t> stamp_count{0};
    size_t taken = 0;  // the main thread's
};

std::vector<int> allowed_cpus() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed)) {
                cpus.push_back(cpu);
            }
        }
    }
    return cpus;
}

// Two workers on one core would wait for each other's time slice. Where pinning is forbidden it
// goes on.
void pin_to(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
}

class ThreadsRun {
  public:
    ThreadsRun(const RunSpec& run, const Schedule& schedule, HopPlan plan, std::vector<int> cpus)
        : run_(run),
          schedule_(schedule),
          plan_(std::move(plan)),
          cpus_(std::move(cpus)),
          workers_(cpus_.size()),
          progress_(plan_.hops.size()),
          participants_(plan_.hops.size()),
          fetches_(plan_.hops.size()),
          meeting_point_(static_cast<int32_t>(cpus_.size())) {
        for (int32_t participant = 0; participant < schedule.participant_count; ++participant) {
            Worker& worker = workers_[static_cast<size_t>(participant) % workers_.size()];
            worker.participants.push_back(participant);
            worker.hop_count += std::ssize(plan_.hops[static_cast<size_t>(participant)]);
        }
        for (Worker& worker :
             workers_) {  // written now, so that no page is missing while the clock runs
            worker.stamps.resize(static_cast<size_t>(worker.hop_count * run.iterations));
        }
    }

    // False when there is not enough memory.
    bool allocate() {
        const int64_t count = schedule_.problem.element_count;
        expected_ = allocate_elements(count);
        bool enough = expected_ != nullptr;
        for (size_t i = 0; i < participants_.size(); ++i) {
            participants_[i].buffer = allocate_elements(count);
            participants_[i].staging = allocate_elements(plan_.staging_element_counts[i]);
            enough =
                enough && participants_[i].buffer != nullptr && participants_[i].staging != nullptr;
        }
        return enough;
    }

    Outcome execute(TraceWriter& trace) {
        std::vector<std::thread> threads;
        for (size_t i = 0; i < workers_.size(); ++i) {
            threads.emplace_back([this, i] { work(i); });
        }
        std::unique_lock lock(done_mutex_);
        while (!done_changed_.wait_for(
            lock, drain_period, [&] { return done_count_ == workers_.size(); })) {
            lock.unlock();
            drain(trace);
            lock.lock();
        }
        lock.unlock();
        for (std::thread& thread : threads) {
            thread.join();
        }
        drain(trace);
        return outcome();
    }

  private:
    void work(size_t index) {
        pin_to(cpus_[index]);
        Worker& worker = workers_[index];
        compute_expected(index);
        touch_staging(worker);
        for (int32_t iteration = 0; iteration < run_.iterations; ++iteration) {
            fill(worker);
            meeting_point_.meet();  // after a long wait some wake late ...
            if (mismatch_seen_.load(std::memory_order_relaxed)) {
                break;
            }
            if (iteration == 0) {
                worker.ready = Clock::now();
            }
            meeting_point_.meet();  // ... from a short one all leave together
            carry_out(worker, iteration);
            meeting_point_.meet();
            check(worker, iteration);
        }
        const std::lock_guard lock(done_mutex_);
        ++done_count_;
        done_changed_.notify_one();
    }

    // A worker's share of the expected values: what a chunk shall hold is the same for all.
    void compute_expected(size_t index) {
        const int64_t count = schedule_.problem.element_count;
        const auto worker_count = std::ssize(workers_);
        const int64_t begin = multiply_divide(count, static_cast<int64_t>(index), worker_count);
        const int64_t end = multiply_divide(count, static_cast<int64_t>(index) + 1, worker_count);
        for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
            const int64_t first = std::max(begin, schedule_.chunk_element_begin(chunk));
            const int64_t last = std::min(end, schedule_.chunk_element_begin(chunk + 1));
            if (first < last) {
                expect_values(schedule_,
                              run_.seed,
                              chunk,
                              first,
                              {expected_.get() + first, static_cast<size_t>(last - first)});
            }
        }
    }

    // So that its pages lie near its core, and none is missing while the clock runs.
    void touch_staging(const Worker& worker) {
        for (const int32_t participant : worker.participants) {
            const auto index = static_cast<size_t>(participant);
            std::fill_n(
                participants_[index].staging.get(), plan_.staging_element_counts[index], 0.0F);
        }
    }

    void fill(const Worker& worker) {
        for (const int32_t participant : worker.participants) {
            float* values = participants_[static_cast<size_t>(participant)].buffer.get();
            for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
                fill_chunk(values, participant, chunk);
            }
            progress_[static_cast<size_t>(participant)].hop_count.store(0,
                                                                        std::memory_order_relaxed);
        }
    }

    void fill_chunk(float* values, int32_t participant, int32_t chunk) const {
        const int64_t begin = schedule_.chunk_element_begin(chunk);
        const int64_t end = schedule_.chunk_element_begin(chunk + 1);
        if (!schedule_.holds_input(participant, chunk)) {
            std::fill(values + begin, values + end, 0.0F);
            return;
        }
        for (int64_t element = begin; element < end; ++element) {
            values[element] = input_value(run_.seed, participant, element);
        }
    }

    void carry_out(Worker& worker, int32_t iteration) {
        Backoff backoff;
        for (int64_t left = worker.hop_count; left > 0;) {
            int64_t done = 0;
            for (const int32_t participant : worker.participants) {
                done += try_next_hop(worker, participant, iteration) ? 1 : 0;
            }
            left -= done;
            done > 0 ? backoff.reset() : backoff.pause();
        }
    }

    bool try_next_hop(Worker& worker, int32_t participant, int32_t iteration) {
        std::atomic<int32_t>& hop_count = progress_[static_cast<size_t>(participant)].hop_count;
        const int32_t index = hop_count.load(std::memory_order_relaxed);
        const auto& hops = plan_.hops[static_cast<size_t>(participant)];
        if (index == std::ssize(hops) || !ready(hops[static_cast<size_t>(index)])) {
            return false;
        }
        Stamp stamp{participant, index, iteration, Clock::now(), {}};
        move_elements(hops[static_cast<size_t>(index)]);
        stamp.end = Clock::now();
        hop_count.store(index + 1, std::memory_order_release);
        const size_t stamp_count = worker.stamp_count.load(std::memory_order_relaxed);
        worker.stamps[stamp_count] = stamp;
        worker.stamp_count.store(stamp_count + 1, std::memory_order_release);
        return true;
    }

    bool ready(const Hop& hop) const {
        return std::all_of(
            hop.dependencies.begin(), hop.dependencies.end(), [this](const Dependency& dependency) {
                const Progress& progress = progress_[static_cast<size_t>(dependency.rank)];
                return progress.hop_count.load(std::memory_order_acquire) >= dependency.hop_count;
            });
    }

    void move_elements(const Hop& hop) {
        const Transfer& transfer = hop.transfer;
        const int64_t begin = schedule_.chunk_element_begin(transfer.chunk_begin);
        const int64_t count =
            schedule_.chunk_element_begin(transfer.chunk_begin + transfer.chunk_count) - begin;
        const Participant& owner = participants_[static_cast<size_t>(transfer.target_rank)];
        const Participant& other = participants_[static_cast<size_t>(transfer.source_rank)];
        float* staging = owner.staging.get() + hop.staging_begin;
        const bool fetch = hop.kind == HopKind::fetch;
        float* target = fetch ? staging : owner.buffer.get() + begin;
        const float* source = hop.kind == HopKind::take_in ? staging : other.buffer.get() + begin;
        if (transfer.action == Action::reduce && !fetch) {
            add_elements(target, source, count);
        } else {
            std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
        }
    }

    void check(Worker& worker, int32_t iteration) {
        for (const int32_t participant : worker.participants) {
            const int64_t element = find_wrong_element(participant);
            if (element >= 0) {
                const float* values = participants_[static_cast<size_t>(participant)].buffer.get();
                worker.mismatches.push_back({iteration, participant, element, values[element]});
                mismatch_seen_.store(true, std::memory_order_relaxed);
                return;
            }
        }
    }

    // -1: there is none.
    int64_t find_wrong_element(int32_t participant) const {
        const float* values = participants_[static_cast<size_t>(participant)].buffer.get();
        const float* expected = expected_.get();
        for (int32_t chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
            const int64_t begin = schedule_.chunk_element_begin(chunk);
            const int64_t end = schedule_.chunk_element_begin(chunk + 1);
            const size_t bytes = static_cast<size_t>(end - begin) * sizeof(float);
            if (schedule_.shall_hold(participant, chunk) &&
                std::memcmp(values + begin, expected + begin, bytes) != 0) {
                return std::mismatch(values + begin, values + end, expected + begin).first - values;
            }
        }
        return -1;
    }

    // Writes what the workers have stamped since the last call.
    void drain(TraceWriter& trace) {
        std::vector<Event> events;
        for (Worker& worker : workers_) {
            const size_t count = worker.stamp_count.load(std::memory_order_acquire);
            for (; worker.taken < count; ++worker.taken) {
                take_stamp(worker.stamps[worker.taken], events);
            }
        }
        std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
            return std::tuple(a.end_ps, a.transfer.target_rank) <
                   std::tuple(b.end_ps, b.transfer.target_rank);
        });
        for (const Event& event : events) {
            trace.add(event);
        }
        trace.flush();
    }

    // A participant takes in what it has fetched in the same order.
    void take_stamp(Stamp stamp, std::vector<Event>& events) {
        auto& fetches = fetches_[static_cast<size_t>(stamp.participant)];
        const Hop& hop = hop_of(stamp);
        if (hop.kind == HopKind::fetch) {
            fetches.push(stamp.begin);
            return;
        }
        if (hop.kind == HopKind::take_in) {
            stamp.begin = fetches.front();
            fetches.pop();
        }
        events.push_back(make_event(stamp));
    }

    const Hop& hop_of(const Stamp& stamp) const {
        return plan_.hops[static_cast<size_t>(stamp.participant)][static_cast<size_t>(stamp.hop)];
    }

    // Only once a stamp was seen: then every worker has been ready.
    Event make_event(const Stamp& stamp) const {
        const auto last = std::max_element(
            workers_.begin(), workers_.end(), [](const Worker& a, const Worker& b) {
                return a.ready < b.ready;
            });
        const auto since_start_ps = [&](Clock::time_point time) {
            return std::chrono::duration_cast<std::chrono::nanoseconds>(time - last->ready)
                       .count() *
                   1000;
        };
        Event event;
        event.transfer = hop_of(stamp).transfer;
        event.iteration = stamp.iteration;
        event.bytes = schedule_.bytes(event.transfer);
        event.begin_ps = since_start_ps(stamp.begin);
        event.end_ps = since_start_ps(stamp.end);
        return event;
    }

    Outcome outcome() const {
        for (const Worker& worker : workers_) {
            for (const Mismatch& mismatch : worker.mismatches) {
                return {OutcomeKind::wrong,
                        "rank " + std::to_string(mismatch.rank) + ", element " +
                            std::to_string(mismatch.element) + " holds " +
                            std::to_string(mismatch.value) + " where " +
                            std::to_string(expected_.get()[mismatch.element]) +
                            " is right, after iteration " + std::to_string(mismatch.iteration)};
            }
        }
        return {};
    }

    const RunSpec& run_;
    const Schedule& schedule_;
    const HopPlan plan_;
    const std::vector<int> cpus_;  // [worker]
    std::vector<Worker> workers_;
    std::vector<Progress> progress_;                      // [participant]
    std::vector<Participant> participants_;               // [participant]
    std::vector<std::queue<Clock::time_point>> fetches_;  // begun; the main thread's
    MeetingPoint meeting_point_;
    Elements expected_;  // of the whole buffer
    std::atomic<bool> mismatch_seen_{false};
    std::mutex done_mutex_;
    std::condition_variable done_changed_;
    size_t done_count_ = 0;
};

// What the kernel thinks can be used without swapping; 0 when it does not say.
int64_t available_memory_bytes() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) {
            return std::strtoll(line.c_str() + sizeof "MemAvailable:" - 1, nullptr, 10) * 1024;
        }
    }
    return 0;
}

// A buffer for every participant and one for the expected values, and the staging areas.
int64_t memory_bytes(const Schedule& schedule) {
    const auto staging = staging_element_counts(schedule);
    const int64_t elements =
        (schedule.participant_count + int64_t{1}) * schedule.problem.element_count +
        std::accumulate(staging.begin(), staging.end(), int64_t{0});
    return elements * element_bytes(schedule.problem.element_type);
}

Status check_memory(const Problem& problem, const Schedule& schedule) {
    const int64_t needed_bytes = memory_bytes(schedule);
    const int64_t limit_bytes = available_memory_bytes() / 2;
    if (needed_bytes <= limit_bytes) {
        return Done{};
    }
    const int64_t most_bytes = multiply_divide(buffer_bytes(problem), limit_bytes, needed_bytes);
    return invalid_field("bytes",
                         print_bytes(buffer_bytes(problem)),
                         "must be at most " + show_bytes(most_bytes) + " for " +
                             std::to_string(problem.rank_count) +
                             " ranks here: all buffers together get half of the free memory");
}

Status check_threads(const RunSpec& run, const Schedule& schedule) {
    if (schedule.participant_count > participant_count_max) {
        return invalid_field("ranks",
                             std::to_string(run.problem.rank_count),
                             schedule.with_switch
                                 ? "must be 1 to 255 for engine=threads when a switch takes part"
                                 : "must be 1 to 256 for engine=threads");
    }
    if (const Status status = check_no_knobs(run); !status) {
        return status.error();
    }
    const int64_t messages = schedule.message_count();
    if (messages > trace_event_count_max / run.iterations) {
        return invalid_field("iterations",
                             std::to_string(run.iterations),
                             "must be at most " + std::to_string(trace_event_count_max / messages) +
                                 ": a trace holds " + std::to_string(trace_event_count_max) +
                                 " events, an iteration has " + std::to_string(messages));
    }
    return check_memory(run.problem, schedule);
}

Result<Outcome> run_threads(const RunSpec& run, const Schedule& schedule, TraceWriter& trace) {
    if (const Status status = check_threads(run, schedule); !status) {
        return status.error();
    }
    HopPlan plan = derive_hops(schedule);
    std::vector<int> cpus = allowed_cpus();
    if (cpus.empty()) {
        return plain_error(ErrorKind::device, "the system does not say which cores may be used");
    }
    cpus.resize(std::min(cpus.size(), static_cast<size_t>(schedule.participant_count)));
    ThreadsRun threads(run, schedule, std::move(plan), std::move(cpus));
    if (!threads.allocate()) {
        return plain_error(ErrorKind::device, "there is not enough memory for the buffers");
    }
    return threads.execute(trace);
}

}  // namespace

extern const Engine threads_engine;
const Engine threads_engine{
    {"threads",
     "this machine's cores, one address space: a real collective in memory",
     participant_count_max,
     ""},
    check_threads,
    run_threads,
};

}  // namespace ringscope
