// SPDX-License-Identifier: Apache-2.0
// HttpServer: HTTP on loopback for a browser page. The one place with every guard that keeps other
// pages, odd requests and slow readers out; what the daemon answers is not its business
// (server.hpp).
//
// Guards: one Host header that is ours, else 421 (stops DNS rebinding); a foreign Origin gets 403
// before any handler runs; no Transfer-Encoding or Content-Encoding on requests; bodies, headers,
// threads and viewers are bounded, and there are always threads left for those who do not stream;
// every answer carries the security headers; an exception never shows its text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/result.hpp"

namespace ringscope {

struct HttpRequest {
    std::string path;
    std::string body;
    std::string id;                                       // what stands for :id in the route
    std::function<std::string(const char* name)> header;  // empty when there is none
};

struct HttpResponse {
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;

    // Set for a body without an end in sight: called again and again, each time appends what there
    // is. It may wait a second, not longer.
    enum class Stream { more, end, abort };
    std::function<Stream(std::string& piece)> stream;
};

// application/problem+json (RFC 9457) with the error's field, value and allowed.
HttpResponse problem_response(int status, const Error& error);

struct HttpRoute {
    std::string_view method;   // GET, POST, DELETE
    std::string_view pattern;  // "/api/v1/runs/:id", or a regular expression
    std::function<HttpResponse(const HttpRequest&)> handler;
};

struct HttpLimits {
    size_t viewers_max = 64;     // streams at a time; one more gets 503
    size_t other_threads = 128;  // connections beside them
    size_t body_bytes_max = 128 * 1024;
};

class HttpServer {
  public:
    HttpServer(std::vector<HttpRoute> routes, HttpLimits limits);
    ~HttpServer();

    // Takes 127.0.0.1:port; port 0 is any. Returns the port. Errors: the port is taken, by another
    // daemon too.
    Result<int> bind(int port);

    // Serves until stop(), called by another thread once the streams were made to abort.
    void serve();
    void stop();
    // After stop(), for connections that do not take what is still written to them.
    void drop();

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

// Hosts, media types and schemes are compared without regard to case.
std::string ascii_lower(std::string text);

// The version of the HTTP library.
std::string_view http_library_version();

}  // namespace ringscope
