#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"
#include "xila/policy/rulebook.hpp"

// A small cluster with a clock, told to an Engine as the watches would tell it.
namespace xila::observe {

using namespace std::chrono_literals;

inline policy::Rulebook pools_rulebook() {
  policy::Rulebook rulebook;
  rulebook.profiles = {
      {.name = "volcano",
       .scheduler_name = "volcano",
       .workload_selectors = {{{{"volcano.sh/job-name", policy::SelectorOperator::exists, {}}}}}}};
  rulebook.accepted_schedulers = {"volcano", "default-scheduler"};
  rulebook.trusted_daemon_set_service_accounts = {"ops/agent"};
  rulebook.placement_rules = {
      {.name = "pools",
       .tenants = {"*"},
       .require = {{{"pool", policy::SelectorOperator::in, {"$(tenant)", "shared"}}}}}};
  return rulebook;
}

// Each tenant in its list keeps nodes for itself.
inline policy::PlacementRule alone(std::vector<std::string> tenants) {
  return {.name = "alone", .tenants = std::move(tenants), .exclusive = true};
}

// A Pod that nothing is wrong with, bound through pods/binding long ago.
inline codec::LivePod good_pod(const std::string& name, const std::string& node) {
  codec::LivePod live;
  live.pod = {.name = name,
              .labels = {{"volcano.sh/job-name", "train"}},
              .scheduler_name = "volcano",
              .node_name = node,
              .containers = {{.name = "main"}}};
  live.bound_at = Wall(1s);
  live.node_choice = codec::NodeChoice::by_binding;
  return live;
}

class World {
 public:
  using Edit = std::function<void(codec::LivePod&)>;

  explicit World(policy::Rulebook rulebook = pools_rulebook(), EngineOptions options = no_waiting())
      : engine(std::make_shared<const policy::Rulebook>(std::move(rulebook)), std::move(options)) {}

  static EngineOptions no_waiting() {
    return {.settle_after_bind = 0ms, .settle_after_relabel = 0ms};
  }

  void node(const std::string& name, const policy::Labels& labels, const std::string& uid = "") {
    engine.put_node({.name = name, .uid = uid.empty() ? "node-" + name : uid}, labels, list, now);
  }
  void space(const std::string& name, const std::string& tenant, policy::Labels labels = {}) {
    if (!tenant.empty()) labels.emplace_back(policy::kDefaultTenantLabel, tenant);
    engine.put_space({.name = name}, labels, list, now);
  }
  void pod(const std::string& space, const std::string& name, const std::string& node,
           const Edit& edit = {}, const std::string& uid = "") {
    codec::LivePod live = good_pod(name, node);
    if (edit) edit(live);
    engine.put_pod(id(space, name, uid), std::move(live), list, now);
  }
  void remove(const std::string& space, const std::string& name, const std::string& uid = "") {
    engine.remove_pod(id(space, name, uid), now);
  }
  void use(policy::Rulebook rulebook) {
    engine.use(std::make_shared<const policy::Rulebook>(std::move(rulebook)));
    finish_pass();
  }

  // The caches are synced; judges everything.
  void start() {
    engine.begin_judging();
    finish_pass();
  }
  void finish_pass() {
    while (engine.go_on(1, now)) continue;
  }
  // Lets time go by, and the engine wake whenever it asked to.
  void wait(std::chrono::milliseconds time) {
    const Steady end = now.steady + time;
    for (;;) {
      const Steady due = engine.next_due();
      if (due == Steady{} || due > end) break;
      advance_to(std::max(due, now.steady));
      engine.wake(now);
      if (engine.next_due() == due) break;  // it waits for something else than time
    }
    advance_to(end);
  }

  // What happened since it was last asked: "opened placement/pools team-a/train-0", sorted.
  std::vector<std::string> happened() {
    last = engine.take();
    std::vector<std::string> lines;
    for (const Transition& transition : last) {
      std::string line(to_text(transition.change));
      line += " " + transition.finding.name;
      if (transition.finding.name != transition.finding.check) {
        line += "(" + transition.finding.check + ")";
      }
      line += " " + (transition.finding.pod.empty()
                         ? transition.finding.profile
                         : transition.finding.space + "/" + transition.finding.pod);
      if (transition.resolution != Resolution::none) {
        line += " " + std::string(to_text(transition.resolution));
      }
      lines.push_back(line);
    }
    std::ranges::sort(lines);
    return lines;
  }
  std::vector<std::string> open() const {
    std::vector<std::string> lines;
    for (const Finding& finding : engine.findings(1'000'000, "")) {
      lines.push_back(finding.name + " " +
                      (finding.pod.empty() ? finding.profile : finding.space + "/" + finding.pod));
    }
    std::ranges::sort(lines);
    return lines;
  }

  static codec::ObjectId id(const std::string& space, const std::string& name,
                            const std::string& uid = "") {
    return {.name = name, .space = space, .uid = uid.empty() ? "uid-" + space + "-" + name : uid};
  }

  Engine engine;
  std::uint32_t list = 0;
  Now now{Steady(1h), Wall(std::chrono::seconds(1'796'119'200))};  // 2026-12-01T10:00:00Z
  std::vector<Transition> last;

 private:
  void advance_to(Steady time) {
    now.wall += std::chrono::duration_cast<Wall::duration>(time - now.steady);
    now.steady = time;
  }
};

using Lines = std::vector<std::string>;

// Two tenants with a namespace and a node each, and nothing wrong.
inline World& peaceful(World& world) {
  world.space("team-a", "team-a");
  world.space("team-b", "team-b");
  world.node("n-a", {{"pool", "team-a"}});
  world.node("n-b", {{"pool", "team-b"}});
  world.pod("team-a", "train-0", "n-a");
  world.pod("team-b", "serve-0", "n-b");
  return world;
}

}  // namespace xila::observe
