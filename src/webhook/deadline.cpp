#include "deadline.hpp"

#include <algorithm>

#include "xila/base/duration.hpp"

namespace xila::webhook {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeastMargin{200};

// The first value of `key` in "a=1&b=2"; "" without one.
std::string_view query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t mark = std::min(pair.find('='), pair.size());
    if (pair.substr(0, mark) == key) return pair.substr(std::min(mark + 1, pair.size()));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
  return {};
}

}  // namespace

milliseconds time_for_answer(std::string_view query, milliseconds bound) {
  const auto asked = base::parse_duration(query_value(query, "timeout"));
  if (!asked || asked->count() == 0) return bound;
  return std::min(std::chrono::floor<milliseconds>(*asked), bound);
}

Deadlines deadlines(kube::Deadline begin, milliseconds time) {
  const milliseconds margin = std::min(std::max(time / 5, kLeastMargin), time / 2);
  const kube::Deadline look_up = begin + time - margin;
  return {look_up, look_up + margin / 4};
}

}  // namespace xila::webhook
