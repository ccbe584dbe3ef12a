#include "observe_options.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include <CLI/CLI.hpp>

#include "options.hpp"
#include "xila/base/text.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/policy/label_selector.hpp"

namespace xila::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "xila-guard-observe";
}

// The Pod's namespace, by the downward API or by its service account.
std::string own_space() {
  std::string space = environment("POD_NAMESPACE");
  if (!space.empty()) return space;
  std::ifstream file(std::string(kube::kServiceAccountFolder) + "/namespace");
  std::getline(file, space);
  return space;
}

// GET /findings names all tenants, so it answers nobody from outside.
bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  return ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void add_report_options(CLI::App& app, ObserveOptions& options) {
  const char* group = "Reports";
  app.add_option("--report-file", options.report_file,
                 "Write findings as JSONL to this file, opened again on SIGHUP; -: stdout")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--findings-bind-address", options.findings_address,
                 "Plain HTTP for GET /findings, on a loopback address only; 0: none")
      ->type_name("HOST:PORT")
      ->group(group);
  app.add_option("--event-qps", options.event_qps, "Kubernetes Events per second at most; 0: none")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(group);
  app.add_option("--event-burst", options.event_burst, "Kubernetes Events at once at most")
      ->type_name("NUMBER")
      ->check(CLI::Range(1.0, 10'000.0))
      ->group(group);
  add_duration(app, "--settle-after-bind", options.settle_after_bind,
               "How long a Pod's binding must stand before a finding opens")
      ->group(group);
  add_duration(app, "--settle-after-relabel", options.settle_after_relabel,
               "How long labels of nodes and namespaces must stand before a finding opens")
      ->group(group);
}

void add_election_options(CLI::App& app, ObserveOptions& options) {
  const char* group = "Replicas";
  app.add_flag("--leader-elect", options.leader_elect,
               "Agree with other replicas, by a Lease, on the one that reports")
      ->group(group);
  app.add_option("--lease-namespace", options.lease_space,
                 "Namespace of the Lease; empty: the Pod's own")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--lease-name", options.lease_name, "Name of the Lease")
      ->type_name("NAME")
      ->group(group);
}

}  // namespace

void add_observe_options(CLI::App& app, ObserveOptions& options) {
  add_rulebook_options(app, options.files);
  app.add_flag("--all-reviewed", options.all_reviewed,
               "The webhook reviews every Pod of every tenant: none came past it by its route")
      ->group("Rules");
  app.add_option("--kubeconfig", options.kubeconfig,
                 "How to reach the API server; without it the Pod's service account")
      ->type_name("FILE")
      ->group("Cluster");
  add_report_options(app, options);
  add_election_options(app, options);

  const char* group = "One look";
  app.add_flag("--once", options.once,
               "Judge the cluster as it is, print what is found and end: 0 nothing, 1 findings, 2 "
               "errors")
      ->group(group);
  app.add_option("-o,--output", options.output, "With --once: text, json or sarif")
      ->check(CLI::IsMember({"text", "json", "sarif"}))
      ->type_name("FORMAT")
      ->group(group);
  add_operations_options(app, options.operations);
  add_logging_options(app, options.logging);
}

std::optional<std::string> problem_of(const ObserveOptions& options) {
  if (options.findings_address != "0") {
    const auto address = host_port(options.findings_address);
    if (!address) return "--findings-bind-address: " + address.error().message;
    if (!is_loopback(address->host)) {
      return "--findings-bind-address: " + base::quote(address->host) +
             " is no loopback address; the findings name all tenants, so use 127.0.0.1 and kubectl "
             "port-forward";
    }
  }
  if (!options.leader_elect) return std::nullopt;
  if (auto valid = policy::validate_dns_subdomain(options.lease_name); !valid) {
    return "--lease-name: " + valid.error().message;
  }
  const std::string space = options.lease_space.empty() ? own_space() : options.lease_space;
  if (space.empty()) return "--leader-elect needs --lease-namespace outside of a Pod";
  if (auto valid = policy::validate_dns_label(space); !valid) {
    return "--lease-namespace: " + valid.error().message;
  }
  return std::nullopt;
}

observe::ControllerOptions controller_options(const ObserveOptions& options) {
  const std::string pod = environment("POD_NAME");
  observe::ControllerOptions result{.instance = pod.empty() ? host_name() : pod,
                                    .own_space = own_space(),
                                    .settle_after_bind = options.settle_after_bind,
                                    .settle_after_relabel = options.settle_after_relabel,
                                    .all_reviewed = options.all_reviewed,
                                    .events_per_second = options.event_qps,
                                    .events_burst = options.event_burst};
  if (options.leader_elect) {
    result.lease = observe::LeaseOptions{
        .space = options.lease_space.empty() ? result.own_space : options.lease_space,
        .name = options.lease_name};
  }
  return result;
}

}  // namespace xila::cli
