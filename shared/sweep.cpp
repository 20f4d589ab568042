// SPDX-License-Identifier: Apache-2.0
#include "shared/sweep.hpp"

#include <algorithm>

#include "shared/arrange.hpp"
#include "shared/report.hpp"
#include "shared/simulator.hpp"
#include "shared/units.hpp"

namespace ringscope {
namespace {

constexpr size_t value_count_max = 1000;

struct Number {
    std::string_view key;
    Result<int64_t> (*parse)(std::string_view field, std::string_view text);
    std::string (*print)(int64_t value);
};

Result<int64_t> parse_plain(std::string_view field, std::string_view text) {
    return parse_count(field, text, 1, rank_count_max);
}

std::string print_plain(int64_t value) {
    return std::to_string(value);
}

// Keys whose values can be doubled.
constexpr Number numbers[] = {{"ranks", parse_plain, print_plain},
                              {"channels", parse_plain, print_plain},
                              {"chunks", parse_plain, print_plain},
                              {"slots", parse_plain, print_plain},
                              {"oversubscription", parse_plain, print_plain},
                              {"bytes", parse_bytes, print_bytes},
                              {"segment", parse_bytes, print_bytes},
                              {"bandwidth", parse_bandwidth, print_bandwidth},
                              {"reduce", parse_bandwidth, print_bandwidth},
                              {"latency", parse_time, print_time},
                              {"launch", parse_time, print_time}};

Error bad_axis(std::string_view axis, const std::string& allowed) {
    return invalid_field("sweep", std::string(axis), allowed);
}

// "1MiB..1GiB"
Result<std::vector<std::string>> doubled(std::string_view axis,
                                         std::string_view key,
                                         std::string_view first,
                                         std::string_view last) {
    const auto number = std::find_if(std::begin(numbers),
                                     std::end(numbers),
                                     [&](const Number& known) { return known.key == key; });
    if (number == std::end(numbers)) {
        return bad_axis(axis, "must list the values of " + std::string(key) + ", such as a,b");
    }
    const auto from = number->parse(key, first);
    const auto to = number->parse(key, last);
    if (!from || !to) {
        return from ? to.error() : from.error();
    }
    if (*from < 1 || *to < *from) {
        return bad_axis(axis, "must go from a smaller value above 0 to a larger one");
    }
    std::vector<std::string> values;
    for (int64_t value = *from; value <= *to; value *= 2) {
        values.push_back(number->print(value));
    }
    return values;
}

Result<std::vector<std::string>> axis_values(std::string_view axis,
                                             std::string_view key,
                                             std::string_view text) {
    if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
        return doubled(axis, key, text.substr(0, dots), text.substr(dots + 2));
    }
    std::vector<std::string> values;
    for (std::string_view rest = text; !rest.empty();) {
        const size_t comma = std::min(rest.find(','), rest.size());
        values.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (values.empty() || values.size() > value_count_max) {
        return bad_axis(axis, "must have 1 to " + std::to_string(value_count_max) + " values");
    }
    return values;
}

bool is_key(std::string_view key) {
    const auto keys = run_keys();
    return std::any_of(keys.begin(), keys.end(), [&](const RunKey& known) {
        return known.name == key && !known.repeatable;
    });
}

// The line without what it says about this key.
std::string without(const std::string& line, const std::string& key) {
    std::string kept;
    for (std::string_view rest = line; !rest.empty();) {
        const size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view part = rest.substr(0, end);
        if (!part.starts_with(key + "=")) {
            kept += (kept.empty() ? "" : "&") + std::string(part);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return kept;
}

// The outcome and the numbers of one simulation.
void fill(SweepRow& row) {
    const auto run = parse_run(row.run_line);
    if (!run) {
        row.outcome = {OutcomeKind::failed, run.error().message};
        return;
    }
    auto simulator = Simulator::create(*run);
    if (!simulator) {
        row.outcome = {OutcomeKind::failed, simulator.error().message};
        return;
    }
    ReportBuilder builder(*run, simulator->schedule());
    while (!simulator->done()) {
        simulator->advance_by(1024);
        for (const Event& event : simulator->take_events()) {
            builder.add(event);
        }
    }
    builder.add_rounds(told_rounds(simulator->run(), simulator->rounds()));
    const Report report = builder.finish(*run);
    row.run_line = print_run(*run);
    row.duration_ps = report.duration_ps;
    row.algbw_bytes_per_s = report.algbw_bytes_per_s;
    row.busbw_bytes_per_s = report.busbw_bytes_per_s;
    row.lower_bound_ps = report.lower_bound_ps;
    row.outcome = simulator->outcome();
}

}  // namespace

Result<Sweep> Sweep::create(std::string_view base_line, const std::vector<std::string>& axes) {
    Sweep sweep;
    sweep.base_line_ = std::string(base_line);
    for (const std::string& axis : axes) {
        const size_t equals = std::min(axis.find('='), axis.size());
        const std::string key = axis.substr(0, equals);
        if (equals == axis.size() || !is_key(key)) {
            return bad_axis(axis, "must be KEY=VALUES with a key of the run line");
        }
        if (std::find(sweep.keys_.begin(), sweep.keys_.end(), key) != sweep.keys_.end()) {
            return bad_axis(axis, "must be given only once");
        }
        auto values = axis_values(axis, key, std::string_view(axis).substr(equals + 1));
        if (!values) {
            return values.error();
        }
        sweep.size_ *= std::ssize(*values);
        if (sweep.size_ > sweep_point_count_max) {
            return bad_axis(axis,
                            "makes more than " + std::to_string(sweep_point_count_max) +
                                " simulations; name fewer values");
        }
        sweep.base_line_ = without(sweep.base_line_, key);
        sweep.keys_.push_back(key);
        sweep.values_.push_back(std::move(*values));
    }
    return sweep;
}

SweepRow Sweep::step() {
    RS_CHECK(!done());
    SweepRow row;
    row.run_line = base_line_;
    row.values.resize(keys_.size());
    int64_t place = next_++;
    for (size_t axis = keys_.size(); axis-- > 0;) {
        const auto count = std::ssize(values_[axis]);
        row.values[axis] = values_[axis][static_cast<size_t>(place % count)];
        place /= count;
    }
    for (size_t axis = 0; axis < keys_.size(); ++axis) {
        row.run_line += (row.run_line.empty() ? "" : "&") + keys_[axis] + "=" + row.values[axis];
    }
    fill(row);
    return row;
}

}  // namespace ringscope
