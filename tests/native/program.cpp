// SPDX-License-Identifier: Apache-2.0
#include "tests/native/program.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringscope::testing {
namespace {

constexpr int patience_ms = 30'000;

std::string read_all(int file) {
    std::string text;
    std::array<char, 4096> bytes;
    for (ssize_t count = 0;
         (count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0;) {
        text.append(bytes.data(), static_cast<size_t>(count));
    }
    return text;
}

pid_t spawn(std::vector<std::string> arguments, int output, int errors) {
    arguments.insert(arguments.begin(), RINGSCOPE_PROGRAM);
    std::vector<char*> words;
    for (std::string& argument : arguments) {
        words.push_back(argument.data());
    }
    words.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(output, STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        execv(words[0], words.data());
        _exit(126);
    }
    return pid;
}

int status_of(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The fields of /proc/PID/stat after the command's name: state, parent, ...
std::vector<std::string> process_fields(const std::filesystem::path& process) {
    std::ifstream file(process / "stat");
    std::string line;
    std::getline(file, line);
    std::vector<std::string> fields;
    std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    for (std::string field; rest >> field;) {
        fields.push_back(field);
    }
    return fields;
}

std::string without_chunks(std::string_view body) {
    std::string text;
    while (!body.empty()) {
        const size_t line_end = body.find("\r\n");
        const auto size = std::strtoul(std::string(body.substr(0, line_end)).c_str(), nullptr, 16);
        if (line_end == std::string_view::npos || size == 0) {
            break;
        }
        text += body.substr(line_end + 2, size);
        body.remove_prefix(std::min(body.size(), line_end + 2 + size + 2));
    }
    return text;
}

}  // namespace

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

bool alive(pid_t pid) {
    const auto fields = process_fields("/proc/" + std::to_string(pid));
    return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (std::all_of(
                name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
            const auto fields = process_fields(entry.path());
            if (fields.size() > 1 && fields[1] == std::to_string(parent)) {
                children.push_back(std::stoi(name));
            }
        }
    }
    return children;
}

Finished run_program(const std::vector<std::string>& arguments) {
    const int output = memfd_create("output", MFD_CLOEXEC);
    const int errors = memfd_create("errors", MFD_CLOEXEC);
    Finished finished;
    finished.status = status_of(spawn(arguments, output, errors));
    finished.output = read_all(output);
    finished.errors = read_all(errors);
    close(output);
    close(errors);
    return finished;
}

Connection::Connection(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

Connection::~Connection() {
    if (socket_ >= 0) {
        close(socket_);
    }
}

void Connection::send(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            return;  // refused in the middle; the answer says why
        }
        text.remove_prefix(static_cast<size_t>(count));
    }
}

// False when nothing more will come.
bool Connection::read_more() {
    std::array<char, 16384> bytes;
    pollfd watched{socket_, POLLIN, 0};
    if (poll(&watched, 1, patience_ms) <= 0) {
        ADD_FAILURE() << "no answer; so far: " << received_;
        return false;
    }
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    received_.append(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return count > 0;
}

const std::string& Connection::read_until(std::string_view text) {
    while (received_.find(text) == std::string::npos && read_more()) {
    }
    return received_;
}

Response Connection::read_response() {
    Response response;
    const std::string head = read_until("\r\n\r\n").substr(0, received_.find("\r\n\r\n"));
    if (!head.starts_with("HTTP/1.1 ") || head.size() == received_.size()) {
        return response;
    }
    received_.erase(0, head.size() + 4);
    response.status = std::stoi(head.substr(9, 3));
    std::istringstream lines(head.substr(head.find('\n') + 1));
    for (std::string line; std::getline(lines, line);) {
        const size_t colon = line.find(": ");
        std::string name = line.substr(0, colon);
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
            return std::tolower(c);
        });
        response.headers[name] = line.substr(colon + 2, line.find('\r') - colon - 2);
    }
    const auto length = response.headers.find("content-length");
    const size_t body_bytes =
        length == response.headers.end() ? std::string::npos : std::stoul(length->second);
    while (received_.size() < body_bytes && read_more()) {
    }
    response.body = std::exchange(received_, "");
    if (response.headers["transfer-encoding"] == "chunked") {
        response.body = without_chunks(response.body);
    }
    return response;
}

Daemon::Daemon(const std::vector<std::string>& options)
    : errors_(memfd_create("errors", MFD_CLOEXEC)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    std::vector<std::string> arguments{"serve", "--port", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    pid_ = spawn(arguments, ends[1], errors_);
    close(ends[1]);
    output_ = ends[0];
    for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) {
        first_line_ += c;
    }
    const size_t hash = first_line_.find("/#token=");
    if (!first_line_.starts_with("Open http://127.0.0.1:") || hash == std::string::npos) {
        ADD_FAILURE() << "the daemon said: " << first_line_ << errors();
        return;
    }
    port_ = std::stoi(first_line_.substr(22));
    token_ = first_line_.substr(hash + 8);
}

Daemon::~Daemon() {
    if (pid_ > 0) {
        end(SIGKILL);
    }
    close(output_);
    close(errors_);
}

std::string Daemon::errors() const {
    return read_all(errors_);
}

Response Daemon::request(const std::string& line,
                         const std::vector<std::string>& headers,
                         const std::string& body) const {
    std::string text = line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                       "\r\nConnection: close\r\n";
    for (const std::string& header : headers) {
        text += header + "\r\n";
    }
    if (!body.empty()) {
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    Connection connection(port_);
    connection.send(text + "\r\n" + body);
    return connection.read_response();
}

Response Daemon::get(const std::string& path, const std::vector<std::string>& headers) const {
    return request("GET " + path, headers);
}

Response Daemon::start(const std::string& body) const {
    return request("POST /api/v1/runs",
                   {"Authorization: Bearer " + token_, "Content-Type: application/json"},
                   body);
}

std::string Daemon::start_run(const std::string& run_line) const {
    const Response response = start(R"({"run": ")" + run_line + R"("})");
    EXPECT_EQ(response.status, 201) << response.body;
    return response.status == 201 ? nlohmann::json::parse(response.body)["id"].get<std::string>()
                                  : "";
}

std::string Daemon::wait_done(const std::string& id) const {
    Response response;
    EXPECT_TRUE(eventually([&] {
        response = get("/api/v1/runs/" + id);
        return response.status != 200 ||
               response.body.find(R"("state":"done")") != std::string::npos;
    }));
    return response.body;
}

int Daemon::end(int signal) {
    kill(pid_, signal);
    return status_of(std::exchange(pid_, -1));
}

}  // namespace ringscope::testing
