#pragma once

#include <optional>

#include "xila/config/load.hpp"
#include "xila/policy/rulebook.hpp"

namespace CLI {
class App;
}

namespace xila::cli {

// Exit codes that every command shares; a command may add meanings of its own to 1.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;      // bad flags, or a file that could not be read
inline constexpr int kExitInternal = 70;  // a program error (EX_SOFTWARE of sysexits.h)

// Reads argv and the environment, and runs the command that they name.
int run(int argc, const char* const* argv);

// --profiles, --policy and --external-schedulers, for every command that decides. `files` must
// outlive `app`.
void add_rulebook_options(CLI::App& app, config::Files& files);

// The rulebook of these files. Without a value, every problem was written to stderr.
std::optional<policy::Rulebook> load_or_explain(const config::Files& files);
void explain(const config::Problems& problems);

// Lets XILA_GUARD_<FLAG> (upper case, - written as _) stand in for each long flag of `app` that the
// command line does not give. `run` calls it once for every command, so that none of them has to.
void read_environment(CLI::App& app);

}  // namespace xila::cli
