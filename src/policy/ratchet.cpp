#include "ratchet.hpp"

#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace xila::policy {
namespace {

// "spec.volumes[12].hostPath" → "spec.volumes.hostPath". A list may be reordered without adding
// anything.
std::string without_indexes(std::string_view field) {
  std::string out;
  out.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '[') {
      const std::size_t end = field.find_first_not_of("0123456789", i + 1);
      if (end != std::string_view::npos && end > i + 1 && field[end] == ']') {
        i = end;
        continue;
      }
    }
    out += field[i];
  }
  return out;
}

std::pair<std::string, std::string> key_of(const Violation& violation) {
  return {without_indexes(violation.field), violation.part};
}

}  // namespace

void charge_only_added(Violations& found, std::size_t first, const Violations& before) {
  std::map<std::pair<std::string, std::string>, std::size_t> covered;
  for (const Violation& violation : before) ++covered[key_of(violation)];

  Violations charged;
  for (std::size_t i = first; i < found.size(); ++i) {
    const auto cover = covered.find(key_of(found[i]));
    if (cover != covered.end() && cover->second > 0) {
      --cover->second;
    } else {
      charged.push_back(std::move(found[i]));
    }
  }
  found.resize(first);
  found.insert(found.end(), std::make_move_iterator(charged.begin()),
               std::make_move_iterator(charged.end()));
}

}  // namespace xila::policy
