// SPDX-License-Identifier: Apache-2.0
// The daemon as a real process, over real sockets: who gets in, what a run looks like from outside,
// and what is left when something dies.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"
#include "tests/native/program.hpp"

namespace ringscope {
namespace {

using nlohmann::json;
using testing::alive;
using testing::children_of;
using testing::Connection;
using testing::Daemon;
using testing::eventually;
using testing::Response;

// Takes minutes when nobody ends it.
const std::string long_run = "engine=threads&ranks=16&bytes=4MiB&iterations=1000";
const std::string short_run = "engine=threads&ranks=4&bytes=1MiB&iterations=20";

struct Message {
    std::string event;
    std::string id;
    std::string data;  // lines, each with its end
};

// The messages of a stream as a browser would hand them out; comments are left out.
std::vector<Message> parse_stream(const std::string& text) {
    std::vector<Message> messages;
    std::istringstream stream(text);
    Message message;
    for (std::string line; std::getline(stream, line);) {
        if (line.empty()) {
            if (!message.data.empty()) {
                messages.push_back(message);
            }
            message = {};
        } else if (line.starts_with("data: ")) {
            message.data += line.substr(6) + "\n";
        } else if (line.starts_with("id: ")) {
            message.id = line.substr(4);
        } else if (line.starts_with("event: ")) {
            message.event = line.substr(7);
        } else {
            EXPECT_TRUE(line.starts_with(":")) << line;
        }
    }
    return messages;
}

// The trace that a stream carried; the stream must have ended as it should.
std::string trace_of(const std::vector<Message>& messages) {
    std::string text;
    for (const Message& message : messages) {
        text += message.event.empty() ? message.data : "";
    }
    EXPECT_FALSE(messages.empty());
    EXPECT_EQ(messages.empty() ? "" : messages.back().event, "end");
    return text;
}

pid_t wait_for_worker(const Daemon& daemon) {
    std::vector<pid_t> children;
    EXPECT_TRUE(eventually([&] { return !(children = children_of(daemon.pid())).empty(); }));
    return children.empty() ? -1 : children.front();
}

// Until the worker has sent its first events.
void wait_for_events(const Daemon& daemon, const std::string& id) {
    Connection viewer(daemon.port());
    viewer.send("GET /api/v1/runs/" + id + "/events HTTP/1.1\r\nHost: localhost:" +
                std::to_string(daemon.port()) + "\r\n\r\n");
    EXPECT_NE(viewer.read_until("data: reduce").find("data: reduce"), std::string::npos);
}

TEST(Daemon, PrintsOneLineWithAddressAndToken) {
    Daemon daemon;
    EXPECT_EQ(
        daemon.first_line(),
        "Open http://127.0.0.1:" + std::to_string(daemon.port()) + "/#token=" + daemon.token());
    EXPECT_EQ(daemon.token().size(), 64U);
    const Response health = daemon.get("/healthz");
    EXPECT_EQ(health.status, 200);
    EXPECT_EQ(health.body, "ok\n");
    const json info = json::parse(daemon.get("/api/v1/info").body);
    EXPECT_EQ(info["engines"][1]["name"], "threads");
    EXPECT_EQ(info["limits"]["viewers_max"], 64);
}

TEST(Daemon, ATakenPortIsSaidSo) {
    Daemon daemon;
    const std::string port = std::to_string(daemon.port());
    const auto second = testing::run_program({"serve", "--port", port});
    EXPECT_EQ(second.status, 3);
    EXPECT_EQ(second.output, "");
    EXPECT_EQ(second.errors,
              "ringscope: port " + port + " is taken; stop what listens there or use --port N\n");
}

TEST(Daemon, EveryAnswerCarriesTheSecurityHeaders) {
    Daemon daemon;
    for (const char* line :
         {"GET /healthz", "GET /nothing", "POST /api/v1/runs", "PUT /healthz", "BREW /coffee"}) {
        Response response = daemon.request(line);
        EXPECT_TRUE(response.headers["content-security-policy"].starts_with(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"))
            << line;
        EXPECT_NE(response.headers["content-security-policy"].find("frame-ancestors 'none'"),
                  std::string::npos);
        EXPECT_EQ(response.headers["x-content-type-options"], "nosniff") << line;
        EXPECT_EQ(response.headers["referrer-policy"], "no-referrer") << line;
        EXPECT_EQ(response.headers["cross-origin-opener-policy"], "same-origin") << line;
        EXPECT_EQ(response.headers["cache-control"], "no-cache") << line;
        EXPECT_EQ(response.headers.count("access-control-allow-origin"), 0U) << line;
        if (response.status >= 400) {
            EXPECT_EQ(response.headers["content-type"], "application/problem+json") << line;
            EXPECT_EQ(json::parse(response.body)["status"], response.status);
        }
    }
}

struct Knock {
    const char* name;
    std::string request;  // @ stands for the port, $ for the token
    int status;
};

TEST(Daemon, LetsOnlyItsOwnPageIn) {
    Daemon daemon;
    const std::string post =
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:@\r\nConnection: close\r\n";
    const std::string token = "Authorization: Bearer $\r\n";
    const std::string type = "Content-Type: application/json\r\n";
    const std::string get = "GET /healthz HTTP/1.1\r\nConnection: close\r\n";
    const std::string ours = "Host: localhost:@\r\n";
    const std::vector<Knock> knocks{
        {"our page", get + ours + "Origin: http://localhost:@\r\n\r\n", 200},
        {"our address", get + "Host: [::1]:@\r\n\r\n", 200},
        {"our address in capitals", get + "Host: LOCALHOST:@\r\n\r\n", 200},
        {"no Host", get + "\r\n", 421},
        {"two Hosts", get + ours + ours + "\r\n", 421},
        {"a foreign and our Host", get + "Host: evil.example\r\n" + ours + "\r\n", 421},
        {"a foreign Host", get + "Host: evil.example:@\r\n\r\n", 421},
        {"a Host without port", get + "Host: 127.0.0.1\r\n\r\n", 421},
        {"a Host with another port", get + "Host: 127.0.0.1:1\r\n\r\n", 421},
        {"an empty Host", get + "Host: \r\n\r\n", 421},
        {"a foreign Origin", get + ours + "Origin: http://evil.example\r\n\r\n", 403},
        {"our Origin with another scheme", get + ours + "Origin: https://localhost:@\r\n\r\n", 403},
        {"the null Origin", get + ours + "Origin: null\r\n\r\n", 403},
        {"two Origins",
         get + ours + "Origin: http://localhost:@\r\nOrigin: http://localhost:@\r\n\r\n",
         403},
        {"several ranges", get + ours + "Range: bytes=0-1,0-1\r\n\r\n", 416},
        {"no token", post + type + "Content-Length: 2\r\n\r\n{}", 401},
        {"a wrong token",
         post + type + "Authorization: Bearer 1234\r\nContent-Length: 2\r\n\r\n{}",
         401},
        {"a token without scheme",
         post + type + "Authorization: $\r\nContent-Length: 2\r\n\r\n{}",
         401},
        {"a token in the query",
         "POST /api/v1/runs?token=$ HTTP/1.1\r\nConnection: close\r\n" + ours + type +
             "Content-Length: 2\r\n\r\n{}",
         401},
        {"no content type", post + token + "Content-Length: 2\r\n\r\n{}", 415},
        {"a form",
         post + token +
             "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}",
         415},
        {"plain text",
         post + token + "Content-Type: text/plain; application/json\r\nContent-Length: 2\r\n\r\n{}",
         415},
        {"a media type in capitals, with a charset",
         post + token +
             "Content-Type: Application/JSON ; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
         400},  // about the body, so the type was taken
        {"a chunked body",
         post + token + type + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         411},
        {"a length and chunks",
         post + token + type + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400},
        {"a compressed body",
         post + token + type + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
         415},
        {"a huge body", post + token + type + "Content-Length: 99999999999\r\n\r\n{", 413},
        {"a negative length", post + token + type + "Content-Length: -1\r\n\r\n{}", 400},
        {"two lengths",
         post + token + type + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
         400},
        {"a long header", get + ours + "X-Long: " + std::string(200'000, 'x') + "\r\n\r\n", 400},
        {"too many headers",
         get + ours +
             [] {
                 std::string headers;
                 for (int i = 0; i < 5000; ++i) {
                     headers += "X-" + std::to_string(i) + ": 1\r\n";
                 }
                 return headers;
             }() +
             "\r\n",
         400},
        {"a body of a long address",
         "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n" + ours + "\r\n",
         414},
        {"a proxy request",
         "GET http://evil.example/ HTTP/1.1\r\nConnection: close\r\n" + ours + "\r\n",
         404},
        {"CONNECT",
         "CONNECT evil.example:80 HTTP/1.1\r\nConnection: close\r\n" + ours + "\r\n",
         400},
        {"TRACE", "TRACE / HTTP/1.1\r\nConnection: close\r\n" + ours + "\r\n", 400},
        {"a preflight",
         "OPTIONS /api/v1/runs HTTP/1.1\r\nConnection: close\r\n" + ours +
             "Origin: http://evil.example\r\n\r\n",
         403},
    };
    for (const Knock& knock : knocks) {
        std::string text = knock.request;
        for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;) {
            text.replace(at, 1, std::to_string(daemon.port()));
        }
        for (size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
            text.replace(at, 1, daemon.token());
        }
        Connection connection(daemon.port());
        connection.send(text);
        EXPECT_EQ(connection.read_response().status, knock.status) << knock.name;
    }
    EXPECT_EQ(json::parse(daemon.get("/api/v1/runs").body).size(), 0U) << "something was started";
}

TEST(Daemon, ABodyIsARunLineAndNothingElse) {
    Daemon daemon;
    for (const char* body : {"",
                             "x",
                             "[]",
                             "{}",
                             "null",
                             R"({"run": 1})",
                             R"({"run": null})",
                             R"({"run": ["ranks=4"]})",
                             R"({"run": "engine=threads", "command": "ls"})",
                             R"({"run": "engine=threads", "run": "engine=threads"})",
                             R"({"run": "engine=threads"} x)",
                             R"({"run": "engine=threads)"}) {
        const Response response = daemon.start(body);
        EXPECT_EQ(response.status, 400) << body << ": " << response.body;
        EXPECT_NE(response.body.find("the body must be"), std::string::npos)
            << body << ": " << response.body;
    }
}

struct BadRun {
    std::string line;
    std::string field;
    std::string value;
};

TEST(Daemon, ABadRunLineIsExplainedByField) {
    Daemon daemon;
    const std::vector<BadRun> bad_runs{
        {"engine=threads&ranks=0", "ranks", "0"},
        {"engine=threads&ranks=4097", "ranks", "4097"},
        {"engine=threads&ranks=257", "ranks", "257"},
        {"engine=threads&ranks=1e9", "ranks", "1e9"},
        {"engine=threads&bytes=3", "bytes", "3"},
        {"engine=threads&bytes=99999999999999999999", "bytes", "99999999999999999999"},
        {"engine=threads&ranks=64&bytes=1TiB", "bytes", "1TiB"},
        {"engine=threads&iterations=1001", "iterations", "1001"},
        {"engine=threads&ranks=128&bytes=4KiB&iterations=100", "iterations", "100"},
        {"engine=threads&shell=ls", "shell", "ls"},
        {"engine=threads&set=rank.0.start:1us", "set", "rank.0.start:1us"},
        {"engine=cuda", "engine", "cuda"},
        {"ranks=4", "engine", "simulator"},
    };
    for (const BadRun& bad : bad_runs) {
        const Response response = daemon.start(R"({"run": ")" + bad.line + R"("})");
        EXPECT_EQ(response.status, 400) << bad.line;
        const json problem = json::parse(response.body);
        EXPECT_EQ(problem["field"], bad.field) << response.body;
        EXPECT_EQ(problem["value"], bad.value) << response.body;
        EXPECT_FALSE(problem["allowed"].get<std::string>().empty());
    }
    EXPECT_EQ(json::parse(daemon.get("/api/v1/runs").body).size(), 0U);
}

TEST(Daemon, AnUnknownRunIsNotFound) {
    Daemon daemon;
    const std::string token = "Authorization: Bearer " + daemon.token();
    EXPECT_EQ(daemon.get("/api/v1/runs/0123456789abcdef").status, 404);
    EXPECT_EQ(daemon.get("/api/v1/runs/0123456789abcdef/events").status, 404);
    EXPECT_EQ(daemon.request("DELETE /api/v1/runs/0123456789abcdef", {token}).status, 404);
    EXPECT_EQ(daemon.request("DELETE /api/v1/runs/0123456789abcdef").status, 401);
    EXPECT_EQ(daemon.get("/api/v1/runs/%0d%0aX-Injected:%201").headers.count("x-injected"), 0U);
}

TEST(Daemon, ARequestWithoutALengthEndsWithItsHeaders) {
    Daemon daemon;
    const std::string id = daemon.start_run(short_run);
    daemon.wait_done(id);
    const std::string host = "Host: 127.0.0.1:" + std::to_string(daemon.port()) + "\r\n";
    Connection connection(daemon.port());
    connection.send("DELETE /api/v1/runs/" + id + " HTTP/1.1\r\n" + host +
                    "Authorization: Bearer " + daemon.token() + "\r\n\r\n");
    EXPECT_EQ(connection.read_response().status, 200);
    connection.send("GET /healthz HTTP/1.1\r\n" + host + "\r\n");
    EXPECT_EQ(connection.read_response().body, "ok\n") << "the second request was taken for a body";
}

TEST(Daemon, TheBodyOfARefusedRequestIsNotTheNextRequest) {
    Daemon daemon;
    const std::string smuggled =
        "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(daemon.port()) +
        "\r\nConnection: close\r\n\r\n";
    Connection connection(daemon.port());
    connection.send(
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(daemon.port()) +
        "\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\nConnection: "
        "close\r\nContent-Length: " +
        std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled);
    const std::string all = connection.read_until("200 OK");
    EXPECT_TRUE(all.starts_with("HTTP/1.1 403 ")) << all;
    EXPECT_EQ(all.find("200 OK"), std::string::npos) << all;
}

TEST(Daemon, StreamsATraceThatDecodesToWhatItReports) {
    Daemon daemon;
    const Response started = daemon.start(R"({"run": ")" + short_run + R"("})");
    ASSERT_EQ(started.status, 201) << started.body;
    const json run = json::parse(started.body);
    EXPECT_EQ(run["events"], "/api/v1/runs/" + run["id"].get<std::string>() + "/events");
    const Response stream = daemon.get(run["events"]);
    EXPECT_EQ(stream.status, 200);
    EXPECT_EQ(stream.headers.at("content-type"), "text/event-stream");
    const std::string text = trace_of(parse_stream(stream.body));
    const auto trace = decode(text);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(run["run"], print_run(trace->run));
    EXPECT_EQ(trace->events.size(), 20U * 24);
    const json result =
        json::parse(daemon.get("/api/v1/runs/" + run["id"].get<std::string>()).body);
    EXPECT_EQ(result["trace_hash"], trace_hash(*trace));
    EXPECT_EQ(result["state"], "done");
    EXPECT_EQ(result["outcome"], "ok");
    EXPECT_EQ(result["verified"], true);
    EXPECT_EQ(result["iterations"], 20);
    const json list = json::parse(daemon.get("/api/v1/runs").body);
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0]["id"], run["id"]);
    EXPECT_EQ(list[0]["state"], "done");
}

TEST(Daemon, AViewerThatComesBackGetsExactlyTheRest) {
    Daemon daemon;
    const std::string id = daemon.start_run(short_run);
    const std::string path = "/api/v1/runs/" + id + "/events";
    const std::vector<Message> messages = parse_stream(daemon.get(path).body);
    const std::string all = trace_of(messages);
    std::string seen;
    for (const Message& message : messages) {
        if (message.event == "end") {
            break;
        }
        seen += message.data;
        EXPECT_EQ(message.id, std::to_string(std::count(seen.begin(), seen.end(), '\n')));
        const Response rest = daemon.get(path, {"Last-Event-ID: " + message.id});
        EXPECT_EQ(seen + trace_of(parse_stream(rest.body)), all);
    }
    const std::string first_line = all.substr(0, all.find('\n') + 1);
    EXPECT_EQ(first_line + trace_of(parse_stream(daemon.get(path, {"Last-Event-ID: 1"}).body)),
              all);
    EXPECT_EQ(daemon.get(path, {"Last-Event-ID: -1"}).status, 400);
    EXPECT_EQ(daemon.get(path, {"Last-Event-ID: one"}).status, 400);
}

TEST(Daemon, AKilledWorkerIsAFailedRunAndTheDaemonLivesOn) {
    Daemon daemon;
    const std::string id = daemon.start_run(long_run);
    wait_for_events(daemon, id);
    kill(wait_for_worker(daemon), SIGKILL);
    const json result = json::parse(daemon.wait_done(id));
    EXPECT_EQ(result["outcome"], "failed");
    EXPECT_EQ(result["verified"], false);
    EXPECT_EQ(result["reason"], "the worker was ended by signal 9 (Killed) before its outcome");
    const auto trace =
        decode(trace_of(parse_stream(daemon.get("/api/v1/runs/" + id + "/events").body)));
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_FALSE(trace->events.empty());
    EXPECT_EQ(json::parse(daemon.wait_done(daemon.start_run(short_run)))["outcome"], "ok");
}

TEST(Daemon, ARunCanBeCancelledWhileItRunsAndWhileItWaits) {
    Daemon daemon;
    const std::string token = "Authorization: Bearer " + daemon.token();
    const std::string running = daemon.start_run(long_run);
    const std::string waiting = daemon.start_run(short_run);
    wait_for_events(daemon, running);
    const pid_t worker = wait_for_worker(daemon);
    EXPECT_EQ(json::parse(daemon.get("/api/v1/runs/" + waiting).body)["state"], "queued");
    for (const std::string& id : {waiting, running}) {
        EXPECT_EQ(daemon.request("DELETE /api/v1/runs/" + id, {token}).status, 200);
        const json result = json::parse(daemon.wait_done(id));
        EXPECT_EQ(result["outcome"], "failed");
        EXPECT_EQ(result["reason"], "cancelled");
        EXPECT_TRUE(
            decode(trace_of(parse_stream(daemon.get("/api/v1/runs/" + id + "/events").body))));
        EXPECT_EQ(daemon.request("DELETE /api/v1/runs/" + id, {token}).status, 200)
            << "a second time changes nothing";
        EXPECT_EQ(json::parse(daemon.wait_done(id))["reason"], "cancelled");
    }
    EXPECT_FALSE(alive(worker));
}

TEST(Daemon, AFullQueueSaysWhenToComeBack) {
    Daemon daemon;
    wait_for_events(daemon, daemon.start_run(long_run));
    for (int i = 0; i < 8; ++i) {
        daemon.start_run(short_run);
    }
    const Response ninth = daemon.start(R"({"run": ")" + short_run + R"("})");
    EXPECT_EQ(ninth.status, 503);
    EXPECT_EQ(ninth.headers.count("retry-after"), 1U);
    EXPECT_EQ(json::parse(daemon.get("/api/v1/runs").body).size(), 9U);
}

TEST(Daemon, ManyViewersAndHalfRequestsHoldNobodyElseUp) {
    Daemon daemon;
    const std::string id = daemon.start_run(long_run);
    const std::string request = "GET /api/v1/runs/" + id + "/events HTTP/1.1\r\nHost: 127.0.0.1:" +
                                std::to_string(daemon.port()) + "\r\n";
    std::vector<Connection> connections;
    for (int i = 0; i < 64; ++i) {
        connections.emplace_back(daemon.port()).send(request + "\r\n");
    }
    for (Connection& viewer : connections) {
        EXPECT_NE(viewer.read_until("data: ringscope-trace 1").find("200 OK"), std::string::npos);
    }
    for (int i = 0; i < 64; ++i) {
        connections.emplace_back(daemon.port()).send(request);  // and never the rest
    }
    EXPECT_EQ(daemon.get("/healthz").status, 200);
    const Response one_more = daemon.get("/api/v1/runs/" + id + "/events");
    EXPECT_EQ(one_more.status, 503);
    EXPECT_EQ(one_more.headers.count("retry-after"), 1U);
    EXPECT_EQ(
        daemon.request("DELETE /api/v1/runs/" + id, {"Authorization: Bearer " + daemon.token()})
            .status,
        200);
    for (size_t i = 0; i < 64; ++i) {
        EXPECT_NE(connections[i].read_until("event: end").find("event: end"), std::string::npos);
    }
    connections.clear();
    EXPECT_TRUE(eventually([&] {
        return daemon.get("/api/v1/runs/" + id + "/events").status == 200;
    })) << "places are given back";
}

TEST(Daemon, AViewerHearsAHeartbeatWhileNothingHappens) {
    Daemon daemon;
    daemon.start_run(long_run);
    const std::string waiting = daemon.start_run(short_run);
    Connection viewer(daemon.port());
    viewer.send("GET /api/v1/runs/" + waiting + "/events HTTP/1.1\r\nHost: 127.0.0.1:" +
                std::to_string(daemon.port()) + "\r\n\r\n");
    EXPECT_NE(viewer.read_until("\n: ").find("\n: "), std::string::npos);
}

TEST(Daemon, EndsCleanlyAndLeavesNoWorker) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Daemon daemon;
        const std::string id = daemon.start_run(long_run);
        wait_for_events(daemon, id);
        const pid_t worker = wait_for_worker(daemon);
        Connection half(daemon.port());
        half.send("GET /healthz HTTP/1.1\r\n");
        EXPECT_EQ(daemon.end(signal), 0);
        EXPECT_TRUE(eventually([&] { return !alive(worker); }));
    }
}

// With its pipe kept open, so that it cannot die of writing to nobody.
TEST(Daemon, KilledItTakesItsWorkerWithIt) {
    Daemon daemon;
    const std::string id = daemon.start_run(long_run);
    wait_for_events(daemon, id);
    const pid_t worker = wait_for_worker(daemon);
    const std::ifstream pipe("/proc/" + std::to_string(worker) + "/fd/1");
    ASSERT_TRUE(pipe.is_open());
    EXPECT_EQ(daemon.end(SIGKILL), 128 + SIGKILL);
    EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}

TEST(Daemon, AWorkerCanBeAskedToEnd) {
    Daemon daemon;
    const std::string id = daemon.start_run(long_run);
    wait_for_events(daemon, id);
    kill(wait_for_worker(daemon), SIGTERM);
    EXPECT_EQ(json::parse(daemon.wait_done(id))["reason"],
              "the worker was ended by signal 15 (Terminated) before its outcome");
}

TEST(Daemon, LogsRunsButNeverTheToken) {
    Daemon daemon;
    const std::string id = daemon.start_run(short_run);
    daemon.wait_done(id);
    daemon.request("POST /api/v1/runs", {"Authorization: Bearer " + daemon.token()});
    const std::string log = daemon.errors();
    EXPECT_NE(log.find("run " + id + " started: algorithm=ring&ranks=4"), std::string::npos) << log;
    EXPECT_EQ(log.find(daemon.token()), std::string::npos) << log;
}

TEST(Daemon, ServesThePageAndNothingBesideIt) {
    namespace fs = std::filesystem;
    std::string name = (fs::temp_directory_path() / "ringscope-test.XXXXXX").string();
    const fs::path folder = mkdtemp(name.data());
    fs::create_directories(folder / "page/assets");
    std::ofstream(folder / "page/index.html") << "<!doctype html>";
    std::ofstream(folder / "page/view.wasm") << "wasm";
    std::ofstream(folder / "page/app.webmanifest") << "{}";
    std::ofstream(folder / "page/assets/a.js") << "let a;";
    std::ofstream(folder / "secret") << "secret";
    fs::create_symlink(folder / "secret", folder / "page/link");
    {
        Daemon daemon({"--page", (folder / "page").string()});
        Response index = daemon.get("/");
        EXPECT_EQ(index.body, "<!doctype html>");
        EXPECT_EQ(index.headers["content-type"], "text/html; charset=utf-8");
        EXPECT_EQ(daemon.get("/index.html").body, index.body);
        EXPECT_EQ(daemon.get("/?a=b").body, index.body);
        EXPECT_EQ(daemon.get("/", {"If-None-Match: " + index.headers["etag"]}).status, 304);
        EXPECT_EQ(daemon.get("/view.wasm").headers["content-type"], "application/wasm");
        EXPECT_EQ(daemon.get("/app.webmanifest").headers["content-type"],
                  "application/manifest+json");
        EXPECT_EQ(daemon.get("/assets/a.js").headers["content-type"],
                  "text/javascript; charset=utf-8");
        for (const char* path : {"/../secret",
                                 "/%2e%2e/secret",
                                 "/..%2fsecret",
                                 "/%2e%2e%2fsecret",
                                 "/..%5csecret",
                                 "/assets/../../secret",
                                 "/....//secret",
                                 "//etc/passwd",
                                 "/link",
                                 "/assets",
                                 "/assets/",
                                 "/view.wasm%00.html",
                                 "/./index.html",
                                 "/%252e%252e/secret",
                                 "/page/index.html"}) {
            const Response response = daemon.get(path);
            EXPECT_EQ(response.status, 404) << path << ": " << response.body;
            EXPECT_EQ(response.body.find("secret"), std::string::npos) << path;
        }
    }
    fs::remove_all(folder);
}

TEST(Daemon, WithoutAPageItSaysWhatItIs) {
    Daemon daemon;
    const Response response = daemon.get("/");
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("--page"), std::string::npos);
}

}  // namespace
}  // namespace ringscope
