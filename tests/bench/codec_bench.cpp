// SPDX-License-Identifier: Apache-2.0
// How many events a second the trace codec writes, reads and names on one core: one JSON object a
// line,
//
//     {"bench":"codec","case":"encode","metric":"events_per_s","value":5120000}
//
// each the best of five rounds. The text goes by in pieces, as through the command and the daemon.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif

#include "shared/simulator.hpp"
#include "shared/trace_codec.hpp"
#include "shared/trace_hash.hpp"

namespace ringscope {
namespace {

constexpr int round_count = 5;
constexpr int pass_count = 25;  // of the whole trace, in a round
constexpr size_t piece_bytes = size_t{64} << 10;

// A ring of 64 ranks: 8064 events of 51 bytes each, so that they stay in the cache, as they do
// where each is passed on as soon as it is known.
constexpr std::string_view run_line = "ranks=64&bytes=32MiB";

// Of the CPU, so that a busy neighbour does not count.
double now_s() {
#if defined(__EMSCRIPTEN__)  // whose clock() is the time of day
    return EM_ASM_DOUBLE({
        const usage = process.cpuUsage();
        return (usage.user + usage.system) / 1e6;
    });
#else
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

// `work` returns something that depends on all it did, the same every time.
template <class Work>
void measure(const char* name, size_t event_count, const Work& work) {
    double best_s = 1e9;
    const auto done = work();  // once more, to warm up
    for (int round = 0; round < round_count; ++round) {
        const double begin_s = now_s();
        for (int pass = 0; pass < pass_count; ++pass) {
            RS_CHECK(work() == done);
        }
        best_s = std::min(best_s, now_s() - begin_s);
    }
    const double events_per_s = static_cast<double>(event_count) * pass_count / best_s;
    std::printf("{\"case\":\"%s\",\"events_per_s\":%.0f}\n", name, events_per_s);
}

size_t encode_in_pieces(const Trace& trace) {
    TraceEncoder encoder(trace.run);
    size_t bytes = 0;
    for (const Event& event : trace.events) {
        encoder.add(event);
        if (encoder.text().size() >= piece_bytes) {
            bytes += encoder.text().size();
            encoder.text().clear();
        }
    }
    encoder.finish(trace.outcome);
    return bytes + encoder.text().size();
}

size_t decode_in_pieces(std::string_view text) {
    TraceDecoder decoder;
    std::vector<Event> events;
    size_t event_count = 0;
    for (size_t offset = 0; offset < text.size(); offset += piece_bytes) {
        RS_CHECK(decoder.push(text.substr(offset, piece_bytes), events));
        event_count += events.size();
        events.clear();
    }
    RS_CHECK(decoder.finished());
    return event_count;
}

std::string hash_one_by_one(const Trace& trace) {
    TraceHash hash(trace.run);
    for (const Event& event : trace.events) {
        hash.add(event);
    }
    hash.finish(trace.outcome);
    return hash.text();
}

void measure_all() {
    const Trace trace = *simulate(*parse_run(run_line));
    const std::string text = encode(trace);
    const size_t event_count = trace.events.size();
    measure("encode", event_count, [&] { return encode_in_pieces(trace); });
    measure("decode", event_count, [&] { return decode_in_pieces(text); });
    measure("hash", event_count, [&] { return hash_one_by_one(trace); });
}

}  // namespace
}  // namespace ringscope

int main(int count, char** words) {
    if (count > 1) {
        const bool help = std::string_view(words[1]) == "--help";
        std::fputs("codec_bench: events a second of the trace codec, as JSON lines; no options\n",
                   help ? stdout : stderr);
        return help ? 0 : 2;
    }
    ringscope::measure_all();
    return 0;
}
