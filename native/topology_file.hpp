// SPDX-License-Identifier: Apache-2.0
// A graph in a file, in the form that shared/topology_text.hpp describes, and the run line.
#pragma once

#include <string>

#include "shared/result.hpp"

namespace ringscope {

// The run line with topology=graph and the file's graph appended, and with its number of ranks
// unless the line names one. Errors: a file that cannot be read or says something wrong, a graph
// too large for a run line.
Result<std::string> with_topology_file(const std::string& run_line, const std::string& path);

// The file that describes the run's topology, whatever that is. Settings and changes are left out:
// they are the run's. Errors: as parse_run and build_topology.
Result<std::string> describe_topology(const std::string& run_line);

}  // namespace ringscope
