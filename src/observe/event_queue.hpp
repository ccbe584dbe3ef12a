#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "records.hpp"
#include "xila/codec/event.hpp"

namespace xila::observe {

struct EventLimits {
  double per_second = 10;
  double burst = 50;
  std::size_t waiting = 1000;
  // One tenant's storm must not push out what others are to be told.
  std::size_t waiting_per_space = 200;
};

// Events that wait to be written, at the pace that the API server is to be spared with. Pure.
class EventQueue {
 public:
  struct Entry {
    codec::Event event;
    int count = 1;              // how often it is to be counted
    bool may_be_known = false;  // it may be there: a takeover or a rebuilt baseline tells it anew
  };
  enum class Put : std::uint8_t {
    queued,
    merged,   // one of its name waits: it counts for more
    dropped,  // too many wait
  };

  EventQueue(EventLimits limits, Steady now)
      : limits_(limits), tokens_(limits.burst), filled_at_(now) {}

  Put put(codec::Event event, bool may_be_known);
  // The next one that may be written now. Nothing = none waits, or not yet: see ready_at().
  std::optional<Entry> take(Steady now);
  // When take() has one; nothing = none waits.
  std::optional<Steady> ready_at(Steady now);
  std::size_t size() const { return order_.size(); }
  // Forgets all that waits; returns how many.
  std::size_t clear();

 private:
  void fill(Steady now);

  EventLimits limits_;
  double tokens_;
  Steady filled_at_;
  std::deque<std::string> order_;         // keys
  std::map<std::string, Entry> entries_;  // by "namespace/name"
  std::map<std::string, std::size_t> waiting_in_;
};

}  // namespace xila::observe
