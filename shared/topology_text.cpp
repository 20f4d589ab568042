// SPDX-License-Identifier: Apache-2.0
#include "shared/topology_text.hpp"

#include <algorithm>

#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr std::string_view first_line = "ringscope-topology 1";

// The words of a line, without what follows a hash.
std::vector<std::string_view> split_words(std::string_view line, TopologyForm form) {
    const std::string_view separators = form == TopologyForm::file ? " \t\r" : ",";
    if (form == TopologyForm::file) {
        line = line.substr(0, line.find('#'));
    }
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const size_t end = std::min(line.find_first_of(separators), line.size());
        if (end > 0) {
            words.push_back(line.substr(0, end));
        }
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

template <class List>
std::string one_of(const List& names) {
    std::string text = "must be one of";
    for (const std::string_view name : names) {
        text += " " + std::string(name);
    }
    return text;
}

// A place in a list of names, or -1.
template <class List>
int32_t place_of(std::string_view word, const List& names) {
    const auto found = std::find(names.begin(), names.end(), word);
    return found == names.end() ? -1 : static_cast<int32_t>(found - names.begin());
}

// The nodes that are reached from one node over those that pass on, or with `backwards` that reach
// it.
std::vector<bool> around(const Topology& topology, int32_t hub, bool backwards) {
    std::vector<std::vector<int32_t>> next_nodes(topology.nodes.size());
    for (const Link& link : topology.links) {
        const int32_t from = backwards ? link.target_node : link.source_node;
        const int32_t to = backwards ? link.source_node : link.target_node;
        next_nodes[static_cast<size_t>(from)].push_back(to);
    }
    std::vector<bool> seen(topology.nodes.size());
    seen[static_cast<size_t>(hub)] = true;
    std::vector<int32_t> left{hub};
    while (!left.empty()) {
        const auto node = static_cast<size_t>(left.back());
        left.pop_back();
        if (topology.nodes[node].kind == NodeKind::gpu) {
            continue;
        }
        for (const int32_t next : next_nodes[node]) {
            if (!seen[static_cast<size_t>(next)]) {
                seen[static_cast<size_t>(next)] = true;
                left.push_back(next);
            }
        }
    }
    return seen;
}

// Whether all ranks reach some node that reaches all of them: then every rank reaches every other,
// and nobody has to try all pairs.
bool some_hub_joins(const Topology& topology) {
    constexpr int tried_max = 8;
    int tried = 0;
    for (const int32_t index : topology.outgoing[static_cast<size_t>(topology.rank_nodes[0])]) {
        const int32_t hub = topology.links[static_cast<size_t>(index)].target_node;
        if (topology.nodes[static_cast<size_t>(hub)].kind == NodeKind::gpu || ++tried > tried_max) {
            continue;
        }
        const std::vector<bool> reached = around(topology, hub, false);
        const std::vector<bool> reaching = around(topology, hub, true);
        if (std::all_of(topology.rank_nodes.begin(), topology.rank_nodes.end(), [&](int32_t node) {
                return reached[static_cast<size_t>(node)] && reaching[static_cast<size_t>(node)];
            })) {
            return true;
        }
    }
    return false;
}

// Reads a graph line by line.
class GraphReader {
  public:
    GraphReader(std::string_view field, TopologyForm form, const RunSpec& run)
        : field_(field), form_(form), run_(run) {}

    Result<Topology> read(std::string_view text);

  private:
    Status read_line(std::string_view line);
    Status read_node();
    Status read_node_marks();
    Status read_link();
    Status read_rank();
    Status read_rate(size_t place, Link& link);
    Status read_latency(size_t place, Link& link);
    Status read_link_marks(Link& link, bool& one_way);
    Status add(const Link& link);
    Status finish();
    Status check_reach() const;
    Result<int32_t> known_node(size_t place);
    Status check_word_count(size_t min, std::string_view form);

    // About a word of the line, counted from 0; one past the last is the line's end.
    Error wrong(size_t place, const std::string& allowed) const;
    Error wrong_graph(const std::string& value, const std::string& allowed) const {
        return invalid_field(field_, value, allowed);
    }

    std::string field_;
    TopologyForm form_;
    const RunSpec& run_;
    Topology topology_;
    std::vector<int32_t> rank_nodes_;  // [rank] or -1
    std::vector<bool> is_rank_;        // [node]
    std::vector<std::string_view> words_;
    int32_t line_ = 0;
    bool begun_ = false;  // the first line was there
};

Error GraphReader::wrong(size_t place, const std::string& allowed) const {
    const bool past = place >= words_.size();
    const std::string where = "line " + std::to_string(line_) + ", " +
                              (past ? "at its end" : "word " + std::to_string(place + 1));
    return invalid_field(
        field_, std::string(past ? words_.back() : words_[place]), where + ": " + allowed);
}

Result<Topology> GraphReader::read(std::string_view text) {
    if (text.size() > graph_text_bytes_max) {
        return wrong_graph(std::to_string(text.size()) + " characters",
                           "must have at most " + std::to_string(graph_text_bytes_max));
    }
    begun_ = form_ == TopologyForm::compact;
    const char separator = form_ == TopologyForm::file ? '\n' : ';';
    while (!text.empty()) {
        const size_t end = std::min(text.find(separator), text.size());
        ++line_;
        if (const Status status = read_line(text.substr(0, end)); !status) {
            return status.error();
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (const Status status = finish(); !status) {
        return status.error();
    }
    return std::move(topology_);
}

Status GraphReader::read_line(std::string_view line) {
    words_ = split_words(line, form_);
    if (words_.empty()) {
        return Done{};
    }
    if (!begun_) {
        begun_ = words_.size() == 2 && words_[0] == "ringscope-topology" && words_[1] == "1";
        return begun_ ? Status(Done{})
                      : wrong(0, "must be the line \"" + std::string(first_line) + "\"");
    }
    if (words_[0] == "node") {
        return read_node();
    }
    if (words_[0] == "link") {
        return read_link();
    }
    if (words_[0] == "rank") {
        return read_rank();
    }
    return wrong(0, "must be node, link or rank");
}

Status GraphReader::check_word_count(size_t min, std::string_view form) {
    return words_.size() >= min ? Status(Done{})
                                : wrong(words_.size(), "must go on: " + std::string(form));
}

Status GraphReader::read_node() {
    if (const Status status = check_word_count(3, "node NAME KIND"); !status) {
        return status.error();
    }
    if (std::ssize(topology_.nodes) == graph_node_count_max) {
        return wrong(1,
                     "is one too many: at most " + std::to_string(graph_node_count_max) + " nodes");
    }
    if (!is_node_name(words_[1])) {
        return wrong(
            1,
            "must be a name of lower-case letters, digits and _, a letter first, at most " +
                std::to_string(node_name_bytes_max));
    }
    if (topology_.find_node(words_[1]) >= 0) {
        return wrong(1, "is the name of another node already");
    }
    const int32_t kind = place_of(words_[2], node_kind_names);
    if (kind < 0) {
        return wrong(2, one_of(node_kind_names));
    }
    topology_.add_node(static_cast<NodeKind>(kind), std::string(words_[1]));
    is_rank_.push_back(false);
    return read_node_marks();
}

Status GraphReader::read_node_marks() {
    for (size_t place = 3; place < words_.size(); ++place) {
        const std::string_view word = words_[place];
        if (word == "reduces") {
            if (topology_.reducing_node >= 0) {
                return wrong(place, "must be said of one node only, once");
            }
            topology_.reducing_node = static_cast<int32_t>(topology_.nodes.size()) - 1;
            continue;
        }
        const bool is_host = word.starts_with("host=");
        const auto host = parse_count(field_, is_host ? word.substr(5) : "", 0, graph_host_max);
        if (!host) {
            return wrong(
                place, "must be host=0 to host=" + std::to_string(graph_host_max) + ", or reduces");
        }
        topology_.nodes.back().host = static_cast<int32_t>(*host);
    }
    return Done{};
}

Result<int32_t> GraphReader::known_node(size_t place) {
    const int32_t node = topology_.find_node(words_[place]);
    return node >= 0 ? Result<int32_t>(node)
                     : wrong(place, "must be the name of a node in a line before this one");
}

// "240GB/s", "bandwidth" or "bandwidth/4"
Status GraphReader::read_rate(size_t place, Link& link) {
    constexpr std::string_view own = "bandwidth";
    const std::string_view word = words_[place];
    if (word.starts_with(own)) {
        const std::string_view rest = word.substr(own.size());
        const auto divisor =
            rest.empty() ? Result<int64_t>(1) : parse_count(field_, rest.substr(1), 2, 1'000'000);
        if (divisor && (rest.empty() || rest[0] == '/')) {
            link.follows_bandwidth = true;
            link.bandwidth_divisor = static_cast<int32_t>(*divisor);
            link.bandwidth_bytes_per_s =
                narrowed(run_.bandwidth_bytes_per_s, link.bandwidth_divisor);
            return Done{};
        }
    }
    const auto rate = parse_bandwidth(field_, word);
    if (!rate) {
        return wrong(place,
                     rate.error().allowed +
                         ", or bandwidth, the run's own, or a part of it such as bandwidth/4");
    }
    link.bandwidth_bytes_per_s = *rate;
    return Done{};
}

Status GraphReader::read_latency(size_t place, Link& link) {
    if (words_[place] == "latency") {
        link.follows_latency = true;
        link.latency_ps = run_.latency_ps;
        return Done{};
    }
    const auto latency_ps = parse_time(field_, words_[place]);
    if (!latency_ps) {
        return wrong(place, latency_ps.error().allowed + ", or latency, the run's own");
    }
    link.latency_ps = *latency_ps;
    return Done{};
}

Status GraphReader::read_link_marks(Link& link, bool& one_way) {
    for (size_t place = 6; place < words_.size(); ++place) {
        if (words_[place] == "one-way") {
            one_way = true;
        } else if (words_[place] == "down") {
            link.up = false;
        } else {
            return wrong(place, "must be one-way or down");
        }
    }
    return Done{};
}

Status GraphReader::read_link() {
    if (const Status status = check_word_count(6, "link FROM TO RATE LATENCY KIND"); !status) {
        return status.error();
    }
    const auto source = known_node(1);
    if (!source) {
        return source.error();
    }
    const auto target = known_node(2);
    if (!target) {
        return target.error();
    }
    if (*source == *target) {
        return wrong(2, "must be another node than the one before");
    }
    Link link{.source_node = *source, .target_node = *target};
    if (const Status status = read_rate(3, link); !status) {
        return status.error();
    }
    if (const Status status = read_latency(4, link); !status) {
        return status.error();
    }
    const int32_t kind = place_of(words_[5], link_kind_names);
    if (kind < 0) {
        return wrong(5, one_of(link_kind_names));
    }
    link.kind = static_cast<LinkKind>(kind);
    bool one_way = false;
    if (const Status status = read_link_marks(link, one_way); !status) {
        return status.error();
    }
    if (const Status status = add(link); !status || one_way) {
        return status;
    }
    std::swap(link.source_node, link.target_node);
    return add(link);
}

Status GraphReader::add(const Link& link) {
    if (topology_.find_link(link.source_node, link.target_node) >= 0) {
        return wrong(2,
                     "has a link from " +
                         topology_.nodes[static_cast<size_t>(link.source_node)].name + " to " +
                         topology_.nodes[static_cast<size_t>(link.target_node)].name +
                         " already; add their rates up in one");
    }
    if (std::ssize(topology_.links) == graph_link_count_max) {
        return wrong(1,
                     "is one too many: at most " + std::to_string(graph_link_count_max) +
                         " links, counted per direction");
    }
    topology_.add_link(link);
    return Done{};
}

Status GraphReader::read_rank() {
    if (const Status status = check_word_count(3, "rank NUMBER NODE"); !status) {
        return status.error();
    }
    const auto rank = parse_count(field_, words_[1], 0, rank_count_max - 1);
    if (!rank) {
        return wrong(1, rank.error().allowed);
    }
    const auto place = static_cast<size_t>(*rank);
    rank_nodes_.resize(std::max(rank_nodes_.size(), place + 1), -1);
    if (rank_nodes_[place] >= 0) {
        return wrong(1, "is a rank that has a node already");
    }
    const auto node = known_node(2);
    if (!node) {
        return node.error();
    }
    if (is_rank_[static_cast<size_t>(*node)]) {
        return wrong(2, "is another rank's node already");
    }
    if (words_.size() > 3) {
        return wrong(3, "must not follow: rank NUMBER NODE");
    }
    is_rank_[static_cast<size_t>(*node)] = true;
    rank_nodes_[place] = *node;
    return Done{};
}

// Errors about the graph as a whole.
Status GraphReader::finish() {
    if (!begun_ || rank_nodes_.empty()) {
        return wrong_graph("",
                           begun_ ? "must name the node of each rank: rank 0 NODE, rank 1 NODE"
                                  : "must begin with the line \"" + std::string(first_line) + "\"");
    }
    for (size_t rank = 0; rank < rank_nodes_.size(); ++rank) {
        if (rank_nodes_[rank] < 0) {
            return wrong_graph("rank " + std::to_string(rank),
                               "is missing; the ranks must be 0 to n-1, each once");
        }
    }
    topology_.rank_nodes = rank_nodes_;
    topology_.host_rank_count = count_host_ranks(topology_);
    return check_reach();
}

Status GraphReader::check_reach() const {
    if (some_hub_joins(topology_)) {
        return Done{};
    }
    Router router(topology_);
    for (const int32_t source : topology_.rank_nodes) {
        for (const int32_t target : topology_.rank_nodes) {
            if (!router.reaches(source, target)) {
                return wrong_graph(
                    topology_.nodes[static_cast<size_t>(source)].name + " to " +
                        topology_.nodes[static_cast<size_t>(target)].name,
                    "is no way there is: every rank must reach every other, and GPUs "
                    "pass nothing on; join them by a switch, a cpu or a network");
            }
        }
    }
    return Done{};
}

// One line of the text, from its words.
void append_line(std::string& text, TopologyForm form, const std::vector<std::string>& words) {
    const bool file = form == TopologyForm::file;
    if (!file && !text.empty()) {
        text += ';';
    }
    for (size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : file ? " " : ",") + words[i];
    }
    text += file ? "\n" : "";
}

std::vector<std::string> node_words(const Topology& topology, size_t index) {
    const Node& node = topology.nodes[index];
    std::vector<std::string> words{
        "node", node.name, std::string(node_kind_names[static_cast<size_t>(node.kind)])};
    if (node.host >= 0) {
        words.push_back("host=" + std::to_string(node.host));
    }
    if (topology.reducing_node == static_cast<int32_t>(index)) {
        words.emplace_back("reduces");
    }
    return words;
}

std::vector<std::string> link_words(const Topology& topology, const Link& link, bool one_way) {
    std::string rate = print_bandwidth(link.bandwidth_bytes_per_s);
    if (link.follows_bandwidth) {
        rate = link.bandwidth_divisor == 1 ? "bandwidth"
                                           : "bandwidth/" + std::to_string(link.bandwidth_divisor);
    }
    std::vector<std::string> words{"link",
                                   topology.nodes[static_cast<size_t>(link.source_node)].name,
                                   topology.nodes[static_cast<size_t>(link.target_node)].name,
                                   rate,
                                   link.follows_latency ? "latency" : print_time(link.latency_ps),
                                   std::string(link_kind_names[static_cast<size_t>(link.kind)])};
    if (one_way) {
        words.emplace_back("one-way");
    }
    if (!link.up) {
        words.emplace_back("down");
    }
    return words;
}

}  // namespace

Result<Topology> parse_topology(std::string_view field,
                                std::string_view text,
                                TopologyForm form,
                                const RunSpec& run) {
    return GraphReader(field, form, run).read(text);
}

std::string print_topology(const Topology& topology, TopologyForm form) {
    std::string text;
    if (form == TopologyForm::file) {
        append_line(text, form, {std::string(first_line)});
    }
    for (size_t i = 0; i < topology.nodes.size(); ++i) {
        append_line(text, form, node_words(topology, i));
    }
    for (size_t i = 0; i < topology.links.size(); ++i) {
        Link back = topology.links[i];
        std::swap(back.source_node, back.target_node);
        const bool cable = i + 1 < topology.links.size() && topology.links[i + 1] == back;
        append_line(text, form, link_words(topology, topology.links[i], !cable));
        i += cable ? 1 : 0;
    }
    for (size_t rank = 0; rank < topology.rank_nodes.size(); ++rank) {
        const auto node = static_cast<size_t>(topology.rank_nodes[rank]);
        append_line(text, form, {"rank", std::to_string(rank), topology.nodes[node].name});
    }
    return text;
}

}  // namespace ringscope
