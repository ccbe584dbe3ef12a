#include "engine.hpp"

#include <algorithm>
#include <map>

#include "xila/base/text.hpp"

namespace xila::observe {
namespace {

constexpr Steady kNever{};
// While the caches are out of step, what is due is looked at so often.
constexpr std::chrono::milliseconds kRetry{1'000};

std::vector<std::string> tenants_on(const NodeRecord& node) {
  std::set<std::string> tenants;
  for (const PodRecord* pod : node.pods) tenants.insert(*pod->counts_for);
  tenants.erase("");
  return {tenants.begin(), tenants.end()};
}

}  // namespace

Engine::Engine(std::shared_ptr<const policy::Rulebook> rulebook, EngineOptions options)
    : options_(std::move(options)),
      rules_(rules_of(std::move(rulebook), cluster_.texts())),
      ledger_(cluster_.texts(), options_.settle_after_relabel) {
  silence_.begin(rules_);
}

Surroundings Engine::surroundings() const {
  return {.rules = rules_,
          .storage = storage_,
          .is_storage_known = trust_.storage,
          .all_reviewed = options_.all_reviewed,
          .own_space = options_.own_space};
}

Occasion Engine::occasion(const Now& now) const {
  return {.now = now,
          .may_open = trust_.cluster,
          .may_open_placement = trust_.nodes,
          .is_baseline = is_baseline_,
          .is_reload = is_reload_,
          .is_telling = is_telling_};
}

void Engine::begin_judging() {
  if (is_judging_) return;
  is_judging_ = true;
  begin_pass();
}

void Engine::set_trust(Trust trust, const Now& now) {
  if (trust == trust_) return;
  const bool is_storage_new = trust.storage && !trust_.storage;
  const bool is_cluster_new = trust.cluster && !trust_.cluster;
  trust_ = trust;
  if (!is_judging_) return;
  if (is_cluster_new && pass_.empty()) judge_silence(now);
  if (!is_storage_new) return;
  // What could not be said about claims can be said now.
  std::vector<PodRecord*> users;
  cluster_.each_pod([&](PodRecord& pod) {
    if (pod.claims) users.push_back(&pod);
  });
  judge(users, now);
}

void Engine::use(std::shared_ptr<const policy::Rulebook> rulebook) {
  rules_ = rules_of(std::move(rulebook), cluster_.texts());
  cluster_.each_space(
      [&](SpaceRecord& space) { space.tenant = tenant_of(space, *rules_.rulebook); });
  silence_.begin(rules_);
  if (!is_judging_) return;
  is_reload_ = !is_baseline_;
  begin_pass();
}

// By nodes, since Pods of one node are judged together.
void Engine::begin_pass() {
  pass_.clear();
  for (std::string& name : cluster_.node_names()) pass_.push_back(std::move(name));
  if (pass_.empty()) pass_.emplace_back();  // a cluster without nodes is judged too
}

bool Engine::go_on(std::size_t pods, const Now& now) {
  if (pass_.empty()) return false;
  for (std::size_t done = 0; done < pods && !pass_.empty();) {
    const std::string name = std::move(pass_.front());
    pass_.pop_front();
    ++done;
    const NodeRecord* node = cluster_.find_node(name);
    if (node == nullptr) continue;
    done += node->pods.size();
    judge(node->pods, now);
  }
  if (pass_.empty()) end_pass(now);
  return !pass_.empty();
}

void Engine::end_pass(const Now& now) {
  std::vector<std::string> names;
  for (const policy::Profile& profile : rules_.rulebook->profiles) names.push_back(profile.name);
  ledger_.keep_profiles(names);
  judge_silence(now);
  is_baseline_ = false;
  is_reload_ = false;
}

bool Engine::count(PodRecord& pod, const Judgement& judgement, const Now& now) {
  silence_.count(pod);
  if (!pod.was_judged || now.steady < pod.settled_at) {
    if (!judgement.tenant.empty()) {
      pod.first_tenant = intern(cluster_.texts(), judgement.tenant);
    }
  }
  // A Pod whose binding does not yet stand must not make a finding of its neighbours.
  const bool counts = !judgement.is_exempt && now.steady >= pod.settled_at;
  Text tenant = counts ? intern(cluster_.texts(), judgement.tenant) : Text();
  if (tenant == pod.counts_for) return false;
  pod.counts_for = std::move(tenant);
  return true;
}

void Engine::judge(const std::vector<PodRecord*>& pods, const Now& now) {
  if (!is_judging_ || pods.empty()) return;
  const Surroundings around = surroundings();
  std::map<PodRecord*, Judgement> judgements;
  std::set<NodeRecord*> disturbed;
  for (PodRecord* pod : pods) {
    const auto [entry, is_new] = judgements.try_emplace(pod, judge_boundary(*pod, around));
    if (is_new && count(*pod, entry->second, now)) disturbed.insert(pod->node);
  }
  if (rules_.has_exclusive) {
    for (const NodeRecord* node : disturbed) {
      for (PodRecord* pod : node->pods) {
        if (!judgements.contains(pod)) judgements.emplace(pod, judge_boundary(*pod, around));
      }
    }
  }
  std::map<const NodeRecord*, std::vector<std::string>> tenants;
  for (auto& [pod, judgement] : judgements) {
    const auto [on_node, is_new] = tenants.try_emplace(pod->node);
    if (is_new && rules_.has_exclusive) on_node->second = tenants_on(*pod->node);
    judge_placement(*pod, around, on_node->second, judgement);
    ledger_.apply(*pod, judgement, occasion(now));
    set_timer(*pod, now);
  }
  if (pass_.empty()) judge_silence(now);
}

void Engine::judge_silence(const Now& now) {
  if (!is_judging_) return;
  const Steady earliest = is_baseline_ ? now.steady : now.steady + options_.settle_after_bind;
  for (std::size_t i = 0; i < silence_.profiles(); ++i) {
    const policy::Profile& profile = rules_.rulebook->profiles[i];
    const bool is_silent = silence_.is_silent(i);
    std::string message;
    if (is_silent) {
      message = "Pods run with schedulerName " + base::quote(profile.scheduler_name) +
                ", and no selector of profile " + profile.name +
                " matches any Pod: the selector is probably wrong";
    }
    ledger_.apply_profile(profile.name, is_silent, std::move(message), earliest, occasion(now));
  }
}

// Its findings' next step; and, where it matters who else is on a node, its own settling.
void Engine::set_timer(PodRecord& pod, const Now& now) {
  Steady next = Ledger::next_due(pod);
  if (rules_.has_exclusive && pod.settled_at > now.steady) {
    next = next == kNever ? pod.settled_at : std::min(next, pod.settled_at);
  }
  // It is due and may not open yet.
  if (next != kNever && next <= now.steady) next = now.steady + kRetry;
  if (next == pod.wakes_at) return;
  if (pod.wakes_at != kNever) timers_.erase({pod.wakes_at, &pod});
  pod.wakes_at = next;
  if (next != kNever) timers_.emplace(next, &pod);
}

Steady Engine::next_due() const {
  Steady next = trust_.cluster ? ledger_.next_profile_due() : kNever;
  if (!timers_.empty()) {
    const Steady first = timers_.begin()->first;
    next = next == kNever ? first : std::min(next, first);
  }
  return next;
}

void Engine::wake(const Now& now) {
  if (!is_judging_) return;
  std::vector<PodRecord*> due;
  while (!timers_.empty() && timers_.begin()->first <= now.steady) {
    PodRecord* const pod = timers_.begin()->second;
    timers_.erase(timers_.begin());
    // Nothing may open yet: once more a little later.
    pod->wakes_at = trust_.cluster ? kNever : now.steady + kRetry;
    if (trust_.cluster) {
      due.push_back(pod);
    } else {
      timers_.emplace(pod->wakes_at, pod);
    }
  }
  judge(due, now);
  if (pass_.empty()) judge_silence(now);
}

std::vector<Finding> Engine::findings(std::size_t limit, const std::string& tenant) const {
  std::vector<Finding> all;
  const auto add = [&](std::vector<Finding> some) {
    for (Finding& finding : some) {
      if (all.size() < limit && (tenant.empty() || finding.tenant == tenant)) {
        all.push_back(std::move(finding));
      }
    }
  };
  add(ledger_.open_profiles());
  const Surroundings around = surroundings();
  cluster_.each_pod([&](const PodRecord& pod) {
    const auto is_open = [](const FindingRecord& record) { return record.is_open; };
    if (all.size() >= limit || std::ranges::none_of(pod.findings, is_open)) return;
    Judgement judgement = judge_boundary(pod, around);
    judge_placement(pod, around, tenants_on(*pod.node), judgement);
    add(ledger_.open_of(pod, judgement));
  });
  return all;
}

std::vector<Finding> Engine::tell_untold_on(const std::string& node) {
  std::vector<Finding> untold;
  const NodeRecord* record = cluster_.find_node(node);
  if (record == nullptr) return untold;
  const Surroundings around = surroundings();
  for (PodRecord* pod : record->pods) {
    if (!Ledger::has_untold(*pod)) continue;
    Judgement judgement = judge_boundary(*pod, around);
    judge_placement(*pod, around, tenants_on(*record), judgement);
    for (Finding& finding : ledger_.tell_untold(*pod, judgement)) {
      untold.push_back(std::move(finding));
    }
  }
  return untold;
}

Engine::Sizes Engine::sizes() const {
  return {.pods = cluster_.pods(),
          .nodes = cluster_.nodes(),
          .spaces = cluster_.spaces(),
          .claims = storage_.claims(),
          .volumes = storage_.volumes()};
}

}  // namespace xila::observe
