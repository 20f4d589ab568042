// SPDX-License-Identifier: Apache-2.0
#include "native/server.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>
#include <pthread.h>

#include "native/engine.hpp"
#include "native/http_server.hpp"
#include "native/page_files.hpp"
#include "native/run_queue.hpp"
#include "native/run_store.hpp"
#include "native/token.hpp"
#include "native/worker.hpp"
#include "shared/algorithm.hpp"
#include "shared/arrange.hpp"
#include "shared/json.hpp"

namespace ringscope {
namespace {

constexpr int64_t events_per_run_max = 1'000'000;  // some 60 MB of trace
constexpr std::chrono::milliseconds heartbeat{1'000};
constexpr std::chrono::milliseconds stop_grace{800};

HttpResponse json_response(std::string json, int status = 200) {
    HttpResponse response;
    response.status = status;
    response.content_type = "application/json";
    response.body = std::move(json);
    return response;
}

HttpResponse text_response(std::string text) {
    HttpResponse response;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

HttpResponse refuse(int status, std::string message) {
    return problem_response(status, plain_error(ErrorKind::invalid_argument, std::move(message)));
}

// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(const std::string& header) {
    std::string type = ascii_lower(header.substr(0, header.find(';')));
    type.erase(type.find_last_not_of(" \t") + 1);
    return type;
}

HttpResponse no_such_run(const std::string& id) {
    return problem_response(
        404, invalid_field("id", id, "is not a run of this daemon, or was forgotten since"));
}

// The run line of a body that is exactly {"run": "..."}.
Result<std::string> read_body(const std::string& body) {
    int key_count = 0;
    const auto count_keys = [&key_count](
                                int, nlohmann::json::parse_event_t event, nlohmann::json&) {
        key_count += event == nlohmann::json::parse_event_t::key ? 1 : 0;
        return true;
    };
    const auto json = nlohmann::json::parse(body, count_keys, false);
    if (!json.is_object() || key_count != 1 || !json.contains("run") || !json["run"].is_string()) {
        return plain_error(ErrorKind::invalid_argument,
                           "the body must be {\"run\": \"RUN LINE\"} and nothing else");
    }
    return json["run"].get<std::string>();
}

// A run that this daemon may start.
Result<RunSpec> read_run(const std::string& body) {
    const auto line = read_body(body);
    if (!line) {
        return line.error();
    }
    auto run = parse_run(*line);
    if (!run) {
        return run.error();
    }
    if (const auto engine = find_engine(*run); !engine) {
        return engine.error();
    }
    const int64_t messages = build_schedule(*run)->message_count();
    if (messages > events_per_run_max / run->iterations) {
        return invalid_field("iterations",
                             std::to_string(run->iterations),
                             "must be at most " + std::to_string(events_per_run_max / messages) +
                                 " for a run of " + std::to_string(messages) +
                                 " messages: the daemon keeps " +
                                 std::to_string(events_per_run_max) + " events of a run");
    }
    return run;
}

void append_entry(JsonWriter& json, const RunStore::Entry& entry) {
    json.field("id", std::string_view(entry.id)).field("state", run_state_name(entry.state));
    if (entry.result_json.empty()) {
        json.field("run", std::string_view(print_run(entry.run)));
    }
}

// Lines as one server-sent event: https://html.spec.whatwg.org/multipage/server-sent-events.html
std::string sent_event(std::string_view lines, int64_t last_line) {
    std::string text = "id: " + std::to_string(last_line) + "\n";
    while (!lines.empty()) {
        const size_t end = lines.find('\n');
        text += "data: ";
        text += lines.substr(0, end + 1);
        lines.remove_prefix(end + 1);
    }
    return text + "\n";
}

// How many lines a viewer that comes back has seen.
Result<int64_t> read_last_line(const std::string& header) {
    int64_t line = 0;
    const char* header_end = header.data() + header.size();
    const auto [end, problem] = std::from_chars(header.data(), header_end, line);
    if (!header.empty() && (problem != std::errc{} || end != header_end || line < 0)) {
        return invalid_field("Last-Event-ID", header, "must be the number of a line");
    }
    return line;
}

HttpResponse::Stream next_event(RunStore::Viewer& viewer, std::string& piece) {
    std::string lines;
    switch (viewer.next(lines, heartbeat)) {
        case RunStore::Viewer::State::stopped:
            return HttpResponse::Stream::abort;
        case RunStore::Viewer::State::end:
            piece = "event: end\ndata: {}\n\n";
            return HttpResponse::Stream::end;
        case RunStore::Viewer::State::more:
            break;
    }
    piece = lines.empty() ? ": still there\n\n" : sent_event(lines, viewer.line_count());
    return HttpResponse::Stream::more;
}

class Daemon {
  public:
    Daemon(const ServeOptions& options, PageFiles page)
        : options_(options),
          page_(std::move(page)),
          store_(RunStore::Limits{}),
          queue_(store_, own_program(), queue_limits_),
          http_(routes(), {.viewers_max = static_cast<size_t>(options.viewers_max)}) {}

    int serve();

  private:
    using Answer = HttpResponse (Daemon::*)(const HttpRequest&);

    HttpResponse health(const HttpRequest&) { return text_response("ok\n"); }
    HttpResponse info(const HttpRequest& request);
    HttpResponse start_run(const HttpRequest& request);
    HttpResponse list_runs(const HttpRequest& request);
    HttpResponse show_run(const HttpRequest& request);
    HttpResponse cancel_run(const HttpRequest& request);
    HttpResponse stream_run(const HttpRequest& request);
    HttpResponse show_page(const HttpRequest& request);

    // What the daemon answers. `token`: only to who has it.
    std::vector<HttpRoute> routes() {
        constexpr bool token = true;
        constexpr bool open = false;
        return {
            {"GET", "/healthz", guard(open, &Daemon::health)},
            {"GET", "/api/v1/info", guard(open, &Daemon::info)},
            {"GET", "/api/v1/runs", guard(open, &Daemon::list_runs)},
            {"POST", "/api/v1/runs", guard(token, &Daemon::start_run)},
            {"GET", "/api/v1/runs/:id", guard(open, &Daemon::show_run)},
            {"DELETE", "/api/v1/runs/:id", guard(token, &Daemon::cancel_run)},
            {"GET", "/api/v1/runs/:id/events", guard(open, &Daemon::stream_run)},
            {"GET", "/.*", guard(open, &Daemon::show_page)},
        };
    }

    std::function<HttpResponse(const HttpRequest&)> guard(bool needs_token, Answer answer) {
        return [this, needs_token, answer](const HttpRequest& request) {
            constexpr std::string_view scheme = "bearer ";
            const std::string header = request.header("Authorization");
            const bool known = ascii_lower(header.substr(0, scheme.size())) == scheme &&
                               token_.matches(std::string_view(header).substr(scheme.size()));
            if (needs_token && !known) {
                HttpResponse response =
                    refuse(401,
                           "this needs the token of the address that `ringscope serve` printed: "
                           "send it as Authorization: Bearer TOKEN");
                response.headers.emplace_back("WWW-Authenticate", "Bearer");
                return response;
            }
            return (this->*answer)(request);
        };
    }

    const ServeOptions options_;
    const PageFiles page_;
    const Token token_;
    const RunQueue::Limits queue_limits_;
    RunStore store_;
    RunQueue queue_;
    HttpServer http_;
};

HttpResponse Daemon::info(const HttpRequest&) {
    JsonWriter json;
    json.begin_object()
        .field("version", RINGSCOPE_VERSION)
        .field("http_library", http_library_version());
    json.key("engines").begin_array();
    for (const EngineInfo& engine : engine_infos()) {
        append_engine(json, engine);
    }
    json.end_array().key("limits").begin_object();
    json.field("running_max", 1)
        .field("waiting_max", queue_limits_.waiting_max)
        .field("run_ms_max", queue_limits_.deadline.count())
        .field("events_per_run_max", events_per_run_max)
        .field("viewers_max", options_.viewers_max)
        .end_object()
        .end_object();
    return json_response(json.text());
}

HttpResponse Daemon::start_run(const HttpRequest& request) {
    if (media_type(request.header("Content-Type")) != "application/json") {
        return refuse(415, "the Content-Type must be application/json");
    }
    const auto run = read_run(request.body);
    if (!run) {
        return problem_response(400, run.error());
    }
    const auto id = queue_.submit(*run);
    if (!id) {
        HttpResponse response = refuse(503, "too many runs are waiting");
        response.headers.emplace_back("Retry-After", "5");
        return response;
    }
    const std::string location = "/api/v1/runs/" + *id;
    JsonWriter json;
    json.begin_object()
        .field("id", std::string_view(*id))
        .field("run", std::string_view(print_run(*run)));
    json.field("events", std::string_view(location + "/events")).end_object();
    HttpResponse response = json_response(json.text(), 201);
    response.headers.emplace_back("Location", location);
    return response;
}

HttpResponse Daemon::list_runs(const HttpRequest&) {
    JsonWriter json;
    json.begin_array();
    for (const RunStore::Entry& entry : store_.list()) {
        json.begin_object()
            .field("id", std::string_view(entry.id))
            .field("run", std::string_view(print_run(entry.run)));
        json.field("state", run_state_name(entry.state)).end_object();
    }
    json.end_array();
    return json_response(json.text());
}

HttpResponse Daemon::show_run(const HttpRequest& request) {
    const auto entry = store_.find(request.id);
    if (!entry) {
        return no_such_run(request.id);
    }
    JsonWriter json;
    json.begin_object();
    append_entry(json, *entry);
    std::string text = json.text();
    if (!entry->result_json.empty()) {
        text += "," + entry->result_json;
    }
    return json_response(text + "}");
}

HttpResponse Daemon::cancel_run(const HttpRequest& request) {
    if (!store_.find(request.id)) {
        return no_such_run(request.id);
    }
    queue_.cancel(request.id);
    return show_run(request);
}

HttpResponse Daemon::stream_run(const HttpRequest& request) {
    const auto line = read_last_line(request.header("Last-Event-ID"));
    if (!line) {
        return problem_response(400, line.error());
    }
    const auto viewer = store_.view(request.id, *line);
    if (!viewer) {
        return no_such_run(request.id);
    }
    HttpResponse response;
    response.content_type = "text/event-stream";
    response.stream = [viewer = *viewer](std::string& piece) mutable {
        return next_event(viewer, piece);
    };
    return response;
}

HttpResponse Daemon::show_page(const HttpRequest& request) {
    if (page_.empty() && request.path == "/") {
        return text_response(
            "Ringscope's daemon. The page is not here: start it with --page FOLDER.\n"
            "What it can do: /api/v1/info\n");
    }
    const PageFile* file = page_.find(request.path);
    if (file == nullptr) {
        return refuse(404, "there is nothing of that name");
    }
    HttpResponse response;
    response.headers.emplace_back("ETag", file->etag);
    if (request.header("If-None-Match") == file->etag) {
        response.status = 304;
        return response;
    }
    response.content_type = file->content_type;
    response.body = file->content;
    return response;
}

int Daemon::serve() {
    const auto port = http_.bind(options_.port);
    if (!port) {
        std::fprintf(stderr, "ringscope: %s\n", port.error().message.c_str());
        return 3;
    }
    std::future<void> served = std::async(std::launch::async, [this] { http_.serve(); });
    std::printf("Open http://127.0.0.1:%d/#token=%s\n", *port, token_.text().c_str());
    std::fflush(stdout);

    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    int signal = 0;
    sigwait(&ends, &signal);

    queue_.stop();
    store_.stop();
    http_.stop();
    if (served.wait_for(stop_grace) == std::future_status::timeout) {
        http_.drop();  // viewers that do not take the end of their stream
    }
    return 0;
}

}  // namespace

int serve(const ServeOptions& options) {
    // Before there is a second thread, so that none of them takes the signals that end the daemon.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    std::signal(SIGPIPE, SIG_IGN);

    PageFiles page;
    if (!options.page.empty()) {
        auto loaded = PageFiles::load(options.page);
        if (!loaded) {
            std::fprintf(stderr, "ringscope: %s\n", loaded.error().message.c_str());
            return 2;
        }
        page = std::move(*loaded);
    }
    return Daemon(options, std::move(page)).serve();
}

}  // namespace ringscope
