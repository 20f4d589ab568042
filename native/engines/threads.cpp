// SPDX-License-Identifier: Apache-2.0
// threads: a real all-reduce in this machine's memory. The ranks are virtual; as many workers as
// there are cores share them, each pinned to a core. A hop is done by its receiver's worker,
// straight from the source's buffer into the target's, when the hops it depends on are done.
//
// Stamps: steady_clock. A hop begins when all it depends on is done and its worker turns to it, and
// ends when its last element is written; what passes between two hops is waiting. Time 0 is the
// moment the last worker reaches the start of the first iteration. Filling and checking the buffers
// is not timed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
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

constexpr int32_t rank_count_max_here = 256;
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

// How many of its hops a rank has done in this iteration. Written by its worker only.
struct alignas(cache_line_bytes) Progress {
    std::atomic<int32_t> hop_count{0};
};

struct Stamp {
    int32_t rank = 0;
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
    std::vector<int32_t> ranks;
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
    ThreadsRun(const RunSpec& run,
               const Schedule& schedule,
               std::vector<std::vector<Hop>> hops,
               std::vector<int> cpus)
        : run_(run),
          schedule_(schedule),
          hops_(std::move(hops)),
          cpus_(std::move(cpus)),
          workers_(cpus_.size()),
          progress_(hops_.size()),
          meeting_point_(static_cast<int32_t>(cpus_.size())) {
        for (int32_t rank = 0; rank < schedule.problem.rank_count; ++rank) {
            Worker& worker = workers_[static_cast<size_t>(rank) % workers_.size()];
            worker.ranks.push_back(rank);
            worker.hop_count += std::ssize(hops_[static_cast<size_t>(rank)]);
        }
        for (Worker& worker :
             workers_) {  // written now, so that no page is missing while the clock runs
            worker.stamps.resize(static_cast<size_t>(worker.hop_count * run.iterations));
        }
    }

    // False when there is not enough memory.
    bool allocate() {
        for (size_t rank = 0; rank < hops_.size(); ++rank) {
            buffers_.push_back(allocate_elements(schedule_.problem.element_count));
        }
        expected_ = allocate_elements(schedule_.problem.element_count);
        return expected_ != nullptr &&
               std::find(buffers_.begin(), buffers_.end(), nullptr) == buffers_.end();
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

    // A worker's share of the expected sums: they are the same for all ranks.
    void compute_expected(size_t index) {
        const int64_t count = schedule_.problem.element_count;
        const auto worker_count = std::ssize(workers_);
        const int64_t begin = multiply_divide(count, static_cast<int64_t>(index), worker_count);
        const int64_t end = multiply_divide(count, static_cast<int64_t>(index) + 1, worker_count);
        for (int64_t element = begin; element < end; ++element) {
            expected_.get()[element] = expected_value(schedule_, run_.seed, 0, element);
        }
    }

    void fill(const Worker& worker) {
        for (const int32_t rank : worker.ranks) {
            float* values = buffers_[static_cast<size_t>(rank)].get();
            for (int64_t element = 0; element < schedule_.problem.element_count; ++element) {
                values[element] = input_value(run_.seed, rank, element);
            }
            progress_[static_cast<size_t>(rank)].hop_count.store(0, std::memory_order_relaxed);
        }
    }

    void carry_out(Worker& worker, int32_t iteration) {
        Backoff backoff;
        for (int64_t left = worker.hop_count; left > 0;) {
            int64_t done = 0;
            for (const int32_t rank : worker.ranks) {
                done += try_next_hop(worker, rank, iteration) ? 1 : 0;
            }
            left -= done;
            done > 0 ? backoff.reset() : backoff.pause();
        }
    }

    bool try_next_hop(Worker& worker, int32_t rank, int32_t iteration) {
        std::atomic<int32_t>& hop_count = progress_[static_cast<size_t>(rank)].hop_count;
        const int32_t index = hop_count.load(std::memory_order_relaxed);
        const auto& hops = hops_[static_cast<size_t>(rank)];
        if (index == std::ssize(hops) || !ready(hops[static_cast<size_t>(index)])) {
            return false;
        }
        Stamp stamp{rank, index, iteration, Clock::now(), {}};
        move_elements(hops[static_cast<size_t>(index)].transfer);
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

    void move_elements(const Transfer& transfer) {
        const int64_t begin = schedule_.chunk_element_begin(transfer.chunk_begin);
        const int64_t count =
            schedule_.chunk_element_begin(transfer.chunk_begin + transfer.chunk_count) - begin;
        float* target = buffers_[static_cast<size_t>(transfer.target_rank)].get() + begin;
        const float* source = buffers_[static_cast<size_t>(transfer.source_rank)].get() + begin;
        if (transfer.action == Action::reduce) {
            add_elements(target, source, count);
        } else {
            std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
        }
    }

    void check(Worker& worker, int32_t iteration) {
        const int64_t count = schedule_.problem.element_count;
        const float* expected = expected_.get();
        for (const int32_t rank : worker.ranks) {
            const float* values = buffers_[static_cast<size_t>(rank)].get();
            if (std::memcmp(values, expected, static_cast<size_t>(count) * sizeof(float)) == 0) {
                continue;
            }
            const int64_t element = std::mismatch(values, values + count, expected).first - values;
            worker.mismatches.push_back({iteration, rank, element, values[element]});
            mismatch_seen_.store(true, std::memory_order_relaxed);
            return;
        }
    }

    // Writes what the workers have stamped since the last call.
    void drain(TraceWriter& trace) {
        std::vector<Event> events;
        for (Worker& worker : workers_) {
            const size_t count = worker.stamp_count.load(std::memory_order_acquire);
            for (; worker.taken < count; ++worker.taken) {
                events.push_back(make_event(worker.stamps[worker.taken]));
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
        event.transfer =
            hops_[static_cast<size_t>(stamp.rank)][static_cast<size_t>(stamp.hop)].transfer;
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
                            std::to_string(mismatch.value) + " where the sum over all ranks is " +
                            std::to_string(expected_.get()[mismatch.element]) +
                            ", after iteration " + std::to_string(mismatch.iteration)};
            }
        }
        return {};
    }

    const RunSpec& run_;
    const Schedule& schedule_;
    const std::vector<std::vector<Hop>> hops_;  // [rank][hop]
    const std::vector<int> cpus_;               // [worker]
    std::vector<Worker> workers_;
    std::vector<Progress> progress_;  // [rank]
    MeetingPoint meeting_point_;
    std::vector<Elements> buffers_;  // [rank]
    Elements expected_;
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

Status check_threads(const RunSpec& run, const Schedule& schedule) {
    const int64_t rank_count = run.problem.rank_count;
    if (rank_count > rank_count_max_here) {
        return invalid_field(
            "ranks", std::to_string(rank_count), "must be 1 to 256 for engine=threads");
    }
    if (const Status status = check_no_knobs(run); !status) {
        return status.error();
    }
    const int64_t limit_bytes = available_memory_bytes() / 2;
    if (buffer_bytes(run.problem) > limit_bytes / rank_count) {
        return invalid_field("bytes",
                             print_bytes(buffer_bytes(run.problem)),
                             "must be at most " + show_bytes(limit_bytes / rank_count) + " for " +
                                 std::to_string(rank_count) +
                                 " ranks here: all buffers together get half of the free memory");
    }
    const int64_t messages = schedule.message_count();
    if (messages > trace_event_count_max / run.iterations) {
        return invalid_field("iterations",
                             std::to_string(run.iterations),
                             "must be at most " + std::to_string(trace_event_count_max / messages) +
                                 ": a trace holds " + std::to_string(trace_event_count_max) +
                                 " events, an iteration has " + std::to_string(messages));
    }
    return Done{};
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
    cpus.resize(std::min(cpus.size(), static_cast<size_t>(run.problem.rank_count)));
    ThreadsRun threads(run, schedule, std::move(plan.hops), std::move(cpus));
    if (!threads.allocate()) {
        return plain_error(ErrorKind::device, "there is not enough memory for the buffers");
    }
    return threads.execute(trace);
}

}  // namespace

extern const Engine threads_engine;
const Engine threads_engine{
    {"threads",
     "this machine's cores, one address space: a real all-reduce in memory",
     rank_count_max_here,
     ""},
    check_threads,
    run_threads,
};

}  // namespace ringscope
