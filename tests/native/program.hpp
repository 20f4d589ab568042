// SPDX-License-Identifier: Apache-2.0
// For tests that start the real executable: run it to its end, or talk to it as a daemon over
// sockets. Waits have a generous limit each; nothing asserts how long anything took.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace ringscope::testing {

// Waits until it holds, for at most half a minute. Returns whether it does.
bool eventually(const std::function<bool()>& holds);

// Whether there is such a process and it is not only waiting to be reaped.
bool alive(pid_t pid);

// The processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent);

struct Finished {
    int status = -1;  // exit status; 128 + the signal's number when one ended it
    std::string output;
    std::string errors;
};

// Runs the executable with these arguments.
Finished run_program(const std::vector<std::string>& arguments);

struct Response {
    int status = 0;                              // 0: no answer
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

// A connection to 127.0.0.1.
class Connection {
  public:
    explicit Connection(int port);
    ~Connection();
    Connection(Connection&& other) noexcept;
    Connection(const Connection&) = delete;

    void send(std::string_view text);
    // Until `text` has come, the other side closed, or half a minute without a byte passed. Returns
    // all so far.
    const std::string& read_until(std::string_view text);
    Response read_response();  // as long as it says it is, or until the other side closes

  private:
    bool read_more();

    int socket_ = -1;
    std::string received_;
};

// `ringscope serve` on a free port. Killed by the destructor when it still lives.
class Daemon {
  public:
    explicit Daemon(const std::vector<std::string>& options = {});
    ~Daemon();

    int port() const { return port_; }
    pid_t pid() const { return pid_; }
    const std::string& token() const { return token_; }
    const std::string& first_line() const { return first_line_; }
    std::string errors() const;  // what it wrote to standard error so far

    // `headers`: whole lines without their end. Host and Connection are there already.
    Response request(const std::string& line,
                     const std::vector<std::string>& headers = {},
                     const std::string& body = "") const;
    Response get(const std::string& path, const std::vector<std::string>& headers = {}) const;
    Response start(const std::string& body) const;             // POST with token and type
    std::string start_run(const std::string& run_line) const;  // returns the id
    // GETs the run until it is done and returns its JSON.
    std::string wait_done(const std::string& id) const;

    // Sends the signal and waits for the end. Returns the exit status as in Finished.
    int end(int signal);

  private:
    pid_t pid_ = -1;
    int output_ = -1;
    int errors_ = -1;
    int port_ = 0;
    std::string token_;
    std::string first_line_;
};

}  // namespace ringscope::testing
