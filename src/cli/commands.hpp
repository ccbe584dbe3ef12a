#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace xila::cli {

// What a command does once its flags are read; the result is the process's exit code.
using Run = std::function<int()>;

// Adds a command's flags to `app` and returns what runs it. The flags' values live in the returned
// function: no globals.
using Declare = Run (*)(CLI::App& app);

struct Command {
  const char* name;
  const char* description;  // one line for --help
  Declare declare;
};

// Each in the file of its name. Wants only its declaration and its row here.
Run declare_check(CLI::App& app);
Run declare_observe(CLI::App& app);
Run declare_profiles(CLI::App& app);
Run declare_selftest(CLI::App& app);
Run declare_webhook(CLI::App& app);
Run declare_version(CLI::App& app);

// Every command, in the order in which --help lists them.
inline constexpr Command kCommands[] = {
    {"check", "Judge the Pods of manifests offline", declare_check},
    {"profiles", "Check a profiles file and list its profiles", declare_profiles},
    {"webhook", "Serve the admission webhook", declare_webhook},
    {"observe", "Watch a cluster and report what crosses the boundary", declare_observe},
    {"selftest", "Post a good and a bad review to a running server", declare_selftest},
    {"version", "Show version, commit, build and library versions", declare_version},
};

}  // namespace xila::cli
