#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "check_input.hpp"
#include "check_report.hpp"
#include "commands.hpp"
#include "options.hpp"
#include "xila/manifest/pods.hpp"
#include "xila/policy/decide.hpp"

namespace xila::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  config::Files files;
  std::string tenant;
  std::string space = "default";
  std::string output = "text";
};

void add_options(CLI::App& app, CheckOptions& options) {
  app.add_option("FILE", options.paths,
                 "Manifests: files, folders (*.yaml, *.yml, *.json below them), or - for stdin")
      ->type_name("")
      ->required();
  add_rulebook_options(app, options.files);
  app.add_option("--tenant", options.tenant,
                 "Tenant of the namespaces that the policy file does not name")
      ->type_name("NAME")
      ->group("Rules");
  app.add_option("-n,--namespace", options.space, "Namespace of objects that name none")
      ->type_name("NAME")
      ->group("Rules");
  app.add_option("-o,--output", options.output, "Output format")
      ->check(CLI::IsMember({"text", "json", "sarif", "junit"}))
      ->type_name("FORMAT");
}

// Bad values here would be blamed on the manifests.
bool are_valid(const CheckOptions& options) {
  const auto explain_flag = [](const char* flag, const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", flag, why.c_str());
    return false;
  };
  if (auto valid = policy::validate_label_value(options.tenant); !valid) {
    return explain_flag("--tenant", valid.error().message);
  }
  if (auto valid = policy::validate_dns_label(options.space); !valid) {
    return explain_flag("--namespace", valid.error().message);
  }
  return true;
}

// The policy file's own map decides, as it does in the cluster; --tenant stands for the namespace's
// label.
policy::TenantResolution tenant_of(const std::string& space, const CheckOptions& options,
                                   const policy::Rulebook& rulebook) {
  if (const auto known = rulebook.static_tenants.find(space);
      known != rulebook.static_tenants.end()) {
    return policy::TenantResolution::resolved(known->second);
  }
  if (!options.tenant.empty()) return policy::TenantResolution::resolved(options.tenant);
  return policy::TenantResolution::not_judged();
}

Judged judge(manifest::FoundPod pod, const CheckOptions& options,
             const policy::Rulebook& rulebook) {
  const policy::Review& review = pod.review;
  const policy::Profile* profile =
      review.object ? policy::profile_for(rulebook, review.object->labels) : nullptr;
  const std::string_view name =
      profile ? std::string_view(profile->name) : policy::kEnforcementProfile;
  const auto tenant = tenant_of(review.subject.space, options, rulebook);

  Judged judged{.decision = policy::decide(review, name, tenant, rulebook, pod.requester)};
  judged.tenant_judged = tenant.kind != policy::TenantResolution::Kind::not_judged ||
                         judged.decision.outcome == policy::Outcome::exempt ||
                         !policy::needs_tenant(review);
  judged.pod = std::move(pod);
  return judged;
}

CheckReport judge_all(const CheckOptions& options, const policy::Rulebook& rulebook) {
  CheckReport report{.accepts_no_scheduler = rulebook.accepted_schedulers.empty()};
  for (auto& file : list_files(options.paths)) {
    if (!file) {
      report.problems.push_back(std::move(file.error()));
      continue;
    }
    ++report.files;
    Input input = read_input(*file);
    if (!input.text) {
      report.problems.push_back(std::move(input.text.error()));
      continue;
    }
    manifest::Contents contents = manifest::read_manifest(*input.text, input.name, options.space);
    for (manifest::FoundPod& pod : contents.pods) {
      report.pods.push_back(judge(std::move(pod), options, rulebook));
    }
    std::ranges::move(contents.problems, std::back_inserter(report.problems));
  }
  return report;
}

std::string format(const CheckReport& report, std::string_view output) {
  if (output == "json") return as_json(report);
  if (output == "sarif") return as_sarif(report);
  if (output == "junit") return as_junit(report);
  return as_text(report);
}

int check(const CheckOptions& options) {
  if (!are_valid(options)) return kExitUsage;
  const auto rulebook = load_or_explain(options.files);
  if (!rulebook) return kExitUsage;

  const CheckReport report = judge_all(options, *rulebook);
  for (const manifest::Problem& problem : report.problems) {
    std::fprintf(stderr, "%s\n", to_text(problem).c_str());
  }
  // A report cut short by a full disk must not pass for a clean one.
  const std::string text = format(report, options.output);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    std::perror("xila-guard check: cannot write the report");
    return kExitUsage;
  }
  return exit_code(report);
}

}  // namespace

Run declare_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  add_options(app, *options);
  return [options] { return check(*options); };
}

}  // namespace xila::cli
