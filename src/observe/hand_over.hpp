#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "records.hpp"
#include "xila/observe/finding.hpp"

namespace xila::observe {

// What one leader leaves to the next, so that nothing is reported twice and nothing is lost.
//
// The leader writes into the lease what it reported lately; a follower remembers what it would have
// reported lately. Who takes over reports what it remembers and the lease does not name. The lease
// is written a moment after the report: a leader that dies in that moment leaves its last steps to
// be reported once more, under the same ids.
//
// Pure: no clock, no I/O.
class HandOver {
 public:
  // How long a follower remembers: longer than a lease lasts.
  static constexpr std::chrono::seconds kMemory{60};
  // How long a leader names: longer by as much as a follower's watches may lag, or else it would
  // remember what is no longer named.
  static constexpr std::chrono::seconds kNaming{120};
  // A leader that lived so long after this replica had judged everything has seen the same.
  static constexpr std::chrono::seconds kLag{2};
  // Steps that the lease names at most. Past that, a takeover may repeat some.
  static constexpr std::size_t kMostNamed = 8192;

  // The first pass is over: what stands is known.
  void begin(Steady now) { began_ = now; }
  // Follower: a step that it does not report itself.
  void remember(Transition transition, Steady now);
  // Follower: another replica renewed the lease.
  void saw_leader(Steady now);

  // Follower, and now leader: the steps that nobody reported, in order. Nothing = no leader was
  // seen who knew what stood when this replica began: everything is to be told anew.
  std::optional<std::vector<Transition>> take_over(const std::string& named, Steady now);

  // Leader: the step of this name is in the report.
  void reported(std::string name, Steady now);
  // The same step has the same name in every replica.
  static std::string name_of(const Transition& transition);
  // Leader: for the lease.
  std::string named(Steady now);

 private:
  struct Step {
    Steady at;
    Transition transition;
  };
  struct Name {
    Steady at;
    std::string text;
  };

  std::optional<Steady> began_;
  bool has_seen_leader_ = false;
  std::deque<Step> remembered_;
  std::deque<Name> named_;
};

}  // namespace xila::observe
