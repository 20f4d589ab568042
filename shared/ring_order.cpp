// SPDX-License-Identifier: Apache-2.0
#include "shared/ring_order.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

namespace ringscope {
namespace {

using Order = std::vector<int32_t>;  // [position] rank

constexpr int32_t exact_rank_count_max = 9;
constexpr int64_t trial_hops_max = 1 << 17;    // of all trials together
constexpr int64_t search_steps_max = 1 << 11;  // of one search for a ring of near hops
constexpr uint32_t search_count_max = 16;      // of them, with equally near ranks in other orders
constexpr size_t class_count_max = 16;         // the widest links share the last one
constexpr int64_t down_bytes_per_s = 1;

// What a ring costs, or a part of it: no number ever gets less when a hop is added.
struct Cost {
    int64_t load = 0;  // hops on the link where load / bandwidth is greatest
    int64_t bandwidth_bytes_per_s = 1;
    std::array<int32_t, class_count_max> crossings{};  // of links, the narrowest first
    int64_t latency_ps = 0;

    bool operator<(const Cost& other) const {
        // Loads are below 2^10 and rates below 2^50, so the products fit.
        const int64_t mine = load * other.bandwidth_bytes_per_s;
        const int64_t others = other.load * bandwidth_bytes_per_s;
        if (mine != others) {
            return mine < others;
        }
        if (crossings != other.crossings) {
            return crossings < other.crossings;
        }
        return latency_ps < other.latency_ps;
    }
};

// Every hop that a ring may have.
class Hops {
  public:
    explicit Hops(const Topology& topology);

    int32_t rank_count() const { return rank_count_; }
    size_t link_count() const { return bandwidths_.size(); }
    std::span<const int32_t> links(int32_t source, int32_t target) const {
        const size_t hop = index(source, target);
        return std::span(links_).subspan(begins_[hop], begins_[hop + 1] - begins_[hop]);
    }
    int64_t latency_ps(int32_t source, int32_t target) const {
        return latencies_[index(source, target)];
    }
    int64_t bandwidth_bytes_per_s(int32_t link) const {
        return bandwidths_[static_cast<size_t>(link)];
    }
    size_t class_of(int32_t link) const { return classes_[static_cast<size_t>(link)]; }

  private:
    size_t index(int32_t source, int32_t target) const {
        return static_cast<size_t>(source) * static_cast<size_t>(rank_count_) +
               static_cast<size_t>(target);
    }
    void add_hop(const Topology& topology, Router& router, int32_t source, int32_t target);
    void sort_into_classes();

    int32_t rank_count_;
    std::vector<size_t> begins_{0};    // [hop] into links_
    std::vector<int32_t> links_;       // those of the topology, then one per pair set apart
    std::vector<int64_t> latencies_;   // [hop]
    std::vector<int64_t> bandwidths_;  // [link]
    std::vector<size_t> classes_;      // [link]
};

Hops::Hops(const Topology& topology)
    : rank_count_(static_cast<int32_t>(topology.rank_nodes.size())) {
    for (const Link& link : topology.links) {
        bandwidths_.push_back(link.up ? link.bandwidth_bytes_per_s : down_bytes_per_s);
    }
    Router router(topology);
    for (int32_t source = 0; source < rank_count_; ++source) {
        for (int32_t target = 0; target < rank_count_; ++target) {
            add_hop(topology, router, source, target);
            begins_.push_back(links_.size());
        }
    }
    sort_into_classes();
}

void Hops::add_hop(const Topology& topology, Router& router, int32_t source, int32_t target) {
    int64_t latency_ps = 0;
    for (const int32_t link : router.route(topology.rank_nodes[static_cast<size_t>(source)],
                                           topology.rank_nodes[static_cast<size_t>(target)],
                                           0)) {
        links_.push_back(link);
        latency_ps += topology.links[static_cast<size_t>(link)].latency_ps;
    }
    if (const auto found = topology.pairs.find({source, target}); found != topology.pairs.end()) {
        const Pair& pair = found->second;
        latency_ps = pair.latency_ps.value_or(latency_ps);
        if (pair.bandwidth_bytes_per_s || !pair.up) {
            links_.push_back(static_cast<int32_t>(bandwidths_.size()));
            bandwidths_.push_back(pair.up ? *pair.bandwidth_bytes_per_s : down_bytes_per_s);
        }
    }
    latencies_.push_back(std::min(latency_ps, INT64_MAX / (2 * best_ring_rank_count_max)));
}

void Hops::sort_into_classes() {
    std::vector<int64_t> used;
    for (const int32_t link : links_) {
        used.push_back(bandwidth_bytes_per_s(link));
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const int64_t bandwidth : bandwidths_) {
        const auto place = std::lower_bound(used.begin(), used.end(), bandwidth) - used.begin();
        classes_.push_back(std::min(static_cast<size_t>(place), class_count_max - 1));
    }
}

// Hops being added up.
class Sum {
  public:
    explicit Sum(const Hops& hops) : hops_(hops), loads_(hops.link_count()) {}

    const Cost& cost() const { return cost_; }
    void add(int32_t source, int32_t target) {
        for (const int32_t link : hops_.links(source, target)) {
            const int64_t load = ++loads_[static_cast<size_t>(link)];
            const int64_t bandwidth = hops_.bandwidth_bytes_per_s(link);
            if (load * cost_.bandwidth_bytes_per_s > cost_.load * bandwidth) {
                cost_.load = load;
                cost_.bandwidth_bytes_per_s = bandwidth;
            }
            ++cost_.crossings[hops_.class_of(link)];
        }
        cost_.latency_ps += hops_.latency_ps(source, target);
    }
    // Takes the hop back that was added last; `before` is what the others cost.
    void remove(int32_t source, int32_t target, const Cost& before) {
        for (const int32_t link : hops_.links(source, target)) {
            --loads_[static_cast<size_t>(link)];
        }
        cost_ = before;
    }

  private:
    const Hops& hops_;
    std::vector<int32_t> loads_;  // [link]
    Cost cost_;
};

// All orders that begin with rank 0, from the natural one on, without those that cannot get better
// than the best so far, whatever hops follow.
class ExactSearch {
  public:
    explicit ExactSearch(const Hops& hops) : hops_(hops), sum_(hops), least_(least_of(hops)) {}

    Order run() {
        order_ = {0};
        extend();
        return best_;
    }

  private:
    // No hop has fewer crossings of any class than this, or a lower latency.
    static Cost least_of(const Hops& hops);

    bool can_win(int32_t hops_left) const {
        if (best_.empty()) {
            return true;
        }
        Cost bound = sum_.cost();
        for (size_t i = 0; i < class_count_max; ++i) {
            bound.crossings[i] += hops_left * least_.crossings[i];
        }
        bound.latency_ps += hops_left * least_.latency_ps;
        return bound < best_cost_;
    }
    void extend() {
        const int32_t last = order_.back();
        const auto count = static_cast<int32_t>(order_.size());
        const Cost before = sum_.cost();
        if (count == hops_.rank_count()) {
            sum_.add(last, 0);
            if (can_win(0)) {
                best_ = order_;
                best_cost_ = sum_.cost();
            }
            sum_.remove(last, 0, before);
            return;
        }
        for (int32_t rank = 1; rank < hops_.rank_count(); ++rank) {
            if (std::find(order_.begin(), order_.end(), rank) != order_.end()) {
                continue;
            }
            sum_.add(last, rank);
            if (can_win(hops_.rank_count() - count)) {
                order_.push_back(rank);
                extend();
                order_.pop_back();
            }
            sum_.remove(last, rank, before);
        }
    }

    const Hops& hops_;
    Sum sum_;
    Cost least_;
    Order order_;
    Order best_;
    Cost best_cost_;
};

Cost ExactSearch::least_of(const Hops& hops) {
    Cost least;
    least.crossings.fill(INT32_MAX);
    least.latency_ps = INT64_MAX;
    Sum sum(hops);
    for (int32_t source = 0; source < hops.rank_count(); ++source) {
        for (int32_t target = 0; target < hops.rank_count(); ++target) {
            if (source == target) {
                continue;
            }
            sum.add(source, target);
            for (size_t i = 0; i < class_count_max; ++i) {
                least.crossings[i] = std::min(least.crossings[i], sum.cost().crossings[i]);
            }
            least.latency_ps = std::min(least.latency_ps, sum.cost().latency_ps);
            sum.remove(source, target, {});
        }
    }
    return least;
}

// Hops by what each costs alone. Level 0 are the best hops that there are.
class Levels {
  public:
    explicit Levels(const Hops& hops);

    int32_t rank_count() const { return rank_count_; }
    int32_t level(int32_t source, int32_t target) const {
        return levels_[static_cast<size_t>(source) * static_cast<size_t>(rank_count_) +
                       static_cast<size_t>(target)];
    }
    // The lowest of all hops from this rank.
    int32_t lowest(int32_t source) const { return lowest_[static_cast<size_t>(source)]; }
    bool near(int32_t source, int32_t target) const {
        return source != target && level(source, target) == lowest(source);
    }

  private:
    int32_t rank_count_;
    std::vector<int32_t> levels_;  // [source, target]
    std::vector<int32_t> lowest_;  // [source]
};

Levels::Levels(const Hops& hops) : rank_count_(hops.rank_count()) {
    std::map<Cost, int32_t> known;
    std::vector<std::map<Cost, int32_t>::iterator> places;
    Sum sum(hops);
    for (int32_t source = 0; source < rank_count_; ++source) {
        for (int32_t target = 0; target < rank_count_; ++target) {
            sum.add(source, target);
            if (source == target) {
                places.push_back(known.end());
            } else {
                places.push_back(known.emplace(sum.cost(), 0).first);
            }
            sum.remove(source, target, {});
        }
    }
    int32_t next = 0;
    for (auto& [cost, level] : known) {
        level = next++;
    }
    lowest_.assign(static_cast<size_t>(rank_count_), INT32_MAX);
    for (size_t hop = 0; hop < places.size(); ++hop) {
        const bool to_itself = places[hop] == known.end();
        levels_.push_back(to_itself ? INT32_MAX : places[hop]->second);
        int32_t& lowest = lowest_[hop / static_cast<size_t>(rank_count_)];
        lowest = std::min(lowest, levels_.back());
    }
}

// Goes on to the nearest rank that is left, and among equally near ones to the one that has fewest
// near ranks left itself (as Warnsdorff's rule for a knight's tour), then to the lowest, or in
// another order of the ranks that depends on `attempt`.
//
// It may take steps back, but only `steps_max` steps in all; it gives up, with the order empty,
// when they are used up or when it would need a hop that is not near. Without any it never steps
// back and takes the hops that it has to.
class NearestFirst {
  public:
    NearestFirst(const Levels& levels, int64_t steps_max, uint32_t attempt)
        : levels_(levels), steps_left_(steps_max), near_only_(steps_max > 0), attempt_(attempt) {}

    Order run() {
        const int32_t rank_count = levels_.rank_count();
        used_.assign(static_cast<size_t>(rank_count), false);
        near_left_.assign(static_cast<size_t>(rank_count), 0);
        for (int32_t rank = 0; rank < rank_count; ++rank) {
            for (int32_t other = 0; other < rank_count; ++other) {
                near_left_[static_cast<size_t>(rank)] += levels_.near(rank, other) ? 1 : 0;
            }
        }
        use(0);
        return extend() ? order_ : Order{};
    }

  private:
    using Choice = std::tuple<int32_t, int32_t, uint32_t, int32_t>;  // as said above; the rank

    // Knuth's multiplicative hash; 0 for all ranks in attempt 0.
    uint32_t shuffled(int32_t rank) const {
        return static_cast<uint32_t>(rank + 1) * 2654435761U * attempt_;
    }

    bool extend() {
        const int32_t rank_count = levels_.rank_count();
        const int32_t last = order_.back();
        if (std::ssize(order_) == rank_count) {
            return !near_only_ || levels_.near(last, 0);
        }
        if (near_only_ && steps_left_-- <= 0) {
            return false;
        }
        std::vector<Choice> next;
        for (int32_t rank = 0; rank < rank_count; ++rank) {
            const auto place = static_cast<size_t>(rank);
            if (!used_[place] && (!near_only_ || levels_.near(last, rank))) {
                next.push_back(
                    {levels_.level(last, rank), near_left_[place], shuffled(rank), rank});
            }
        }
        std::sort(next.begin(), next.end());
        for (const auto& [level, near_left, place, rank] : next) {
            use(rank);
            if (extend()) {
                return true;
            }
            take_back(rank);
            if (steps_left_ <= 0) {
                return false;
            }
        }
        return false;
    }

    void use(int32_t rank) {
        order_.push_back(rank);
        used_[static_cast<size_t>(rank)] = true;
        count_neighbours(rank, -1);
    }
    void take_back(int32_t rank) {
        order_.pop_back();
        used_[static_cast<size_t>(rank)] = false;
        count_neighbours(rank, 1);
    }
    void count_neighbours(int32_t rank, int32_t change) {
        for (int32_t other = 0; other < levels_.rank_count(); ++other) {
            near_left_[static_cast<size_t>(other)] += levels_.near(other, rank) ? change : 0;
        }
    }

    const Levels& levels_;
    int64_t steps_left_;
    bool near_only_;
    uint32_t attempt_;
    Order order_;
    std::vector<bool> used_;          // [rank]
    std::vector<int32_t> near_left_;  // [rank]
};

// Whether near hops lead from rank 0 to every rank; without that there is no ring of them.
bool near_hops_reach_all(const Levels& levels) {
    Order reached{0};
    std::vector<bool> seen(static_cast<size_t>(levels.rank_count()));
    seen[0] = true;
    for (size_t next = 0; next < reached.size(); ++next) {
        for (int32_t rank = 0; rank < levels.rank_count(); ++rank) {
            if (!seen[static_cast<size_t>(rank)] && levels.near(reached[next], rank)) {
                seen[static_cast<size_t>(rank)] = true;
                reached.push_back(rank);
            }
        }
    }
    return std::ssize(reached) == levels.rank_count();
}

// A ring of near hops only, or nothing where none was found.
Order find_near_ring(const Levels& levels) {
    const uint32_t attempts = near_hops_reach_all(levels) ? search_count_max : 0;
    for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
        Order order = NearestFirst(levels, search_steps_max, attempt).run();
        if (!order.empty()) {
            return order;
        }
    }
    return {};
}

// Keeps the best order of those that it is shown, and improves it by 2-opt and or-opt.
class LocalSearch {
  public:
    LocalSearch(const Hops& hops, const Levels& levels)
        : hops_(hops),
          levels_(levels),
          sum_(hops),
          trials_left_(trial_hops_max / hops.rank_count()) {}

    // Whether it is better than the best so far, which it then is.
    bool show(const Order& order);
    void improve() {
        while (turn_pieces() || move_pieces()) {
        }
    }
    const Order& best() const { return best_; }

  private:
    int32_t size() const { return hops_.rank_count(); }
    bool try_order(const Order& order) { return trials_left_-- > 0 && show(order); }
    // Whether the hop from this position on could be shorter.
    bool improvable(int32_t position) const {
        const int32_t source = best_[static_cast<size_t>(position)];
        const int32_t target = best_[static_cast<size_t>((position + 1) % size())];
        return !levels_.near(source, target);
    }
    bool turn_pieces();
    bool move_pieces();
    bool move_piece(int32_t begin, int32_t end);

    const Hops& hops_;
    const Levels& levels_;
    Sum sum_;
    int64_t trials_left_;
    Order best_;
    std::optional<Cost> best_cost_;
};

bool LocalSearch::show(const Order& order) {
    size_t count = 0;
    bool better = true;
    while (count < order.size() && better) {
        sum_.add(order[count], order[(count + 1) % order.size()]);
        better = !best_cost_ || sum_.cost() < *best_cost_;
        ++count;
    }
    if (better) {
        best_ = order;
        best_cost_ = sum_.cost();
    }
    while (count > 0) {
        --count;
        sum_.remove(order[count], order[(count + 1) % order.size()], {});
    }
    return better;
}

// 2-opt: turns each piece of the ring round.
bool LocalSearch::turn_pieces() {
    bool better = false;
    for (int32_t begin = 1; begin < size() && trials_left_ > 0; ++begin) {
        for (int32_t end = begin + 2; end <= size() && trials_left_ > 0; ++end) {
            if (improvable(begin - 1) || improvable(end - 1)) {
                Order order = best_;
                std::reverse(order.begin() + begin, order.begin() + end);
                better = try_order(order) || better;
            }
        }
    }
    return better;
}

// Or-opt: moves each piece of one to three ranks to another place.
bool LocalSearch::move_pieces() {
    bool better = false;
    for (int32_t length = 1; length <= 3; ++length) {
        for (int32_t begin = 1; begin + length <= size() && trials_left_ > 0; ++begin) {
            better = move_piece(begin, begin + length) || better;
        }
    }
    return better;
}

// To behind each position, either way round. The piece is where it was again, or the order better.
bool LocalSearch::move_piece(int32_t begin, int32_t end) {
    const bool can_gain = improvable(begin - 1) || improvable(end - 1);
    for (int32_t behind = 0; behind < size() && trials_left_ > 0; ++behind) {
        if ((behind >= begin - 1 && behind < end) || !(can_gain || improvable(behind))) {
            continue;
        }
        Order order = best_;
        if (behind < begin) {
            std::rotate(order.begin() + behind + 1, order.begin() + begin, order.begin() + end);
        } else {
            std::rotate(order.begin() + begin, order.begin() + end, order.begin() + behind + 1);
        }
        if (try_order(order)) {
            return true;
        }
        const int32_t first = behind < begin ? behind + 1 : behind + 1 - (end - begin);
        std::reverse(order.begin() + first, order.begin() + first + (end - begin));
        if (end - begin > 1 && try_order(order)) {
            return true;
        }
    }
    return false;
}

Order search(const Hops& hops) {
    Order natural(static_cast<size_t>(hops.rank_count()));
    std::iota(natural.begin(), natural.end(), 0);
    const Levels levels(hops);
    LocalSearch search(hops, levels);
    search.show(natural);
    search.show(NearestFirst(levels, 0, 0).run());
    if (const Order near = find_near_ring(levels); !near.empty()) {
        search.show(near);
    }
    search.improve();
    return search.best();
}

}  // namespace

Result<std::vector<int32_t>> best_ring_order(const Topology& topology) {
    const auto rank_count = static_cast<int32_t>(topology.rank_nodes.size());
    if (rank_count > best_ring_rank_count_max) {
        return invalid_field("ring",
                             "best",
                             "is searched for among at most " +
                                 std::to_string(best_ring_rank_count_max) +
                                 " ranks; leave it out or name the order");
    }
    const Hops hops(topology);
    return rank_count <= exact_rank_count_max ? ExactSearch(hops).run() : search(hops);
}

}  // namespace ringscope
