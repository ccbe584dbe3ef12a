#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "xila/policy/pod.hpp"

namespace xila::kube {

// A namespace's labels in one text: 50,000 namespaces would take 30 MiB as pairs of strings. All of
// them are kept, since a reload may name another one as the tenant's.
class PackedLabels {
 public:
  PackedLabels() = default;
  explicit PackedLabels(const policy::Labels& labels) {
    std::size_t size = 0;
    for (const auto& [key, value] : labels) size += key.size() + value.size() + 2;
    text_.reserve(size);
    for (const auto& [key, value] : labels) {
      // Neither can hold a NUL: both are checked by the API server. One that does is left out.
      if (key.find('\0') != std::string::npos || value.find('\0') != std::string::npos) continue;
      text_.append(key).push_back('\0');
      text_.append(value).push_back('\0');
    }
  }

  // Nothing = no such label.
  std::optional<std::string_view> find(std::string_view key) const {
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view name = take(rest);
      const std::string_view value = take(rest);
      if (name == key) return value;
    }
    return std::nullopt;
  }

 private:
  static std::string_view take(std::string_view& rest) {
    const std::string_view part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(part.size() + 1);
    return part;
  }

  std::string text_;  // key NUL value NUL key NUL ...
};

}  // namespace xila::kube
