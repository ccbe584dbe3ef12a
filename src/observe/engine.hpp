#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "judge.hpp"
#include "ledger.hpp"
#include "rules.hpp"
#include "silence.hpp"
#include "storage.hpp"
#include "xila/observe/finding.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::observe {

struct EngineOptions {
  std::chrono::milliseconds settle_after_bind{30'000};
  std::chrono::milliseconds settle_after_relabel{60'000};
  bool all_reviewed = false;  // the webhook sees every Pod of every tenant
  std::string own_space;      // the namespace that this runs in
};

// Which of what judgements rest on is in step with the cluster.
struct Trust {
  bool cluster = true;  // Pods and namespaces: without it nothing opens
  bool nodes = true;    // without it no placement finding opens
  bool storage = true;  // claims and volumes: without it nothing is said about claims

  bool operator==(const Trust&) const = default;
};

// Knows the cluster as the watches tell it, and what is wrong in it. Every change re-judges what it
// can change, and no more. No I/O and no clock: the time comes in as a value.
class Engine {
 public:
  Engine(std::shared_ptr<const policy::Rulebook> rulebook, EngineOptions options);

  // One list of a kind: begin_list() says its number, each object of it is put with that number,
  // and keep_*() forgets what was not in it. What a watch brings carries the last list's number.
  std::uint32_t begin_list() { return ++lists_; }
  void put_pod(const codec::ObjectId& id, codec::LivePod pod, std::uint32_t list, const Now& now);
  void remove_pod(const codec::ObjectId& id, const Now& now);
  void keep_pods_of(std::uint32_t list, const Now& now);
  void put_node(const codec::ObjectId& id, const policy::Labels& labels, std::uint32_t list,
                const Now& now);
  void remove_node(const codec::ObjectId& id, const Now& now);
  void keep_nodes_of(std::uint32_t list, const Now& now);
  void put_space(const codec::ObjectId& id, const policy::Labels& labels, std::uint32_t list,
                 const Now& now);
  void remove_space(const codec::ObjectId& id, const Now& now);
  void keep_spaces_of(std::uint32_t list, const Now& now);
  void put_claim(const codec::ObjectId& id, const codec::VolumeClaim& claim, std::uint32_t list,
                 const Now& now);
  void remove_claim(const codec::ObjectId& id, const Now& now);
  void keep_claims_of(std::uint32_t list, const Now& now);
  void put_volume(const codec::ObjectId& id, const codec::PersistentVolume& volume,
                  std::uint32_t list, const Now& now);
  void remove_volume(const codec::ObjectId& id, const Now& now);
  void keep_volumes_of(std::uint32_t list, const Now& now);

  // Everything is listed: from here on it is judged, beginning with a pass over all.
  void begin_judging();
  void set_trust(Trust trust, const Now& now);
  // From now on by this rulebook; a pass over all follows.
  void use(std::shared_ptr<const policy::Rulebook> rulebook);
  // Does a part of the pass under way: some nodes' Pods. False = there is none, or it is done.
  bool go_on(std::size_t pods, const Now& now);
  bool is_in_pass() const { return !pass_.empty(); }
  bool has_judged_all() const { return is_judging_ && pass_.empty() && !is_baseline_; }

  // When wake() has something to do; the epoch = nothing waits.
  Steady next_due() const;
  void wake(const Now& now);

  // What happened since it was last asked, in order.
  std::vector<Transition> take() { return ledger_.take(); }
  // The open findings in full, at most `limit`, only of `tenant` unless that is empty.
  std::vector<Finding> findings(std::size_t limit, const std::string& tenant) const;
  const Ledger& ledger() const { return ledger_; }
  // Nodes whose Pods there are; for going through all of them in parts.
  std::vector<std::string> node_names() const { return cluster_.node_names(); }
  // From now on what happens is told by this replica; or by another.
  void set_telling(bool is_telling) { is_telling_ = is_telling; }
  // The open findings of a node's Pods that this replica did not tell; it does so now.
  std::vector<Finding> tell_untold_on(const std::string& node);
  std::vector<Finding> tell_untold_profiles() { return ledger_.tell_untold_profiles(); }

  struct Sizes {
    std::size_t pods = 0;
    std::size_t nodes = 0;
    std::size_t spaces = 0;
    std::size_t claims = 0;
    std::size_t volumes = 0;  // those that are a path of a node
  };
  Sizes sizes() const;

 private:
  Surroundings surroundings() const;
  Occasion occasion(const Now& now) const;
  void drop(PodRecord& pod, const Now& now);
  void change_space(SpaceRecord& space, const Now& now);
  void judge_users(const std::vector<std::string>& claims, const Now& now);
  void begin_pass();
  void end_pass(const Now& now);

  // Judges these Pods, and those beside them on whose verdict they have a bearing.
  void judge(const std::vector<PodRecord*>& pods, const Now& now);
  // True where it counts for another tenant on its node than before.
  bool count(PodRecord& pod, const Judgement& judgement, const Now& now);
  void judge_silence(const Now& now);
  void set_timer(PodRecord& pod, const Now& now);

  EngineOptions options_;
  Cluster cluster_;
  Storage storage_;
  Rules rules_;
  Silence silence_;
  Ledger ledger_;
  Trust trust_;

  std::uint32_t lists_ = 0;
  bool is_judging_ = false;
  bool is_telling_ = true;
  bool is_baseline_ = true;       // the first pass is not over
  bool is_reload_ = false;        // the pass under way is because of the policy
  std::deque<std::string> pass_;  // nodes whose Pods it has yet to judge
  std::set<std::pair<Steady, PodRecord*>> timers_;
};

}  // namespace xila::observe
