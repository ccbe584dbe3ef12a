#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "xila/base/result.hpp"

namespace xila::codec {

// A Lease (coordination.k8s.io/v1) of ours: who may report, and what was reported last.
struct Lease {
  std::string name;
  std::string space;
  std::string resource_version;  // "" = it is to be created
  std::string holder;            // "" = nobody holds it
  std::chrono::seconds duration{0};
  std::optional<std::chrono::system_clock::time_point> acquired;
  std::optional<std::chrono::system_clock::time_point> renewed;
  int transitions = 0;
  std::string reported;  // annotation guard.xila.us/reported

  bool operator==(const Lease&) const = default;
};

// Error: what cannot be read.
base::Result<Lease> decode_lease(std::string_view text);
std::string encode_lease(const Lease& lease);

}  // namespace xila::codec
