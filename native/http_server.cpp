// SPDX-License-Identifier: Apache-2.0
#include "native/http_server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

// The only file that includes it: it takes half a minute to compile.
#define CPPHTTPLIB_LISTEN_BACKLOG 512  // viewers all come at once when a daemon restarts
#include <httplib.h>

#include "shared/json.hpp"

namespace ringscope {
namespace {

constexpr int keep_alive_s = 5;
constexpr int read_timeout_s = 5;
constexpr int write_timeout_s = 5;  // then a viewer that does not read is dropped
constexpr int retry_after_s = 2;

constexpr std::string_view content_security_policy =
    "default-src 'none'; "
    "script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self'; "
    "img-src 'self' data: blob:; "
    "connect-src 'self'; "
    "font-src 'self'; "
    "manifest-src 'self'; "
    "base-uri 'none'; "
    "form-action 'none'; "
    "frame-ancestors 'none'";

// A thread for each connection, on demand, up to a limit; idle ones are used again. The library's
// own pool can leave a connection waiting behind a stream although it could have started a thread.
class ConnectionThreads : public httplib::TaskQueue {
  public:
    explicit ConnectionThreads(size_t thread_count_max) : thread_count_max_(thread_count_max) {}

    bool enqueue(std::function<void()> task) override {
        const std::lock_guard lock(mutex_);
        if (stopped_ || tasks_.size() > thread_count_max_) {
            return false;  // the library closes the connection
        }
        tasks_.push_back(std::move(task));
        if (tasks_.size() > idle_count_ && threads_.size() < thread_count_max_) {
            try {
                threads_.emplace_back([this] { work(); });
            } catch (const std::system_error&) {  // the system gives no more
                tasks_.pop_back();
                return false;
            }
        }
        changed_.notify_one();
        return true;
    }

    void shutdown() override {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            ++idle_count_;
            changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
            --idle_count_;
            if (tasks_.empty()) {
                return;
            }
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }

    const size_t thread_count_max_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    size_t idle_count_ = 0;
    bool stopped_ = false;
};

// The library's server, which also knows its connections, so that one that never sends the rest of
// its request cannot hold up the end.
class ConnectionServer : public httplib::Server {
  public:
    // Shuts all connections, and those to come: SHUT_RD lets what is being written come to its end,
    // SHUT_RDWR does not.
    void shut(int how) {
        const std::lock_guard lock(mutex_);
        shut_ = how;
        for (const int socket : sockets_) {
            ::shutdown(socket, how);
        }
    }

  private:
    // As the library does it, between adding the socket to the list and taking it off.
    bool process_and_close_socket(int socket) override {
        {
            const std::lock_guard lock(mutex_);
            sockets_.insert(socket);
            if (shut_) {
                ::shutdown(socket, *shut_);
            }
        }
        std::string address;
        int port = 0;
        httplib::detail::get_remote_ip_and_port(socket, address, port);
        const bool done = httplib::detail::process_server_socket(
            svr_sock_,
            socket,
            keep_alive_max_count_,
            keep_alive_timeout_sec_,
            read_timeout_sec_,
            read_timeout_usec_,
            write_timeout_sec_,
            write_timeout_usec_,
            [&](httplib::Stream& stream, bool last, bool& closed) {
                return process_request(stream, address, port, "", 0, last, closed, nullptr);
            });
        {
            const std::lock_guard lock(mutex_);
            sockets_.erase(socket);
        }
        httplib::detail::shutdown_socket(socket);
        httplib::detail::close_socket(socket);
        return done;
    }

    std::mutex mutex_;
    std::set<int> sockets_;
    std::optional<int> shut_;
};

Error refusal(std::string message) {
    return plain_error(ErrorKind::invalid_argument, std::move(message));
}

void write_response(const HttpResponse& from, httplib::Response& to) {
    to.status = from.status;
    for (const auto& [name, value] : from.headers) {
        to.set_header(name, value);
    }
    if (!from.body.empty()) {
        to.set_content(from.body, from.content_type);
    }
}

HttpResponse busy_response(const std::string& message) {
    HttpResponse response = problem_response(503, refusal(message));
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
    return response;
}

}  // namespace

HttpResponse problem_response(int status, const Error& error) {
    std::string json = error_json(error);
    json.insert(1, "\"status\":" + std::to_string(status) + ",");
    HttpResponse response;
    response.status = status;
    response.content_type = "application/problem+json";
    response.body = std::move(json);
    return response;
}

std::string ascii_lower(std::string text) {
    for (char& c : text) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

std::string_view http_library_version() {
    return CPPHTTPLIB_VERSION;
}

class HttpServer::Implementation {
  public:
    Implementation(std::vector<HttpRoute> routes, HttpLimits limits) : limits_(limits) {
        set_limits();
        set_headers();
        server_.set_pre_routing_handler(
            [this](const httplib::Request& request, httplib::Response& response) {
                settle_length(request);
                const auto refused = refuse(request);
                if (refused) {
                    write_response(*refused, response);
                }
                return refused ? httplib::Server::HandlerResponse::Handled
                               : httplib::Server::HandlerResponse::Unhandled;
            });
        server_.set_exception_handler(
            [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
                write_response(problem_response(500, refusal("the daemon failed to answer")),
                               response);
            });
        server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (response.body.empty()) {
                write_response(problem_response(response.status,
                                                refusal(httplib::status_message(response.status))),
                               response);
            }
        });
        for (HttpRoute& route : routes) {
            add(std::move(route));
        }
    }

    Result<int> bind(int port) {
        const int bound = port == 0 ? server_.bind_to_any_port("127.0.0.1")
                          : server_.bind_to_port("127.0.0.1", port) ? port
                                                                    : -1;
        if (bound < 0 && errno != EADDRINUSE) {
            return plain_error(ErrorKind::unsupported,
                               "port " + std::to_string(port) +
                                   " cannot be listened on: " + std::strerror(errno) +
                                   "; use --port N with another one, from 1024 on without root");
        }
        if (bound < 0) {
            return plain_error(ErrorKind::unsupported,
                               "port " + std::to_string(port) +
                                   " is taken; stop what listens there or use --port N");
        }
        for (const std::string name : {"127.0.0.1", "localhost", "[::1]"}) {
            hosts_.push_back(name + ":" + std::to_string(bound));
            if (bound == 80) {  // which browsers leave out
                hosts_.push_back(name);
            }
        }
        return bound;
    }

    void serve() { server_.listen_after_bind(); }

    void stop() {
        server_.wait_until_ready();
        server_.stop();
        server_.shut(SHUT_RD);
    }

    void drop() { server_.shut(SHUT_RDWR); }

  private:
    void set_limits() {
        server_.new_task_queue = [this] {
            return new ConnectionThreads(limits_.viewers_max + limits_.other_threads);
        };
        // Without SO_REUSEPORT: with it, a second daemon would silently share the port.
        server_.set_socket_options(
            [](int socket) { httplib::set_socket_opt(socket, SOL_SOCKET, SO_REUSEADDR, 1); });
        server_.set_tcp_nodelay(true);
        server_.set_keep_alive_max_count(1000);
        server_.set_keep_alive_timeout(keep_alive_s);
        server_.set_read_timeout(read_timeout_s);
        server_.set_write_timeout(write_timeout_s);
        server_.set_payload_max_length(limits_.body_bytes_max);
    }

    void set_headers() {
        server_.set_default_headers({
            {"Content-Security-Policy", std::string(content_security_policy)},
            {"X-Content-Type-Options", "nosniff"},
            {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Opener-Policy", "same-origin"},
            {"Cross-Origin-Resource-Policy", "same-origin"},
            {"Cache-Control", "no-cache"},
        });
    }

    // A request without a length has no body (RFC 9112, section 6.3). The library knows that, but
    // would still wait for one after its answer, and take the next request on the connection for
    // it.
    static void settle_length(const httplib::Request& request) {
        if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
            const_cast<httplib::Request&>(request).set_header("Content-Length",
                                                              "0");  // the library's own object
        }
    }

    std::optional<HttpResponse> refuse(const httplib::Request& request) const {
        const auto ours = [this](std::string_view name) {
            const std::string lower = ascii_lower(std::string(name));
            return std::find(hosts_.begin(), hosts_.end(), lower) != hosts_.end();
        };
        if (request.get_header_value_count("Host") != 1 ||
            !ours(request.get_header_value("Host"))) {
            return problem_response(
                421, refusal("the Host header must name this daemon: " + hosts_.front()));
        }
        constexpr std::string_view scheme = "http://";
        const std::string origin = request.get_header_value("Origin");
        if (request.has_header("Origin") &&
            (request.get_header_value_count("Origin") != 1 || !origin.starts_with(scheme) ||
             !ours(std::string_view(origin).substr(scheme.size())))) {
            return problem_response(403, refusal("this daemon answers its own page only"));
        }
        if (request.has_header("Transfer-Encoding")) {
            return problem_response(411, refusal("a body must come with its Content-Length"));
        }
        if (request.has_header("Content-Encoding")) {
            return problem_response(415, refusal("a body must not be compressed"));
        }
        if (request.get_header_value_u64("Content-Length") > limits_.body_bytes_max) {
            return problem_response(
                413,
                refusal("a body may have " + std::to_string(limits_.body_bytes_max) + " bytes"));
        }
        if (request.get_header_value("Range").find(',') != std::string::npos) {
            return problem_response(416, refusal("one range at a time"));
        }
        return std::nullopt;
    }

    void add(HttpRoute route) {
        const auto handler = [this, handle = std::move(route.handler)](
                                 const httplib::Request& request, httplib::Response& response) {
            HttpRequest simple;
            simple.path = request.path;
            simple.body = request.body;
            const auto id = request.path_params.find("id");
            simple.id = id == request.path_params.end() ? "" : id->second;
            simple.header = [&request](const char* name) { return request.get_header_value(name); };
            answer(handle(simple), response);
        };
        const std::string pattern(route.pattern);
        if (route.method == "GET") {
            server_.Get(pattern, handler);
        } else if (route.method == "POST") {
            server_.Post(pattern, handler);
        } else {
            RS_CHECK(route.method == "DELETE");
            server_.Delete(pattern, handler);
        }
    }

    void answer(const HttpResponse& from, httplib::Response& to) {
        if (!from.stream) {
            write_response(from, to);
            return;
        }
        if (viewer_count_.fetch_add(1) >= limits_.viewers_max) {
            --viewer_count_;
            write_response(
                busy_response("too many viewers: at most " + std::to_string(limits_.viewers_max)),
                to);
            return;
        }
        write_response(from, to);
        to.set_chunked_content_provider(
            from.content_type,
            [stream = from.stream](size_t, httplib::DataSink& sink) {
                std::string piece;
                const HttpResponse::Stream state = stream(piece);
                if (!piece.empty() && !sink.write(piece.data(), piece.size())) {
                    return false;
                }
                if (state == HttpResponse::Stream::end) {
                    sink.done();
                }
                return state != HttpResponse::Stream::abort;
            },
            [this](bool) { --viewer_count_; });
    }

    const HttpLimits limits_;
    ConnectionServer server_;
    std::vector<std::string> hosts_;  // as a Host header may name us; known once bound
    std::atomic<size_t> viewer_count_{0};
};

HttpServer::HttpServer(std::vector<HttpRoute> routes, HttpLimits limits)
    : implementation_(std::make_unique<Implementation>(std::move(routes), limits)) {}

HttpServer::~HttpServer() = default;

Result<int> HttpServer::bind(int port) {
    return implementation_->bind(port);
}

void HttpServer::serve() {
    implementation_->serve();
}

void HttpServer::stop() {
    implementation_->stop();
}

void HttpServer::drop() {
    implementation_->drop();
}

}  // namespace ringscope
