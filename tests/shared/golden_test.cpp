// SPDX-License-Identifier: Apache-2.0
// The same run line gives the same trace, byte for byte, on every compiler and as WebAssembly:
// these tests run in each of them against one list of hashes and the text of one trace, in
// tests/golden. scripts/golden makes them anew; a changed hash is a change of the format or the
// model, a changed text one of the format, and both belong into CHANGELOG.md.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"
#include "tests/shared/testing.hpp"

namespace ringscope {
namespace {

const char* const golden_path = RINGSCOPE_SOURCE_DIR "/tests/golden/traces.txt";
const char* const golden_text_path = RINGSCOPE_SOURCE_DIR "/tests/golden/trace.tsv";

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

TEST(Golden, ATraceIsTheSameTextByteForByte) {
    const std::string text = encode(
        trace_of(run_of("ranks=4&bytes=1MiB&set=rank.2.start:1us&change=10us:bandwidth:5GB/s")));
    if (std::getenv("RINGSCOPE_RENEW_GOLDEN") != nullptr) {
        std::ofstream(golden_text_path, std::ios::binary) << text;
    }
    std::ifstream file(golden_text_path, std::ios::binary);
    ASSERT_TRUE(file) << golden_text_path;
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str());
}

}  // namespace
}  // namespace ringscope
