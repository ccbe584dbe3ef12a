#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compact.hpp"
#include "xila/codec/live_pod.hpp"
#include "xila/policy/tenant.hpp"

// What is kept of the cluster. A record per Pod is what takes memory: keep it small.
namespace xila::observe {

using Steady = std::chrono::steady_clock::time_point;
using Wall = std::chrono::system_clock::time_point;

// The time, as a value: nothing here asks a clock. Steady for spans, wall for people.
struct Now {
  Steady steady;
  Wall wall;
};

// A finding in its life, as the ledger keeps it with its Pod. What it says is made anew from the
// Pod whenever somebody asks.
struct FindingRecord {
  Text check;
  Text node_uid;  // of a placement finding: whose labels do not suit
  Text tenant;    // the one it was reported under
  Wall since;
  Steady due;                  // when what waits is to be reported
  std::uint64_t reported = 0;  // hash of the evidence that was reported
  bool is_open = false;        // reported as opened
  bool waits = false;          // its opening, or its evidence, is not yet reported
  bool is_drift = false;
  bool is_told = false;  // by this replica, not by another
};

struct PodRecord;

// A node by its name: one that the cluster has, or one that Pods are bound to.
struct NodeRecord {
  std::string name;
  bool is_known = false;
  std::string uid;
  CompactLabels labels;
  Steady known_since;  // the epoch = since before this replica looked
  Steady changed_at;   // when labels that rules read last changed; the epoch = not since then
  std::vector<PodRecord*> pods;
  std::uint32_t listed = 0;
};

// A namespace, likewise.
struct SpaceRecord {
  std::string name;
  bool is_known = false;
  CompactLabels labels;
  policy::TenantResolution tenant;  // under the rulebook in force
  Steady changed_at;
  std::vector<PodRecord*> pods;
  std::uint32_t listed = 0;
};

// A Pod that is bound and has not ended.
struct PodRecord {
  std::string key;  // its uid; "namespace/name" where a server sends none
  std::string name;
  SpaceRecord* space = nullptr;
  NodeRecord* node = nullptr;
  CompactLabels labels;
  SharedShape shape;
  Text owner_name;
  Text node_chooser;
  std::unique_ptr<const std::vector<std::string>> claims;  // null = none
  std::vector<FindingRecord> findings;

  Steady settled_at;              // its binding has stood long enough
  Steady wakes_at;                // its entry among the timers; the epoch = none
  Text first_tenant;              // whose it was when it was first judged
  Text counts_for;                // the tenant that it counts for on its node; "" = for nobody
  std::uint64_t selected_by = 0;  // profiles, by their place; see silence.hpp
  std::uint64_t scheduled_by = 0;

  std::uint32_t place_in_node = 0;
  std::uint32_t place_in_space = 0;
  std::uint32_t listed = 0;   // the list that last had it
  std::uint32_t counted = 0;  // the rulebook under which the profiles counted it
  codec::NodeChoice node_choice = codec::NodeChoice::unknown;
  bool was_judged = false;
  bool is_uid_known = false;

  std::string uid() const { return is_uid_known ? key : std::string(); }
};

}  // namespace xila::observe
