// SPDX-License-Identifier: Apache-2.0
// The daemon: `ringscope serve`. What it answers is the route table in server.cpp; how it keeps
// others out is in http_server.hpp; what it runs is in run_queue.hpp.
#pragma once

#include <string>

namespace ringscope {

struct ServeOptions {
    int port = 8437;   // 0: any that is free
    std::string page;  // folder of the built page; empty: only the API
    int viewers_max = 64;
};

// Prints "Open http://127.0.0.1:PORT/#token=TOKEN" and serves until SIGINT or SIGTERM. Returns the
// exit status.
int serve(const ServeOptions& options);

}  // namespace ringscope
