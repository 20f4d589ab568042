// SPDX-License-Identifier: Apache-2.0
#include "native/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/engine.hpp"
#include "shared/arrange.hpp"

namespace ringscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds cancel_period{50};
constexpr std::chrono::milliseconds exit_grace{
    2'000};                          // from the end of the output to the end of the process
constexpr int pipe_bytes = 1 << 20;  // so that a busy parent does not hold the worker up

Error system_error(const char* what) {
    return plain_error(ErrorKind::device, std::string(what) + ": " + std::strerror(errno));
}

// In the child of a process with many threads: only calls that are safe in a signal handler.
[[noreturn]] void become_worker(const char* program,
                                char* const* arguments,
                                int output,
                                pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool wired = dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0;
    close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    if (wired && getppid() == parent) {  // else the parent died before it could be noticed
        execv(program, arguments);
    }
    _exit(127);
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::string& program,
                                           const std::string& run_line) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return system_error("no pipe for the worker");
    }
    fcntl(ends[0], F_SETPIPE_SZ, pipe_bytes);
    std::array<std::string, 4> words{program, "worker", "--run", run_line};
    std::array<char*, 5> arguments{
        words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_worker(words[0].c_str(), arguments.data(), ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        const Error error = system_error("no process for the worker");
        close(ends[0]);
        return error;
    }
    setpgid(pid, pid);  // here as well, so that kill() finds the group at any time
    return WorkerProcess(pid, ends[0]);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      status_(other.status_),
      reaped_(std::exchange(other.reaped_, true)) {}

WorkerProcess::~WorkerProcess() {
    if (pid_ > 0 && !reaped_) {
        kill();
        waitpid(pid_, &status_, 0);
    }
    if (output_ >= 0) {
        close(output_);
    }
}

void WorkerProcess::kill() {
    if (pid_ > 0 && !reaped_) {
        ::kill(-pid_, SIGKILL);
    }
}

bool WorkerProcess::wait(Clock::time_point deadline) {
    while (!reaped_) {
        const pid_t ended = waitpid(pid_, &status_, WNOHANG);
        if (ended == pid_ || (ended < 0 && errno != EINTR)) {
            reaped_ = true;
        } else if (Clock::now() >= deadline) {
            return false;
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return true;
}

std::string WorkerProcess::end() const {
    if (WIFSIGNALED(status_)) {
        const int number = WTERMSIG(status_);
        return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    return "exited with status " + std::to_string(WEXITSTATUS(status_));
}

std::string own_program() {
    std::string path(PATH_MAX, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    RS_CHECK(length > 0);
    path.resize(static_cast<size_t>(length));
    return path;
}

namespace {

// Why the parent gave up on a worker, or that it did not have to.
enum class Stop { end_of_output, deadline, cancelled, damaged };

struct Reading {
    Stop stop = Stop::end_of_output;
    std::string problem;  // of damaged text
};

// Passes the worker's output to the recorder until it ends or the parent has had enough.
Reading read_output(int output,
                    TraceRecorder& recorder,
                    const Supervision& supervision,
                    Clock::time_point deadline) {
    std::array<char, 64 * 1024> bytes;
    while (true) {
        if (supervision.cancelled != nullptr && supervision.cancelled->load()) {
            return {Stop::cancelled, ""};
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            return {Stop::deadline, ""};
        }
        pollfd watched{output, POLLIN, 0};
        if (poll(&watched, 1, static_cast<int>(std::min(left, cancel_period).count())) <= 0) {
            continue;
        }
        const ssize_t count = read(output, bytes.data(), bytes.size());
        if (count <= 0) {
            if (count < 0 && errno == EINTR) {
                continue;
            }
            return {};
        }
        const Status status = recorder.push({bytes.data(), static_cast<size_t>(count)});
        supervision.take_text(recorder.take_text());
        if (!status) {
            return {Stop::damaged, status.error().message};
        }
    }
}

Outcome explain(const Reading& reading,
                const WorkerProcess& worker,
                std::chrono::milliseconds deadline) {
    switch (reading.stop) {
        case Stop::deadline:
            return {OutcomeKind::timeout,
                    "not done within " + std::to_string(deadline.count()) +
                        " ms; the worker was killed"};
        case Stop::cancelled:
            return {OutcomeKind::failed, "cancelled"};
        case Stop::damaged:
            return {OutcomeKind::failed, "the worker wrote a damaged trace: " + reading.problem};
        case Stop::end_of_output:
            break;
    }
    return {OutcomeKind::failed, "the worker " + worker.end() + " before its outcome"};
}

}  // namespace

void supervise(TraceRecorder& recorder, const Supervision& supervision) {
    const Clock::time_point deadline = Clock::now() + supervision.deadline;
    auto worker = WorkerProcess::start(supervision.program, print_run(recorder.run()));
    if (!worker) {
        recorder.close({OutcomeKind::failed, worker.error().message});
    } else {
        supervision.started(worker->pid());
        const Reading reading = read_output(worker->output(), recorder, supervision, deadline);
        if (reading.stop != Stop::end_of_output ||
            !worker->wait(std::min(deadline, Clock::now() + exit_grace))) {
            worker->kill();
            worker->wait(Clock::time_point::max());
        }
        recorder.close(explain(reading, *worker, supervision.deadline));
    }
    supervision.take_text(recorder.take_text());
}

namespace {

void write_all(int output, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(output, text.data(), text.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            _exit(1);  // nobody listens any more
        }
        text.remove_prefix(static_cast<size_t>(count));
    }
}

Outcome carry_out(const RunSpec& run, TraceWriter& trace) {
    const auto engine = find_engine(run);
    if (!engine) {
        return {OutcomeKind::failed, engine.error().message};
    }
    const auto schedule = build_schedule(run);
    RS_CHECK(schedule);
    try {
        const auto outcome = (*engine)->run(run, *schedule, trace);
        return outcome ? *outcome : Outcome{OutcomeKind::failed, outcome.error().message};
    } catch (const std::exception& problem) {
        return {OutcomeKind::failed, problem.what()};
    }
}

}  // namespace

int run_worker(const std::string& run_line, int output) {
    const auto run = parse_run(run_line);
    if (!run) {
        return 2;
    }
    TraceWriter trace(*run, [output](std::string_view text) { write_all(output, text); });
    trace.flush();  // a viewer sees at once that it began
    const Outcome outcome = carry_out(*run, trace);
    trace.finish(outcome);
    return outcome.kind == OutcomeKind::ok ? 0 : 1;
}

}  // namespace ringscope
