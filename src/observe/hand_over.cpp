#include "hand_over.hpp"

#include <map>
#include <utility>

#include "fingerprint.hpp"

namespace xila::observe {
namespace {

constexpr std::size_t kNameDigits = 10;
// Of a follower: about 10 MB. What is dropped first is what was most probably reported.
constexpr std::size_t kMostRemembered = 8192;

}  // namespace

std::string HandOver::name_of(const Transition& transition) {
  Fingerprint fingerprint;
  fingerprint.add(transition.finding.id).add(to_text(transition.change));
  for (const Evidence& evidence : transition.finding.evidence) {
    fingerprint.add(evidence.field).add(evidence.wanted).add(evidence.found);
  }
  return fingerprint.text(kNameDigits);
}

void HandOver::remember(Transition transition, Steady now) {
  // What stood at the beginning is known to the leader, or else told anew.
  if (transition.is_baseline) return;
  if (remembered_.size() >= kMostRemembered) remembered_.pop_front();
  remembered_.push_back({now, std::move(transition)});
}

void HandOver::saw_leader(Steady now) {
  if (began_ && now >= *began_ + kLag) has_seen_leader_ = true;
  while (!remembered_.empty() && remembered_.front().at + kMemory < now) remembered_.pop_front();
}

std::optional<std::vector<Transition>> HandOver::take_over(const std::string& named, Steady now) {
  std::deque<Step> remembered = std::exchange(remembered_, {});
  // The next one may remember what the last one reported.
  named_.clear();
  for (std::size_t at = 0; at + kNameDigits <= named.size(); at += kNameDigits) {
    named_.push_back({now, named.substr(at, kNameDigits)});
  }
  if (!std::exchange(has_seen_leader_, true)) return std::nullopt;
  std::map<std::string, int> names;  // a bag: the same step can be taken twice
  for (const Name& name : named_) ++names[name.text];
  std::vector<Transition> unreported;
  for (Step& step : remembered) {
    const auto name = names.find(name_of(step.transition));
    if (name != names.end() && name->second > 0) {
      --name->second;
    } else {
      unreported.push_back(std::move(step.transition));
    }
  }
  return unreported;
}

void HandOver::reported(std::string name, Steady now) {
  if (named_.size() >= kMostNamed) named_.pop_front();
  named_.push_back({now, std::move(name)});
}

std::string HandOver::named(Steady now) {
  while (!named_.empty() && named_.front().at + kNaming < now) named_.pop_front();
  std::string text;
  text.reserve(named_.size() * kNameDigits);
  for (const Name& name : named_) text += name.text;
  return text;
}

}  // namespace xila::observe
