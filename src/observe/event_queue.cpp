#include "event_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace xila::observe {

EventQueue::Put EventQueue::put(codec::Event event, bool may_be_known) {
  std::string key = event.space + "/" + event.name;
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    ++found->second.count;
    found->second.may_be_known = found->second.may_be_known && may_be_known;
    return Put::merged;
  }
  std::size_t& in_space = waiting_in_[event.space];
  if (order_.size() >= limits_.waiting || in_space >= limits_.waiting_per_space) {
    if (in_space == 0) waiting_in_.erase(event.space);
    return Put::dropped;
  }
  ++in_space;
  order_.push_back(key);
  entries_.emplace(std::move(key), Entry{std::move(event), 1, may_be_known});
  return Put::queued;
}

void EventQueue::fill(Steady now) {
  const std::chrono::duration<double> passed = now - filled_at_;
  filled_at_ = now;
  tokens_ = std::min(limits_.burst, tokens_ + std::max(0.0, passed.count()) * limits_.per_second);
}

std::optional<EventQueue::Entry> EventQueue::take(Steady now) {
  fill(now);
  if (order_.empty() || tokens_ < 1) return std::nullopt;
  tokens_ -= 1;
  auto node = entries_.extract(order_.front());
  order_.pop_front();
  Entry entry = std::move(node.mapped());
  const auto in_space = waiting_in_.find(entry.event.space);
  if (--in_space->second == 0) waiting_in_.erase(in_space);
  return entry;
}

std::optional<Steady> EventQueue::ready_at(Steady now) {
  if (order_.empty()) return std::nullopt;
  fill(now);
  if (tokens_ >= 1) return now;
  // Rounded up: a token that is not there yet would be asked for again at once.
  const double milliseconds = std::ceil((1 - tokens_) / limits_.per_second * 1000);
  return now + std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

std::size_t EventQueue::clear() {
  const std::size_t count = order_.size();
  order_.clear();
  entries_.clear();
  waiting_in_.clear();
  return count;
}

}  // namespace xila::observe
