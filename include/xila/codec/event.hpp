#pragma once

#include <chrono>
#include <string>

namespace xila::codec {

struct ObjectReference {
  std::string kind;
  std::string space;  // "" = cluster-scoped
  std::string name;
  std::string uid;  // "" = not known

  bool operator==(const ObjectReference&) const = default;
};

// A Kubernetes Event (events.k8s.io/v1). The API server's limits: reason and action 128 bytes, note
// 1024, and nothing but the series may change later.
struct Event {
  std::string name;
  std::string space;  // that of `regarding`, if it has one
  std::string reason;
  std::string action;
  std::string note;
  bool is_warning = true;
  std::string controller;  // a qualified name: guard.xila.us/observe
  std::string instance;
  ObjectReference regarding;
  ObjectReference related;  // kind "" = none
  std::chrono::system_clock::time_point time;
};

// The body of its POST.
std::string encode_event(const Event& event);

// The merge patch that counts it once more.
std::string encode_event_series(int count, std::chrono::system_clock::time_point last);

}  // namespace xila::codec
