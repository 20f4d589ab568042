// SPDX-License-Identifier: Apache-2.0
#include "native/topology_file.hpp"

#include <fstream>

#include "shared/topology_text.hpp"

namespace ringscope {
namespace {

constexpr const char* flag = "topology-file";

// At most one byte more than a graph may have, so that an endless file ends as one too long.
Result<std::string> read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(graph_text_bytes_max + 1, '\0');
    if (!file ||
        (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())) {
        return invalid_field(flag, path, "cannot be read");
    }
    text.resize(static_cast<size_t>(file.gcount()));
    return text;
}

}  // namespace

Result<std::string> with_topology_file(const std::string& run_line, const std::string& path) {
    const auto text = read_text(path);
    if (!text) {
        return text.error();
    }
    const auto topology = parse_topology(flag, *text, TopologyForm::file, RunSpec{});
    if (!topology) {
        return topology.error();
    }
    std::string line = run_line + (run_line.empty() ? "" : "&") +
                       "topology=graph&graph=" + print_topology(*topology, TopologyForm::compact);
    if (("&" + run_line).find("&ranks=") == std::string::npos) {
        line += "&ranks=" + std::to_string(topology->rank_nodes.size());
    }
    if (line.size() > run_line_bytes_max) {
        return invalid_field(flag,
                             path,
                             "makes a run line of " + std::to_string(line.size()) +
                                 " characters; at most " + std::to_string(run_line_bytes_max) +
                                 " are allowed");
    }
    return line;
}

Result<std::string> describe_topology(const std::string& run_line) {
    auto run = parse_run(run_line);
    if (!run) {
        return run.error();
    }
    run->settings.clear();
    const auto topology = build_topology(*run);
    if (!topology) {
        return topology.error();
    }
    return print_topology(*topology, TopologyForm::file);
}

}  // namespace ringscope
