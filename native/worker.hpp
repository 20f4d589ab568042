// SPDX-License-Identifier: Apache-2.0
// A run in a process of its own, so that a crash or a hang of an engine is a failed run with a
// reason and never a dead daemon. The worker writes its trace to a pipe; the parent keeps the
// deadline, kills, and closes the trace when the worker could not.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>

#include "native/trace_recorder.hpp"
#include "shared/result.hpp"

namespace ringscope {

// The child. It dies with the thread that started it, has no descriptor of ours but the pipe, and
// leads a process group, so that what it starts is killed with it. Reaped by the destructor at the
// latest.
class WorkerProcess {
  public:
    // `program` is a ringscope executable. Errors: the system cannot start a process.
    static Result<WorkerProcess> start(const std::string& program, const std::string& run_line);

    WorkerProcess(WorkerProcess&& other) noexcept;
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    WorkerProcess& operator=(WorkerProcess&&) = delete;
    ~WorkerProcess();

    pid_t pid() const { return pid_; }
    int output() const { return output_; }  // the reading end of its standard output

    // Ends the whole group at once; nothing when it was reaped.
    void kill();

    // Waits until it has ended, at most until `deadline`. Returns whether it has; then end() says
    // how.
    bool wait(std::chrono::steady_clock::time_point deadline);
    std::string end() const;  // "was ended by signal 9 (Killed)", "exited with status 1"

  private:
    WorkerProcess(pid_t pid, int output) : pid_(pid), output_(output) {}

    pid_t pid_ = -1;
    int output_ = -1;
    int status_ = 0;
    bool reaped_ = false;
};

// This executable, as a program to start workers from.
std::string own_program();

struct Supervision {
    std::string program;
    std::chrono::milliseconds deadline{60'000};
    const std::atomic<bool>* cancelled = nullptr;     // looked at some times a second
    std::function<void(std::string_view)> take_text;  // verified text of the trace, as it comes
    std::function<void(pid_t)> started = [](pid_t) {};
};

// Runs the recorder's run to its end. The recorder is finished() afterwards, come what may.
void supervise(TraceRecorder& recorder, const Supervision& supervision);

// The worker's side: carries the run out and writes its trace to `output`. Returns the exit status.
int run_worker(const std::string& run_line, int output);

}  // namespace ringscope
