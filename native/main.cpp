// SPDX-License-Identifier: Apache-2.0
// The command line. A run's flags are the keys of the run line, joined into one and read by
// parse_run, so that there is one parser and one vocabulary.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "native/commands.hpp"
#include "native/http_server.hpp"
#include "native/server.hpp"
#include "native/topology_file.hpp"
#include "native/worker.hpp"
#include "shared/run_spec.hpp"

namespace ringscope {
namespace {

// One flag for each key of the run line; `values` outlives the parsing.
struct RunFlags {
    std::string line;
    std::string topology_file;
    std::deque<std::vector<std::string>> values;  // [key]
};

void add_run_flags(CLI::App& command, RunFlags& flags) {
    command.add_option(
        "--run", flags.line, "a whole run line, instead of or before the flags below");
    for (const RunKey& key : run_keys()) {
        auto& values = flags.values.emplace_back();
        const std::string help = std::string(key.help) + " (" + std::string(key.example) + ")";
        CLI::Option* option =
            command.add_option("--" + std::string(key.name), values, help)->expected(1);
        if (key.repeatable) {
            option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        }
    }
    command.add_option("--topology-file",
                       flags.topology_file,
                       "a graph to run on, as `ringscope topology` prints one");
}

void add_output_flags(CLI::App& command, RunOptions& options) {
    command.add_option(
        "--trace", options.trace, "write the trace to this file; - is standard output");
    command.add_flag("--json", options.json, "one JSON object instead of a table");
}

// Errors: a value that would read as another key, and what is wrong with the topology's file.
Result<std::string> join_flags(const RunFlags& flags) {
    std::string line = flags.line;
    for (size_t i = 0; i < flags.values.size(); ++i) {
        const std::string name(run_keys()[i].name);
        for (const std::string& value : flags.values[i]) {
            if (value.find('&') != std::string::npos) {
                return invalid_field(name, value, "must not contain &");
            }
            line += (line.empty() ? "" : "&") + name + "=" + value;
        }
    }
    return flags.topology_file.empty() ? line : with_topology_file(line, flags.topology_file);
}

int carry_out(int (*command)(const RunOptions&), const RunFlags& flags, RunOptions& options) {
    const auto line = join_flags(flags);
    if (!line) {
        tell_error(line.error(), options.json);
        return 2;
    }
    options.run_line = *line;
    return command(options);
}

int print_topology(const RunFlags& flags) {
    const auto line = join_flags(flags);
    const auto text = line ? describe_topology(*line) : line;
    if (!text) {
        tell_error(text.error(), false);
        return 2;
    }
    std::fputs(text->c_str(), stdout);
    return 0;
}

class CommandLine {
  public:
    CommandLine() {
        app_.set_version_flag("--version",
                              "ringscope " RINGSCOPE_VERSION " (cpp-httplib " +
                                  std::string(http_library_version()) + ")");
        app_.require_subcommand(1);
        add_run_flags(*simulate_, simulate_flags_);
        add_output_flags(*simulate_, options_);
        add_run_flags(*run_, run_flags_);
        add_output_flags(*run_, options_);
        add_run_flags(*topology_, topology_flags_);
        add_run_flags(*sweep_, sweep_flags_);
        sweep_->add_flag("--json", options_.json, "a JSON array instead of columns");
        run_->add_option("--deadline", options_.deadline, "after this time the run is killed")
            ->capture_default_str();
        add_serve_flags();
        list_->add_option("what", what_, "engines, algorithms or topologies")->required();
        list_->add_flag("--json", options_.json, "a JSON array instead of a table");
        worker_->group("");  // not for people, so not in the help
        worker_->add_option("--run", worker_line_)->required();
    }

    // Returns the exit status.
    int parse_and_run(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& problem) {
            if (problem.get_exit_code() == 0) {
                return app_.exit(problem);  // prints the help or the version
            }
            const auto is_json = [](const char* argument) {
                return std::string_view(argument) == "--json";
            };
            tell_error(plain_error(ErrorKind::invalid_argument,
                                   std::string(problem.what()) + " (ringscope --help)"),
                       std::any_of(argv, argv + argc, is_json));
            return 2;
        }
        return run();
    }

  private:
    void add_serve_flags() {
        serve_->add_option("--port", serve_options_.port, "on 127.0.0.1; 0 takes any that is free")
            ->capture_default_str()
            ->check(CLI::Range(0, 65535));
        serve_->add_option("--page", serve_options_.page, "folder of the built page");
        serve_->add_option("--viewers", serve_options_.viewers_max, "how many may watch at a time")
            ->capture_default_str()
            ->check(CLI::Range(1, 1000));
    }

    int run() {
        if (*simulate_) {
            return carry_out(simulate_command, simulate_flags_, options_);
        }
        if (*run_) {
            return carry_out(run_command, run_flags_, options_);
        }
        if (*sweep_) {
            return carry_out(sweep_command, sweep_flags_, options_);
        }
        if (*serve_) {
            return serve(serve_options_);
        }
        if (*topology_) {
            return print_topology(topology_flags_);
        }
        return *worker_ ? run_worker(worker_line_, STDOUT_FILENO)
                        : list_command(what_, options_.json);
    }

    RunOptions options_;
    RunFlags simulate_flags_;
    RunFlags run_flags_;
    RunFlags topology_flags_;
    RunFlags sweep_flags_;
    ServeOptions serve_options_;
    std::string what_;
    std::string worker_line_;
    CLI::App app_{"Ringscope shows ring all-reduce, simulated and really run.", "ringscope"};
    CLI::App* simulate_ = app_.add_subcommand("simulate", "carry a run out on a simulated clock");
    CLI::App* run_ = app_.add_subcommand("run", "carry a run out on this machine and measure it");
    CLI::App* sweep_ = app_.add_subcommand(
        "sweep",
        "simulate each combination of several values, such as --bytes 1MiB..1GiB --ranks 8,64");
    CLI::App* serve_ =
        app_.add_subcommand("serve", "the daemon: serves the page and runs what it asks for");
    CLI::App* list_ = app_.add_subcommand("list", "what there is: engines, algorithms, topologies");
    CLI::App* topology_ = app_.add_subcommand(
        "topology", "prints a run's topology as text: to read, or to change for --topology-file");
    CLI::App* worker_ = app_.add_subcommand("worker", "carries out one run for a parent process");
};

}  // namespace
}  // namespace ringscope

int main(int argc, char** argv) {
    return ringscope::CommandLine().parse_and_run(argc, argv);
}
