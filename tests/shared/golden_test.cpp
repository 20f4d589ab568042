// SPDX-License-Identifier: Apache-2.0
// The same run line gives the same trace, byte for byte, on every compiler and as WebAssembly: this
// test runs in each of them against one list of hashes, tests/golden/traces.txt. scripts/golden
// makes the list anew; a changed hash is a change of the format or the model and belongs into
// CHANGELOG.md.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "shared/trace_codec.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

const char* const golden_path = RINGSCOPE_SOURCE_DIR "/tests/golden/traces.txt";

TEST(Golden, EveryRunLineGivesItsHash) {
    std::ifstream file(golden_path);
    ASSERT_TRUE(file) << golden_path;
    std::stringstream renewed;
    int count = 0;
    for (std::string line; std::getline(file, line);) {
        const size_t space = line.find(' ');
        if (line.empty() || line.front() == '#' || space == std::string::npos) {
            renewed << line << '\n';
            continue;
        }
        const std::string run_line = line.substr(space + 1);
        const std::string hash = trace_hash(trace_of(run_of(run_line)));
        renewed << hash << ' ' << run_line << '\n';
        if (std::getenv("RINGSCOPE_RENEW_GOLDEN") == nullptr) {
            EXPECT_EQ(hash, line.substr(0, space)) << run_line;
        }
        ++count;
    }
    EXPECT_GE(count, 20);
    if (std::getenv("RINGSCOPE_RENEW_GOLDEN") != nullptr) {
        std::ofstream(golden_path) << renewed.str();
    }
}

}  // namespace
}  // namespace ringscope
