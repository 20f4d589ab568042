// SPDX-License-Identifier: Apache-2.0
#include "shared/schedule.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "shared/algorithm.hpp"

namespace ringscope {

void Schedule::cut(int64_t element_count) {
    problem.element_count = element_count;
    shorter_chunk_elements = element_count / chunk_count;
    longer_chunk_count = element_count % chunk_count;
}

namespace {

bool gives_each_its_part(Collective collective) {
    return collective == Collective::reduce_scatter || collective == Collective::all_gather;
}

bool has_root(Collective collective) {
    return collective == Collective::broadcast || collective == Collective::reduce;
}

}  // namespace

// Chunk j of a lane belongs to the j-th of the ranks that take part, whatever their order in the
// lane's channel.
int32_t Schedule::chunk_owner(int32_t chunk) const {
    const int32_t place = chunk % lane_chunk_count % problem.rank_count;
    return members.empty() ? place : members[static_cast<size_t>(place)];
}

bool Schedule::holds_input(int32_t participant, int32_t chunk) const {
    return contributes(participant, chunk);
}

bool Schedule::contributes(int32_t participant, int32_t chunk) const {
    if (is_switch(participant) || !is_member(participant)) {
        return false;
    }
    switch (problem.collective) {
        case Collective::all_gather:
            return participant == chunk_owner(chunk);
        case Collective::broadcast:
            return participant == root();
        case Collective::all_reduce:
        case Collective::reduce_scatter:
        case Collective::reduce:
            break;
    }
    return true;
}

bool Schedule::shall_hold(int32_t participant, int32_t chunk) const {
    if (is_switch(participant) || !is_member(participant)) {
        return false;
    }
    switch (problem.collective) {
        case Collective::reduce_scatter:
            return participant == chunk_owner(chunk);
        case Collective::reduce:
            return participant == root();
        case Collective::all_reduce:
        case Collective::all_gather:
        case Collective::broadcast:
            break;
    }
    return true;
}

int32_t Schedule::contributor_count() const {
    const bool one =
        problem.collective == Collective::all_gather || problem.collective == Collective::broadcast;
    return one ? 1 : problem.rank_count;
}

int64_t Schedule::message_count() const {
    return int64_t{lane_count} * algorithm->message_count(*this);
}

namespace {

Result<const Algorithm*> look_up(std::string_view name) {
    if (const Algorithm* algorithm = find_algorithm(name); algorithm != nullptr) {
        return algorithm;
    }
    std::string allowed = "must be one of";
    for (const Algorithm* known : algorithms()) {
        allowed += " " + std::string(known->name);
    }
    return invalid_field("algorithm", std::string(name), allowed);
}

std::vector<int32_t> natural_order(int32_t rank_count) {
    std::vector<int32_t> order(static_cast<size_t>(rank_count));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// Who sits where in one channel: the arrangement's order, or 0, 1, 2 ..., of those that take part,
// gone through as the algorithm wants it, and turned so that a collective with a root begins at it.
std::vector<int32_t> channel_order(const Schedule& schedule,
                                   const Arrangement& arrangement,
                                   int32_t channel) {
    const int32_t rank_count = schedule.problem.rank_count;
    const std::vector<int32_t>& members = arrangement.members;
    std::vector<int32_t> order = members.empty() ? natural_order(rank_count) : members;
    if (!arrangement.orders.empty()) {
        const size_t last = arrangement.orders.size() - 1;
        order = arrangement.orders[std::min(static_cast<size_t>(channel), last)];
        std::erase_if(order, [&](int32_t rank) {
            return !members.empty() && !std::binary_search(members.begin(), members.end(), rank);
        });
    }
    RS_CHECK(std::ssize(order) == rank_count);
    if (schedule.algorithm->order != nullptr) {
        std::vector<int32_t> reordered;
        for (const int32_t place : schedule.algorithm->order(rank_count, channel)) {
            reordered.push_back(order[static_cast<size_t>(place)]);
        }
        RS_CHECK(std::ssize(reordered) == rank_count);
        order = std::move(reordered);
    }
    if (has_root(schedule.problem.collective)) {
        std::rotate(order.begin(), std::min_element(order.begin(), order.end()), order.end());
    }
    return order;
}

// Fills in who sits where.
void seat(Schedule& schedule, const Arrangement& arrangement) {
    const int32_t rank_count = schedule.problem.rank_count;
    int32_t highest = rank_count - 1;
    for (int32_t channel = 0; channel < schedule.channel_count; ++channel) {
        schedule.orders.push_back(channel_order(schedule, arrangement, channel));
        const std::vector<int32_t>& order = schedule.orders.back();
        highest = std::max(highest, *std::max_element(order.begin(), order.end()));
    }
    schedule.participant_count =
        std::max(arrangement.rank_limit, highest + 1) + (schedule.with_switch ? 1 : 0);
    for (std::vector<int32_t>& order : schedule.orders) {
        if (schedule.with_switch) {
            order.push_back(schedule.participant_count - 1);
        }
        std::vector<int32_t> position(static_cast<size_t>(schedule.participant_count), -1);
        for (size_t i = 0; i < order.size(); ++i) {
            position[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
        }
        schedule.positions.push_back(std::move(position));
    }
    schedule.members = arrangement.members;
}

}  // namespace

int32_t Schedule::member_index(int32_t participant) const {
    if (members.empty()) {
        return participant;
    }
    return static_cast<int32_t>(std::lower_bound(members.begin(), members.end(), participant) -
                                members.begin());
}

Result<Schedule> build_schedule(std::string_view algorithm_name,
                                const Problem& problem,
                                const Arrangement& arrangement) {
    const auto algorithm = look_up(algorithm_name);
    if (!algorithm) {
        return algorithm.error();
    }
    Schedule schedule;
    schedule.algorithm = *algorithm;
    schedule.problem = problem;
    schedule.problem.collective = (*algorithm)->collective;
    schedule.channel_count = std::max(1, arrangement.channel_count);
    schedule.piece_count = std::max(1, arrangement.piece_count);
    schedule.group_size = std::max(1, arrangement.group_size);
    if (const Status planned = (*algorithm)->plan(schedule, arrangement); !planned) {
        return planned.error();
    }
    schedule.lane_count = schedule.channel_count * schedule.piece_count;
    const int64_t chunks = int64_t{schedule.lane_count} * schedule.lane_chunk_count;
    if (chunks > cell_count_max / (problem.rank_count + (schedule.with_switch ? 1 : 0))) {
        return invalid_field(schedule.piece_count > 1 ? "chunks" : "channels",
                             std::to_string(schedule.piece_count > 1 ? schedule.piece_count
                                                                     : schedule.channel_count),
                             "cuts the buffers of " + std::to_string(problem.rank_count) +
                                 " ranks into " + std::to_string(chunks) +
                                 " parts each; all together may have " +
                                 std::to_string(cell_count_max) + ", so ask for fewer");
    }
    schedule.chunk_count = static_cast<int32_t>(chunks);
    schedule.cut(problem.element_count);
    schedule.relabel_chunks = gives_each_its_part(schedule.problem.collective);
    RS_CHECK(!schedule.relabel_chunks || schedule.lane_chunk_count == problem.rank_count);
    seat(schedule, arrangement);
    return schedule;
}

namespace {

// Which inputs a chunk holds at each participant: one bit per contributing rank.
class Contributions {
  public:
    explicit Contributions(const Schedule& schedule)
        : chunk_count_(schedule.chunk_count),
          word_count_((schedule.participant_count + 63) / 64),
          words_(static_cast<size_t>(schedule.participant_count) * chunk_count_ * word_count_) {
        for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
            for (int32_t chunk = 0; chunk < chunk_count_; ++chunk) {
                if (schedule.holds_input(rank, chunk)) {
                    at(rank, chunk)[rank / 64] |= uint64_t{1} << (rank % 64);
                }
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
            count += std::popcount(words_[offset(rank, chunk) + i]);
        }
        return count;
    }
    bool has(int32_t rank, int32_t chunk, int32_t contributor) const {
        const uint64_t word = words_[offset(rank, chunk) + static_cast<size_t>(contributor / 64)];
        return ((word >> (contributor % 64)) & 1) != 0;
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

std::string where(const Transfer& transfer, int32_t chunk) {
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

// One step of all lanes.
Step collect_step(const Schedule& schedule, int32_t step) {
    Step all;
    for (int32_t lane = 0; lane < schedule.lane_count; ++lane) {
        for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
            schedule.append_sends(lane, step, rank, all.sends);
            schedule.append_receives(lane, step, rank, all.receives);
        }
    }
    const auto by_place = [](const Transfer& a, const Transfer& b) {
        return std::tuple(a.source_rank, a.target_rank, a.chunk_begin) <
               std::tuple(b.source_rank, b.target_rank, b.chunk_begin);
    };
    std::sort(all.sends.begin(), all.sends.end(), by_place);
    std::sort(all.receives.begin(), all.receives.end(), by_place);
    return all;
}

// What the collective asks for, of one rank and chunk.
Status check_result(const Schedule& schedule,
                    const Contributions& held,
                    int32_t rank,
                    int32_t chunk) {
    const int32_t expected = schedule.contributor_count();
    bool right = held.count(rank, chunk) == expected;
    for (int32_t other = 0; right && other < schedule.participant_count; ++other) {
        right = held.has(rank, chunk, other) == schedule.contributes(other, chunk);
    }
    if (!right) {
        return broken("rank " + std::to_string(rank) + " ends with " +
                      std::to_string(held.count(rank, chunk)) + " of " + std::to_string(expected) +
                      " inputs in chunk " + std::to_string(chunk));
    }
    return Done{};
}

// All messages of a step leave before any arrives.
Status carry_out_step(const Schedule& schedule,
                      const std::vector<Transfer>& sends,
                      Contributions& held) {
    std::vector<std::vector<uint64_t>> payloads;
    for (const Transfer& transfer : sends) {
        for (int32_t i = 0; i < transfer.chunk_count; ++i) {
            payloads.push_back(held.read(transfer.source_rank, transfer.chunk_begin + i));
        }
    }
    size_t next = 0;
    for (const Transfer& transfer : sends) {
        if (schedule.lane_of(transfer) * schedule.lane_chunk_count + schedule.lane_chunk_count <
            transfer.chunk_begin + transfer.chunk_count) {
            return broken(where(transfer, transfer.chunk_begin) + " leaves its lane");
        }
        for (int32_t i = 0; i < transfer.chunk_count; ++i, ++next) {
            const int32_t chunk = transfer.chunk_begin + i;
            if (transfer.action == Action::copy) {
                held.write(transfer.target_rank, chunk, payloads[next]);
            } else if (!held.add(transfer.target_rank, chunk, payloads[next])) {
                return broken(where(transfer, chunk) + " counts an input twice");
            }
        }
    }
    return Done{};
}

}  // namespace

Result<Proof> verify(const Schedule& schedule) {
    Proof proof;
    proof.sent_bytes.assign(static_cast<size_t>(schedule.participant_count), 0);
    Contributions held(schedule);
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        const Step all = collect_step(schedule, step);
        if (all.sends != all.receives) {
            return broken("in step " + std::to_string(step) + " the sends and the receives differ");
        }
        if (const Status status = carry_out_step(schedule, all.sends, held); !status) {
            return status.error();
        }
        for (const Transfer& transfer : all.sends) {
            ++proof.message_count;
            proof.sent_bytes[static_cast<size_t>(transfer.source_rank)] += schedule.bytes(transfer);
        }
    }
    for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
        for (int32_t chunk = 0; chunk < schedule.chunk_count; ++chunk) {
            if (!schedule.shall_hold(rank, chunk)) {
                continue;
            }
            if (const Status status = check_result(schedule, held, rank, chunk); !status) {
                return status.error();
            }
        }
    }
    return proof;
}

std::string narrate(const Schedule& schedule, int32_t step, int32_t rank) {
    const Contributions inputs(schedule);
    Contributions held = inputs;
    Step all;
    for (int32_t earlier = 0; earlier <= step; ++earlier) {
        all = collect_step(schedule, earlier);
        if (earlier < step && !carry_out_step(schedule, all.sends, held)) {
            return "";
        }
    }
    const auto own = std::find_if(all.sends.begin(), all.sends.end(), [rank](const Transfer& send) {
        return send.source_rank == rank;
    });
    if (own == all.sends.end()) {
        return "";
    }
    const auto name = [&schedule](int32_t participant) {
        return schedule.is_switch(participant) ? std::string("the switch")
                                               : "rank " + std::to_string(participant);
    };
    const int32_t count = held.count(rank, own->chunk_begin);
    const int32_t last = own->chunk_begin + own->chunk_count - 1;
    const std::string what = own->chunk_count == 1 ? "chunk " + std::to_string(last)
                                                   : "chunks " + std::to_string(own->chunk_begin) +
                                                         " to " + std::to_string(last);
    std::string text = name(rank) + " sends " + what;
    if (count == schedule.contributor_count()) {
        text += count > 1 ? ", finished," : "";
    } else if (count > 1) {
        text += ", the sum of " + std::to_string(count) + " inputs,";
    } else {
        text += ", its own input,";
    }
    const bool adds = own->action == Action::reduce;
    return text + " to " + name(own->target_rank) +
           (!adds                                  ? ", which overwrites its own"
            : schedule.is_switch(own->target_rank) ? ", which adds it up"
                                                   : ", which adds it to its own");
}

namespace {

// Which transfers of a step go through the staging area, and where in it each lies.
class StagingPlanner {
  public:
    explicit StagingPlanner(const Schedule& schedule)
        : schedule_(schedule),
          overwritten_step_(static_cast<size_t>(schedule.participant_count) *
                                static_cast<size_t>(schedule.chunk_count),
                            -1),
          taken_(static_cast<size_t>(schedule.participant_count)),
          element_counts_(taken_.size()) {}

    void begin_step() { std::fill(taken_.begin(), taken_.end(), 0); }

    // Of all transfers of a step, or of its lanes one after the other: their chunks differ. Returns
    // where each begins, -1 for those that go straight from buffer to buffer.
    std::vector<int64_t> place(const std::vector<Transfer>& receives, int32_t step) {
        for (const Transfer& transfer : receives) {
            int32_t* first = overwritten_step(transfer.target_rank, transfer.chunk_begin);
            std::fill_n(first, transfer.chunk_count, step);
        }
        std::vector<int64_t> begins(receives.size(), -1);
        for (size_t i = 0; i < receives.size(); ++i) {
            if (!overwritten_at_its_source(receives[i], step)) {
                continue;
            }
            const auto target = static_cast<size_t>(receives[i].target_rank);
            begins[i] = taken_[target];
            taken_[target] +=
                schedule_.bytes(receives[i]) / element_bytes(schedule_.problem.element_type);
            element_counts_[target] = std::max(element_counts_[target], taken_[target]);
        }
        return begins;
    }

    const std::vector<int64_t>& element_counts() const { return element_counts_; }

  private:
    int32_t* overwritten_step(int32_t participant, int32_t chunk) {
        return &overwritten_step_[static_cast<size_t>(participant) *
                                      static_cast<size_t>(schedule_.chunk_count) +
                                  static_cast<size_t>(chunk)];
    }

    // True when the source takes something into one of these chunks in the same step.
    bool overwritten_at_its_source(const Transfer& transfer, int32_t step) {
        const int32_t* first = overwritten_step(transfer.source_rank, transfer.chunk_begin);
        return std::find(first, first + transfer.chunk_count, step) != first + transfer.chunk_count;
    }

    const Schedule& schedule_;
    std::vector<int32_t> overwritten_step_;  // [participant][chunk] the last step that does
    std::vector<int64_t> taken_;             // [participant] in this step
    std::vector<int64_t> element_counts_;    // [participant] the most in any step
};

// Who touched one chunk of one participant's buffer last.
struct ChunkUse {
    int32_t writer_hop_count = 0;  // the owner's own hops up to the last write; 0: still the input
    std::vector<Dependency> readers;  // hops of others that read it since
};

class HopDeriver {
  public:
    explicit HopDeriver(const Schedule& schedule)
        : schedule_(schedule),
          staging_(schedule),
          uses_(static_cast<size_t>(schedule.participant_count) *
                static_cast<size_t>(schedule.chunk_count)) {
        plan_.hops.resize(static_cast<size_t>(schedule.participant_count));
    }

    HopPlan derive() {
        for (int32_t step = 0; step < schedule_.step_count; ++step) {
            add_step(collect_step(schedule_, step).receives, step);
        }
        plan_.staging_element_counts = staging_.element_counts();
        return std::move(plan_);
    }

  private:
    size_t cell(int32_t rank, int32_t chunk) const {
        return static_cast<size_t>(rank) * static_cast<size_t>(schedule_.chunk_count) +
               static_cast<size_t>(chunk);
    }

    template <class Visit>
    void for_each_chunk(const Transfer& transfer, Visit visit) {
        for (int32_t i = 0; i < transfer.chunk_count; ++i) {
            visit(transfer.chunk_begin + i);
        }
    }

    static void depend(Hop& hop, Dependency dependency) {
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
    }

    // Appends a hop to its receiver's; returns how many that has now.
    int32_t append(const Hop& hop) {
        auto& mine = plan_.hops[static_cast<size_t>(hop.transfer.target_rank)];
        mine.push_back(hop);
        return static_cast<int32_t>(mine.size());
    }

    int32_t append_reading(const Transfer& transfer, HopKind kind, int64_t staging_begin) {
        Hop hop{transfer, kind, staging_begin, {}};
        for_each_chunk(transfer, [&](int32_t chunk) {
            const ChunkUse& source = uses_[cell(transfer.source_rank, chunk)];
            depend(hop, {transfer.source_rank, source.writer_hop_count});
        });
        if (kind == HopKind::direct) {
            depend_on_readers(hop);
        }
        return append(hop);
    }

    void depend_on_readers(Hop& hop) {
        for_each_chunk(hop.transfer, [&](int32_t chunk) {
            for (const Dependency& reader : uses_[cell(hop.transfer.target_rank, chunk)].readers) {
                depend(hop, reader);
            }
        });
    }

    void note_reader(const Transfer& transfer, int32_t hop_count) {
        for_each_chunk(transfer, [&](int32_t chunk) {
            uses_[cell(transfer.source_rank, chunk)].readers.push_back(
                {transfer.target_rank, hop_count});
        });
    }

    void note_writer(const Transfer& transfer, int32_t hop_count) {
        for_each_chunk(transfer, [&](int32_t chunk) {
            ChunkUse& target = uses_[cell(transfer.target_rank, chunk)];
            target.writer_hop_count = hop_count;
            target.readers.clear();
        });
    }

    void add_step(const std::vector<Transfer>& receives, int32_t step) {
        staging_.begin_step();
        const std::vector<int64_t> staged = staging_.place(receives, step);
        for (size_t i = 0; i < receives.size(); ++i) {
            if (staged[i] >= 0) {
                note_reader(receives[i], append_reading(receives[i], HopKind::fetch, staged[i]));
            }
        }
        take_in(receives, staged);
    }

    void take_in(const std::vector<Transfer>& receives, const std::vector<int64_t>& staged) {
        std::vector<int32_t> hop_counts;
        for (size_t i = 0; i < receives.size(); ++i) {
            if (staged[i] < 0) {
                hop_counts.push_back(append_reading(receives[i], HopKind::direct, 0));
            } else {
                Hop hop{receives[i], HopKind::take_in, staged[i], {}};
                depend_on_readers(hop);
                hop_counts.push_back(append(hop));
            }
        }
        for (size_t i = 0; i < receives.size(); ++i) {
            note_writer(receives[i], hop_counts[i]);
        }
        for (size_t i = 0; i < receives.size(); ++i) {
            if (staged[i] < 0) {
                note_reader(receives[i], hop_counts[i]);
            }
        }
    }

    const Schedule& schedule_;
    StagingPlanner staging_;
    HopPlan plan_;
    std::vector<ChunkUse> uses_;
};

}  // namespace

HopPlan derive_hops(const Schedule& schedule) {
    return HopDeriver(schedule).derive();
}

std::vector<int64_t> staging_element_counts(const Schedule& schedule) {
    StagingPlanner staging(schedule);
    std::vector<Transfer> receives;
    for (int32_t step = 0; step < schedule.step_count; ++step) {
        staging.begin_step();
        for (int32_t lane = 0; lane < schedule.lane_count; ++lane) {
            receives.clear();
            for (int32_t rank = 0; rank < schedule.participant_count; ++rank) {
                schedule.append_receives(lane, step, rank, receives);
            }
            staging.place(receives, step);
        }
    }
    return staging.element_counts();
}

}  // namespace ringscope
