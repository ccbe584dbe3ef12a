#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "build_info.hpp"
#include "commands.hpp"

namespace xila::cli {
namespace {

// Help as kubectl's users know it: the default in words, and no environment variable repeated on
// every line, since all follow one rule that the footer states.
class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) {
      if (!option->get_type_name().empty()) text += " " + option->get_type_name();
      if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += "...";
      if (option->get_required()) text += " (required)";
      const std::string& value = option->get_default_str();
      if (!value.empty() && value != "[]") text += " (default " + value + ")";
    }
    return text;
  }
};

std::string environment_name(std::string flag) {
  for (char& c : flag) {
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return "XILA_GUARD_" + flag;
}

// As with Kubernetes' own flags: who adds arguments to a given list can override one.
void let_the_last_win(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_expected_max() != 1) continue;
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

constexpr const char* kFooter =
    "Every flag can also be set in the environment as XILA_GUARD_<FLAG>, for example\n"
    "--log-format as XILA_GUARD_LOG_FORMAT; the command line wins.\n"
    "Of a flag that is given twice the last value counts.";

}  // namespace

void read_environment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const auto& names = option->get_lnames();
    if (!names.empty() && names.front() != "help") option->envname(environment_name(names.front()));
  }
}

void add_rulebook_options(CLI::App& app, config::Files& files) {
  const char* group = "Rules";
  app.add_option("--profiles", files.profiles, "Profiles file (kind OrchestratorProfiles)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--policy", files.policy, "Policy file (kind GuardPolicy)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--external-schedulers", files.external_schedulers,
                 "Accepted schedulerNames besides those of the profiles, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)  // or it would take the file names behind it
      ->type_name("NAME")
      ->group(group);
}

std::optional<policy::Rulebook> load_or_explain(const config::Files& files) {
  auto rulebook = config::load_rulebook(files);
  if (rulebook) return std::move(*rulebook);
  explain(rulebook.error());
  return std::nullopt;
}

void explain(const config::Problems& problems) {
  for (const config::Problem& problem : problems) {
    std::fprintf(stderr, "%s\n", config::to_text(problem).c_str());
  }
}

int run(int argc, const char* const* argv) {
  CLI::App app("Keeps the Pods of other people's schedulers inside their tenant's boundary.",
               "xila-guard");
  app.formatter(std::make_shared<Help>());
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", build_info().version);
  app.require_subcommand(1);
  app.footer("xila-guard COMMAND --help shows a command's flags.");

  Run chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.description);
    sub->footer(kFooter);
    Run run_command = command.declare(*sub);
    read_environment(*sub);
    let_the_last_win(*sub);
    sub->callback([&chosen, run_command = std::move(run_command)] { chosen = run_command; });
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has a code per mistake; callers of ours are promised one for all of them.
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return chosen();
}

}  // namespace xila::cli
