#include "xila/policy/label_selector.hpp"

#include <algorithm>

#include "xila/base/text.hpp"

namespace xila::policy {
namespace {

constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxSubdomainBytes = 253;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

// The name part of a label key, or a label value that is not empty: a letter or digit at both ends.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

// Kubernetes limits the whole, not its labels.
bool is_dns_subdomain(std::string_view text) {
  if (text.size() > kMaxSubdomainBytes) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool has_value(const SelectorRequirement& requirement, const std::string& value) {
  return std::ranges::find(requirement.values, value) != requirement.values.end();
}

bool holds(const SelectorRequirement& requirement, const Labels& labels) {
  const std::string* value = find_label(labels, requirement.key);
  switch (requirement.op) {
    case SelectorOperator::in:
      return value != nullptr && has_value(requirement, *value);
    case SelectorOperator::not_in:
      return value == nullptr || !has_value(requirement, *value);
    case SelectorOperator::exists:
      return value != nullptr;
    case SelectorOperator::does_not_exist:
      return value == nullptr;
  }
  return false;
}

}  // namespace

std::string_view to_text(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::in:
      return "In";
    case SelectorOperator::not_in:
      return "NotIn";
    case SelectorOperator::exists:
      return "Exists";
    case SelectorOperator::does_not_exist:
      return "DoesNotExist";
  }
  return "";
}

base::Result<SelectorOperator> selector_operator(std::string_view text) {
  for (const SelectorOperator op : {SelectorOperator::in, SelectorOperator::not_in,
                                    SelectorOperator::exists, SelectorOperator::does_not_exist}) {
    if (text == to_text(op)) return op;
  }
  return base::fail(base::quote(text) +
                    " is no operator, use In, NotIn, Exists or DoesNotExist, spelled so");
}

bool matches(const LabelSelector& selector, const Labels& labels) {
  return std::ranges::all_of(selector.requirements, [&](const SelectorRequirement& requirement) {
    return holds(requirement, labels);
  });
}

const std::string* find_label(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

base::Result<void> validate_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos && !is_dns_subdomain(key.substr(0, slash))) {
    return base::fail("label key " + base::quote(key) +
                      " is invalid: what stands before \"/\" must be a DNS name of at most 253 "
                      "bytes, as example.com");
  }
  if (!is_name(slash == std::string_view::npos ? key : key.substr(slash + 1))) {
    return base::fail(
        "label key " + base::quote(key) +
        " is invalid: its name must be 1 to 63 bytes of letters, digits, \"-\", \"_\" "
        "and \".\", with a letter or digit at both ends, after an optional DNS name "
        "and one \"/\"");
  }
  return {};
}

base::Result<void> validate_label_value(std::string_view value) {
  if (value.empty() || is_name(value)) return {};
  return base::fail("label value " + base::quote(value) +
                    " is invalid: it must be empty or at most 63 bytes of letters, digits, \"-\", "
                    "\"_\" and \".\", with a letter or digit at both ends");
}

base::Result<void> validate_dns_label(std::string_view name) {
  if (name.size() <= kMaxNameBytes && is_dns_label(name)) return {};
  return base::fail(base::quote(name) +
                    " is invalid: it must be 1 to 63 bytes of a-z, 0-9 and \"-\", with a letter or "
                    "digit at both ends");
}

base::Result<void> validate_dns_subdomain(std::string_view name) {
  if (is_dns_subdomain(name)) return {};
  return base::fail(base::quote(name) +
                    " is invalid: it must be 1 to 253 bytes of a-z, 0-9, \"-\" and \".\", with a "
                    "letter or digit at both ends and beside every \".\"");
}

base::Result<void> validate(const SelectorRequirement& requirement) {
  if (auto key = validate_label_key(requirement.key); !key) return key;

  const bool wants_values =
      requirement.op == SelectorOperator::in || requirement.op == SelectorOperator::not_in;
  if (wants_values && requirement.values.empty()) {
    return base::fail("operator " + std::string(to_text(requirement.op)) + " of key " +
                      base::quote(requirement.key) + " needs at least one value");
  }
  if (!wants_values && !requirement.values.empty()) {
    return base::fail("operator " + std::string(to_text(requirement.op)) + " of key " +
                      base::quote(requirement.key) + " takes no values");
  }
  for (const std::string& value : requirement.values) {
    if (auto valid = validate_label_value(value); !valid) return valid;
  }
  return {};
}

}  // namespace xila::policy
