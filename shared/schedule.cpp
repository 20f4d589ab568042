// SPDX-License-Identifier: Apache-2.0
#include "shared/schedule.hpp"

#include <algorithm>
#include <tuple>

#include "shared/algorithm.hpp"

namespace ringscope {

int64_t Schedule::chunk_element_begin(int32_t chunk) const {
    const int64_t base = problem.element_count / chunk_count;
    const int64_t longer_count = problem.element_count % chunk_count;
    return base * chunk + std::min<int64_t>(chunk, longer_count);
}

int64_t Schedule::chunk_element_count(int32_t chunk) const {
    return problem.element_count / chunk_count +
           (chunk < problem.element_count % chunk_count ? 1 : 0);
}

int64_t Schedule::bytes(const Transfer& transfer) const {
    const int64_t begin = chunk_element_begin(transfer.chunk_begin);
    const int64_t end = chunk_element_begin(transfer.chunk_begin + transfer.chunk_count);
    return (end - begin) * element_bytes(problem.element_type);
}

void Schedule::append_sends(int32_t step, int32_t rank, std::vector<Transfer>& transfers) const {
    algorithm->append_sends(*this, step, rank, transfers);
}

void Schedule::append_receives(int32_t step, int32_t rank, std::vector<Transfer>& transfers) const {
    algorithm->append_receives(*this, step, rank, transfers);
}

Result<Schedule> build_schedule(std::string_view algorithm_name, const Problem& problem) {
    const Algorithm* algorithm = find_algorithm(algorithm_name);
    if (algorithm == nullptr) {
        std::string allowed = "must be one of";
        for (const Algorithm* known : algorithms()) {
            allowed += " " + std::string(known->name);
        }
        return invalid_field("algorithm", std::string(algorithm_name), allowed);
    }
    Schedule schedule;
    schedule.algorithm = algorithm;
    schedule.problem = problem;
    if (const Status planned = algorithm->plan(schedule); !planned) {
        return planned.error();
    }
    return schedule;
}

namespace {

// Which inputs a chunk holds at each rank: one bit per contributing rank.
class Contributions {
  public:
    explicit Contributions(const Schedule& schedule)
        : chunk_count_(schedule.chunk_count),
          word_count_((schedule.problem.rank_count + 63) / 64),
          words_(static_cast<size_t>(schedule.problem.rank_count) * chunk_count_ * word_count_) {
        for (int32_t rank = 0; rank < schedule.problem.rank_count; ++rank) {
            for (int32_t chunk = 0; chunk < chunk_count_; ++chunk) {
                at(rank, chunk)[rank / 64] |= uint64_t{1} << (rank % 64);
            }
        }
    }

    std::vector<uint64_t> read(int32_t rank, int32_t chunk) const {
        const uint64_t* words = &words_[offset(rank, chunk)];
        return {words, words + word_count_};
    }
    void write(int32_t rank, int32_t chunk, const std::vector<uint64_t>& bits) {
        std::copy(bits.begin(), bits.end(), at(rank, chunk));
    }
    // False when an input would be counted twice.
    bool add(int32_t rank, int32_t chunk, const std::vector<uint64_t>& bits) {
        uint64_t* words = at(rank, chunk);
        for (size_t i = 0; i < word_count_; ++i) {
            if ((words[i] & bits[i]) != 0) {
                return false;
            }
            words[i] |= bits[i];
        }
        return true;
    }
    int32_t count(int32_t rank, int32_t chunk) const {
        int32_t count = 0;
        for (size_t i = 0; i < word_count_; ++i) {
            count += __builtin_popcountll(words_[offset(rank, chunk) + i]);
        }
        return count;
    }

  private:
    size_t offset(int32_t rank, int32_t chunk) const {
        return (static_cast<size_t>(rank) * chunk_count_ + chunk) * word_count_;
    }
    uint64_t* at(int32_t rank, int32_t chunk) { return &words_[offset(rank, chunk)]; }

    int32_t chunk_count_;
    size_t word_count_;
    std::vector<uint64_t> words_;
};

std::string place(const Transfer& transfer, int32_t chunk) {
    return "step " + std::to_string(transfer.step) + ", rank " +
           std::to_string(transfer.source_rank) + " to " + std::to_string(transfer.target_rank) +
           ", chunk " + std::to_string(chunk);
}

Error broken(const std::string& what) {
    return plain_error(ErrorKind::invalid_argument, "the schedule is wrong: " + what);
}

struct Step {
    std::vector<Transfer> sends;
    std::vector<Transfer> receives;
};

Step collect_step(const Schedule& schedule, int32_t step) {
    Step all;
    for (int32_t rank = 0; rank < schedule.problem.rank_count; ++rank) {
        schedule.append_sends(step, rank, all.sends);
        schedule.append_receives(step, rank, all.receives);
    }
    const auto by_place = [](const Transfer& a, const Transfer& b) {
        return std::tuple(a.source_rank, a.target_rank, a.chunk_begin) <
               std::tuple(b.source_rank, b.target_rank, b.chunk_begin);
    };
    std::sort(all.sends.begin(), all.sends.end(), by_place);
    std::sort(all.receives.begin(), all.receives.end(), by_place);
    return all;
}

}  // namespace

Result<Proof> verify(const Schedule& schedule) {
    Proof proof;
    proof.sent_bytes.assign(static_cast<size_t>(schedule.problem.rank_count), 0);
    Contributions held(schedule);
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        const Step all = collect_step(schedule, step);
        if (all.sends != all.receives) {
            return broken("in step " + std::to_string(step) + " the sends and the receives differ");
        }
        // All messages of a step leave before any arrives.
        std::vector<std::vector<uint64_t>> payloads;
        for (const Transfer& transfer : all.sends) {
            for (int32_t i = 0; i < transfer.chunk_count; ++i) {
                payloads.push_back(held.read(transfer.source_rank, transfer.chunk_begin + i));
            }
        }
        size_t next = 0;
        for (const Transfer& transfer : all.sends) {
            ++proof.message_count;
            proof.sent_bytes[static_cast<size_t>(transfer.source_rank)] += schedule.bytes(transfer);
            for (int32_t i = 0; i < transfer.chunk_count; ++i, ++next) {
                const int32_t chunk = transfer.chunk_begin + i;
                if (transfer.action == Action::copy) {
                    held.write(transfer.target_rank, chunk, payloads[next]);
                } else if (!held.add(transfer.target_rank, chunk, payloads[next])) {
                    return broken(place(transfer, chunk) + " counts an input twice");
                }
            }
        }
    }
    for (int32_t rank = 0; rank < schedule.problem.rank_count; ++rank) {
        for (int32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
            if (held.count(rank, chunk) != schedule.problem.rank_count) {
                return broken("rank " + std::to_string(rank) + " ends with " +
                              std::to_string(held.count(rank, chunk)) + " of " +
                              std::to_string(schedule.problem.rank_count) + " inputs in chunk " +
                              std::to_string(chunk));
            }
        }
    }
    return proof;
}

namespace {

// Who touched one chunk of one rank's buffer last.
struct ChunkUse {
    int32_t writer_hop_count = 0;  // the owner's own hops up to the last write; 0: still the input
    std::vector<Dependency> readers;  // hops of others that read it since
};

}  // namespace

Result<std::vector<std::vector<Hop>>> derive_hops(const Schedule& schedule) {
    const int32_t rank_count = schedule.problem.rank_count;
    std::vector<std::vector<Hop>> hops(static_cast<size_t>(rank_count));
    std::vector<ChunkUse> uses(static_cast<size_t>(rank_count) * schedule.chunk_count);
    const auto use = [&](int32_t rank, int32_t chunk) -> ChunkUse& {
        return uses[static_cast<size_t>(rank) * schedule.chunk_count + chunk];
    };
    const auto depend = [](Hop& hop, Dependency dependency) {
        if (dependency.rank == hop.transfer.target_rank || dependency.hop_count == 0) {
            return;  // its own earlier hops are done anyway; inputs are there from the start
        }
        for (Dependency& known : hop.dependencies) {
            if (known.rank == dependency.rank) {
                known.hop_count = std::max(known.hop_count, dependency.hop_count);
                return;
            }
        }
        hop.dependencies.push_back(dependency);
    };
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        const Step all = collect_step(schedule, step);
        std::vector<int32_t> hop_counts;  // [transfer of this step] the receiver's hops up to it
        for (const Transfer& transfer : all.receives) {
            auto& mine = hops[static_cast<size_t>(transfer.target_rank)];
            mine.push_back({transfer, {}});
            hop_counts.push_back(static_cast<int32_t>(mine.size()));
            for (int32_t i = 0; i < transfer.chunk_count; ++i) {
                const int32_t chunk = transfer.chunk_begin + i;
                depend(mine.back(),
                       {transfer.source_rank, use(transfer.source_rank, chunk).writer_hop_count});
                for (const Dependency& reader : use(transfer.target_rank, chunk).readers) {
                    depend(mine.back(), reader);
                }
            }
        }
        for (size_t i = 0; i < all.receives.size(); ++i) {
            const Transfer& transfer = all.receives[i];
            for (int32_t k = 0; k < transfer.chunk_count; ++k) {
                ChunkUse& target = use(transfer.target_rank, transfer.chunk_begin + k);
                target.writer_hop_count = hop_counts[i];
                target.readers.clear();
            }
        }
        for (size_t i = 0; i < all.receives.size(); ++i) {
            const Transfer& transfer = all.receives[i];
            for (int32_t k = 0; k < transfer.chunk_count; ++k) {
                ChunkUse& source = use(transfer.source_rank, transfer.chunk_begin + k);
                const auto& own = hops[static_cast<size_t>(transfer.source_rank)];
                if (source.writer_hop_count > 0 &&
                    own[static_cast<size_t>(source.writer_hop_count - 1)].transfer.step == step) {
                    return plain_error(
                        ErrorKind::unsupported,
                        place(transfer, transfer.chunk_begin + k) +
                            ": is sent and overwritten in one step, which needs a second buffer");
                }
                source.readers.push_back({transfer.target_rank, hop_counts[i]});
            }
        }
    }
    return hops;
}

}  // namespace ringscope
