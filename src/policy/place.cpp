#include "place.hpp"

#include <algorithm>

#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kLongestName = 253;  // a DNS subdomain, the longest that Kubernetes takes
constexpr std::size_t kQuotedBytes = 64;   // enough to recognise a text by

std::string with_name(std::string path, const std::string& name) {
  if (!name.empty()) path += ' ' + base::quote(name);
  return path;
}

// "*" stands for what the API server will append to a generateName.
bool may_stand_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '*';
}

}  // namespace

std::string path_of(const Container& container) {
  return "spec." + std::string(field_of(container.kind)) + '[' + std::to_string(container.index) +
         ']';
}

std::string path_of(const Volume& volume) {
  return "spec.volumes[" + std::to_string(volume.index) + ']';
}

std::string named(const Container& container) {
  return with_name(path_of(container), container.name);
}

std::string named(const Volume& volume) {
  return with_name(path_of(volume), volume.name);
}

std::string name_text(std::string_view name) {
  const bool bare =
      !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, may_stand_bare);
  return bare ? std::string(name) : base::quote(name, kQuotedBytes);
}

std::string quoted_list(const std::vector<std::string_view>& texts, std::size_t limit) {
  const std::size_t shown = std::min(texts.size(), limit);
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) list += ", ";
    list += base::quote(texts[i], kQuotedBytes);
  }
  if (shown < texts.size()) list += " and " + std::to_string(texts.size() - shown) + " more";
  return list;
}

}  // namespace xila::policy
