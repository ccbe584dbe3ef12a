#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "records.hpp"
#include "xila/observe/finding.hpp"

namespace xila::observe {

// When and why Pods are judged.
struct Occasion {
  Now now;
  bool may_open = true;            // the caches are in step with the cluster; else openings wait
  bool may_open_placement = true;  // likewise that of nodes
  bool is_baseline = false;        // the first look
  bool is_reload = false;          // the policy changed
  bool is_telling = true;          // this replica tells what happens
};

// The lives of findings: what opened, changed and was resolved. An opening waits until binding and
// labels have stood for their time; a resolution never waits.
class Ledger {
 public:
  Ledger(TextPool& texts, std::chrono::milliseconds settle_after_relabel)
      : texts_(texts), settle_after_relabel_(settle_after_relabel) {}

  // Takes over what holds about `pod` now.
  void apply(PodRecord& pod, const Judgement& judgement, const Occasion& occasion);
  // The Pod is gone, with all that was wrong with it.
  void close(PodRecord& pod, std::string profile, Resolution why);
  // When something of the Pod is next to be reported; the epoch = nothing waits.
  static Steady next_due(const PodRecord& pod);

  // A profile that selects nobody, or that no longer does so.
  void apply_profile(const std::string& profile, bool is_silent, std::string message,
                     Steady earliest, const Occasion& occasion);
  // Forgets the profiles that are not among `names`: the policy has them no more.
  void keep_profiles(const std::vector<std::string>& names);
  Steady next_profile_due() const;

  // What is open of `pod`, in full.
  std::vector<Finding> open_of(const PodRecord& pod, const Judgement& judgement) const;
  std::vector<Finding> open_profiles() const;
  // The open ones that another replica told, or nobody; from now on they are told.
  static bool has_untold(const PodRecord& pod);
  std::vector<Finding> tell_untold(PodRecord& pod, const Judgement& judgement) const;
  std::vector<Finding> tell_untold_profiles();
  // By finding and tenant.
  using Counts = std::map<std::pair<std::string, std::string>, std::size_t>;
  const Counts& open() const { return open_; }
  std::size_t total() const { return total_; }

  // What happened since it was last asked.
  std::vector<Transition> take() { return std::exchange(transitions_, {}); }

 private:
  struct ProfileRecord {
    FindingRecord finding;
    std::string message;
  };

  static Finding full(const PodRecord& pod, const FindingRecord& record,
                      const Judgement& judgement);
  void judge_again(PodRecord& pod, const Judgement& judgement, const Verdict& verdict,
                   const Occasion& occasion);
  Steady earliest(const PodRecord& pod, bool is_placement) const;
  void report(FindingRecord& record, Finding finding, std::uint64_t hash, const Occasion& occasion);
  void resolve(const FindingRecord& record, Finding finding, Resolution why);
  void count(const Finding& finding, int one);

  TextPool& texts_;
  std::chrono::milliseconds settle_after_relabel_;
  std::map<std::string, ProfileRecord> profiles_;
  Counts open_;
  std::size_t total_ = 0;
  std::vector<Transition> transitions_;
};

}  // namespace xila::observe
