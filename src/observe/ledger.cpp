#include "ledger.hpp"

#include <algorithm>
#include <string_view>

#include "fingerprint.hpp"

namespace xila::observe {
namespace {

constexpr Steady kNever{};

bool is_placement(std::string_view check) {
  return check.starts_with(kPlacementPrefix);
}

std::uint64_t hash_of(const std::vector<Evidence>& evidence, std::string_view tenant,
                      bool is_certain) {
  Fingerprint hash;
  hash.add(tenant);
  hash.add(is_certain ? "" : kUnknown);
  for (const Evidence& part : evidence) {
    hash.add(part.field);
    hash.add(part.wanted);
    hash.add(part.found);
    hash.add(part.message);
  }
  return hash.value();
}

// What names the finding, in every replica and for ever: the Pod, the check, and for a placement
// the node, since another node of the same name is another matter.
std::string id_of(const PodRecord& pod, const FindingRecord& record) {
  std::string id = pod.key + ":" + *record.check;
  if (is_placement(*record.check)) id += ":" + *record.node_uid;
  return id;
}

Finding finding_of(const PodRecord& pod, const FindingRecord& record, std::string profile) {
  Finding finding{.id = id_of(pod, record),
                  .name = record.is_drift ? std::string(kDrift) : *record.check,
                  .check = *record.check,
                  .tenant = *record.tenant,
                  .profile = std::move(profile),
                  .space = pod.space->name,
                  .pod = pod.name,
                  .pod_uid = pod.uid(),
                  .owner_name = *pod.owner_name,
                  .node = pod.node->name,
                  .since = record.since};
  finding.node_uid = is_placement(finding.check) ? *record.node_uid : pod.node->uid;
  if (!pod.shape->pod.owners.empty()) finding.owner_kind = pod.shape->pod.owners[0].kind;
  return finding;
}

Finding finding_of_profile(const std::string& profile, const FindingRecord& record) {
  return {.id = "profile/" + profile + ":" + std::string(kProfileSilent),
          .name = std::string(kProfileSilent),
          .check = std::string(kProfileSilent),
          .profile = profile,
          .since = record.since};
}

std::vector<Evidence> silence_evidence(const std::string& message) {
  return {{.field = "workloadSelector", .message = message}};
}

bool is_unknown(const FindingRecord& record, const Judgement& judgement) {
  return (is_placement(*record.check) && !judgement.is_placement_known) ||
         (*record.check == kHostPathClaim && !judgement.are_claims_known);
}

}  // namespace

Steady Ledger::earliest(const PodRecord& pod, bool about_node) const {
  Steady time = pod.settled_at;
  const auto after = [&](Steady change) {
    if (change != kNever) time = std::max(time, change + settle_after_relabel_);
  };
  after(pod.space->changed_at);
  if (about_node) after(pod.node->changed_at);
  return time;
}

void Ledger::apply(PodRecord& pod, const Judgement& judgement, const Occasion& occasion) {
  if (!judgement.is_judged) {
    close(pod, judgement.profile, Resolution::not_a_tenants);
    pod.was_judged = false;
    return;
  }
  std::erase_if(pod.findings, [&](FindingRecord& record) {
    const bool is_of_other_node = is_placement(*record.check) && judgement.is_placement_known &&
                                  *record.node_uid != pod.node->uid;
    const bool stands = is_unknown(record, judgement) ||
                        std::ranges::find(judgement.violated, *record.check, &Verdict::check) !=
                            judgement.violated.end();
    if (stands && !is_of_other_node) return false;
    const Resolution why = is_of_other_node     ? Resolution::node_replaced
                           : occasion.is_reload ? Resolution::policy
                                                : Resolution::holds;
    resolve(record, finding_of(pod, record, judgement.profile), why);
    return true;
  });
  for (const Verdict& verdict : judgement.violated) {
    judge_again(pod, judgement, verdict, occasion);
  }
  pod.was_judged = !pod.first_tenant->empty();
}

void Ledger::judge_again(PodRecord& pod, const Judgement& judgement, const Verdict& verdict,
                         const Occasion& occasion) {
  const bool about_node = is_placement(verdict.check);
  const Steady earliest_report = earliest(pod, about_node);
  auto record = std::ranges::find_if(pod.findings, [&](const FindingRecord& candidate) {
    return *candidate.check == verdict.check;
  });
  if (record == pod.findings.end()) {
    const bool is_first_sight =
        !pod.was_judged || occasion.now.steady < pod.settled_at ||
        (about_node && pod.node->known_since != kNever &&
         occasion.now.steady <= pod.node->known_since + settle_after_relabel_);
    record = pod.findings.insert(pod.findings.end(),
                                 FindingRecord{.check = intern(texts_, verdict.check),
                                               .since = occasion.now.wall,
                                               .is_drift = !is_first_sight});
    if (about_node) record->node_uid = intern(texts_, pod.node->uid);
  }
  const std::uint64_t hash = hash_of(verdict.evidence, judgement.tenant, verdict.is_certain);
  record->waits = !record->is_open || hash != record->reported;
  if (!record->waits) return;
  record->due = earliest_report;
  if (record->due > occasion.now.steady || !occasion.may_open) return;
  if (about_node && !occasion.may_open_placement) return;

  if (record->is_open) count(finding_of(pod, *record, ""), -1);  // its tenant may be another now
  record->tenant = intern(texts_, judgement.tenant);
  Finding finding = finding_of(pod, *record, judgement.profile);
  finding.evidence = verdict.evidence;
  finding.is_certain = verdict.is_certain;
  report(*record, std::move(finding), hash, occasion);
}

void Ledger::report(FindingRecord& record, Finding finding, std::uint64_t hash,
                    const Occasion& occasion) {
  const Change change = record.is_open ? Change::changed : Change::opened;
  record.is_open = true;
  record.waits = false;
  record.is_told = occasion.is_telling;
  record.reported = hash;
  count(finding, 1);
  transitions_.push_back({.change = change,
                          .finding = std::move(finding),
                          .is_baseline = change == Change::opened && occasion.is_baseline});
}

void Ledger::resolve(const FindingRecord& record, Finding finding, Resolution why) {
  if (!record.is_open) return;  // nobody was told of it
  count(finding, -1);
  transitions_.push_back(
      {.change = Change::resolved, .resolution = why, .finding = std::move(finding)});
}

void Ledger::close(PodRecord& pod, std::string profile, Resolution why) {
  for (const FindingRecord& record : pod.findings) {
    resolve(record, finding_of(pod, record, profile), why);
  }
  pod.findings = {};
}

Steady Ledger::next_due(const PodRecord& pod) {
  Steady next = kNever;
  for (const FindingRecord& record : pod.findings) {
    if (record.waits && (next == kNever || record.due < next)) next = record.due;
  }
  return next;
}

void Ledger::apply_profile(const std::string& profile, bool is_silent, std::string message,
                           Steady earliest_report, const Occasion& occasion) {
  const auto found = profiles_.find(profile);
  if (!is_silent) {
    if (found == profiles_.end()) return;
    resolve(found->second.finding, finding_of_profile(profile, found->second.finding),
            occasion.is_reload ? Resolution::policy : Resolution::holds);
    profiles_.erase(found);
    return;
  }
  ProfileRecord& record = profiles_[profile];
  FindingRecord& finding = record.finding;
  if (finding.is_open) return;
  if (!finding.waits) {
    finding.since = occasion.now.wall;
    finding.due = earliest_report;
    finding.waits = true;
  }
  record.message = std::move(message);
  if (finding.due > occasion.now.steady || !occasion.may_open) return;
  Finding full = finding_of_profile(profile, finding);
  full.evidence = silence_evidence(record.message);
  report(finding, std::move(full), 0, occasion);
}

void Ledger::keep_profiles(const std::vector<std::string>& names) {
  std::erase_if(profiles_, [&](const auto& entry) {
    if (std::ranges::find(names, entry.first) != names.end()) return false;
    const FindingRecord& record = entry.second.finding;
    resolve(record, finding_of_profile(entry.first, record), Resolution::policy);
    return true;
  });
}

Steady Ledger::next_profile_due() const {
  Steady next = kNever;
  for (const auto& [name, record] : profiles_) {
    const FindingRecord& finding = record.finding;
    if (finding.waits && (next == kNever || finding.due < next)) next = finding.due;
  }
  return next;
}

Finding Ledger::full(const PodRecord& pod, const FindingRecord& record,
                     const Judgement& judgement) {
  Finding finding = finding_of(pod, record, judgement.profile);
  const auto verdict = std::ranges::find(judgement.violated, *record.check, &Verdict::check);
  if (verdict != judgement.violated.end()) {
    finding.evidence = verdict->evidence;
    finding.is_certain = verdict->is_certain;
  }
  return finding;
}

std::vector<Finding> Ledger::open_of(const PodRecord& pod, const Judgement& judgement) const {
  std::vector<Finding> findings;
  for (const FindingRecord& record : pod.findings) {
    if (record.is_open) findings.push_back(full(pod, record, judgement));
  }
  return findings;
}

std::vector<Finding> Ledger::open_profiles() const {
  std::vector<Finding> findings;
  for (const auto& [name, record] : profiles_) {
    if (!record.finding.is_open) continue;
    Finding finding = finding_of_profile(name, record.finding);
    finding.evidence = silence_evidence(record.message);
    findings.push_back(std::move(finding));
  }
  return findings;
}

bool Ledger::has_untold(const PodRecord& pod) {
  return std::ranges::any_of(
      pod.findings, [](const FindingRecord& record) { return record.is_open && !record.is_told; });
}

std::vector<Finding> Ledger::tell_untold(PodRecord& pod, const Judgement& judgement) const {
  std::vector<Finding> findings;
  for (FindingRecord& record : pod.findings) {
    if (!record.is_open || std::exchange(record.is_told, true)) continue;
    findings.push_back(full(pod, record, judgement));
  }
  return findings;
}

std::vector<Finding> Ledger::tell_untold_profiles() {
  std::vector<Finding> findings;
  for (auto& [name, record] : profiles_) {
    if (!record.finding.is_open || std::exchange(record.finding.is_told, true)) continue;
    findings.push_back(finding_of_profile(name, record.finding));
    findings.back().evidence = silence_evidence(record.message);
  }
  return findings;
}

void Ledger::count(const Finding& finding, int one) {
  std::size_t& open = open_[{finding.name, finding.tenant}];
  open = one > 0 ? open + 1 : open - 1;
  total_ = one > 0 ? total_ + 1 : total_ - 1;
}

}  // namespace xila::observe
