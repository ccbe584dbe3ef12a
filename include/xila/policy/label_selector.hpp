#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xila/base/result.hpp"
#include "xila/policy/pod.hpp"

namespace xila::policy {

enum class SelectorOperator : std::uint8_t { in, not_in, exists, does_not_exist };

// "In", "NotIn", "Exists", "DoesNotExist", as Kubernetes spells them, byte for byte.
std::string_view to_text(SelectorOperator op);
base::Result<SelectorOperator> selector_operator(std::string_view text);

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::exists;
  std::vector<std::string> values;  // In, NotIn: at least one; Exists, DoesNotExist: none

  bool operator==(const SelectorRequirement&) const = default;
};

// Kubernetes' LabelSelector, matchLabels turned into In with one value. All requirements must hold;
// none at all matches everything. (metav1.LabelSelector; NotIn and DoesNotExist match objects
// without the key.)
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;

  bool operator==(const LabelSelector&) const = default;
};

bool matches(const LabelSelector& selector, const Labels& labels);

// A label's value, or null.
const std::string* find_label(const Labels& labels, std::string_view key);

// Kubernetes' own rules, with its limits in the message: a qualified name (optional DNS prefix of
// at most 253 bytes, name of at most 63) and a value of at most 63 bytes. Source:
// apimachinery/pkg/util/validation/validation.go.
base::Result<void> validate_label_key(std::string_view key);
base::Result<void> validate_label_value(std::string_view value);
base::Result<void> validate_dns_label(std::string_view name);      // RFC 1123 label
base::Result<void> validate_dns_subdomain(std::string_view name);  // RFC 1123 subdomain
// Operator against values, key and values themselves.
base::Result<void> validate(const SelectorRequirement& requirement);

}  // namespace xila::policy
