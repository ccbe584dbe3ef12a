#include "selectors.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "xila/base/text.hpp"

namespace xila::config {
namespace {

constexpr std::string_view kTenantPlaceholder = "$(tenant)";

void check_key(const std::string& key, yaml::Mark mark, const std::string& path,
               Findings& findings) {
  if (auto valid = policy::validate_label_key(key); !valid) {
    findings.report(mark, path, valid.error().message);
  }
}

// The value as it could be once a tenant's name stands in it. One character is as good as any name:
// which tenants there will be is not known here.
std::string with_some_tenant(std::string value) {
  for (auto at = value.find(kTenantPlaceholder); at != std::string::npos;
       at = value.find(kTenantPlaceholder, at)) {
    value.replace(at, kTenantPlaceholder.size(), "t");
  }
  return value;
}

void check_value(const std::string& text, SelectorValues values, const Value& at,
                 Findings& findings) {
  if (values == SelectorValues::labels_or_tenant) {
    const std::string example = with_some_tenant(text);
    if (example.contains("$(")) {
      findings.report(at.node.mark, at.path,
                      base::quote(text) + " has a placeholder other than $(tenant)");
    } else if (auto valid = policy::validate_label_value(example); !valid) {
      findings.report(at.node.mark, at.path, valid.error().message);
    }
  } else if (auto valid = policy::validate_label_value(text); !valid) {
    findings.report(at.node.mark, at.path, valid.error().message);
  }
}

// matchLabels: each entry is In with one value.
void read_labels(const Value& labels, SelectorValues values, policy::LabelSelector& selector,
                 Findings& findings) {
  for (const Field& field : read_fields(labels, findings)) {
    check_key(field.key, field.mark, field.value.path, findings);
    if (auto text = read_text(field.value, findings)) {
      check_value(*text, values, field.value, findings);
      selector.requirements.push_back(
          {field.key, policy::SelectorOperator::in, {std::move(*text)}});
    }
  }
}

void read_expression(const Value& expression, SelectorValues values,
                     policy::LabelSelector& selector, Findings& findings) {
  const std::size_t problems_before = findings.size();
  MapReader map(expression, findings);
  policy::SelectorRequirement requirement;
  if (auto key = map.required_text("key")) {
    if (auto valid = policy::validate_label_key(*key); !valid) {
      map.report("key", valid.error().message);
    }
    requirement.key = std::move(*key);
  }
  const auto name = map.required_text("operator");
  for (const Value& item : map.list("values")) {
    const auto text = read_text(item, findings);
    if (text) check_value(*text, values, item, findings);
    requirement.values.push_back(text.value_or(""));
  }
  if (name) {
    if (auto op = policy::selector_operator(*name)) {
      requirement.op = *op;
    } else {
      map.report("operator", op.error().message);
    }
  }
  // What is left is the operator against the number of values.
  if (findings.size() == problems_before) {
    policy::SelectorRequirement example = requirement;
    for (std::string& text : example.values) text = with_some_tenant(text);
    if (auto valid = policy::validate(example); !valid) {
      map.report("values", valid.error().message);
    }
  }
  selector.requirements.push_back(std::move(requirement));
}

}  // namespace

policy::LabelSelector read_selector(const Value& value, SelectorValues values, Findings& findings) {
  MapReader map(value, findings);
  policy::LabelSelector selector;
  if (auto labels = map.value("matchLabels")) read_labels(*labels, values, selector, findings);
  for (const Value& expression : map.list("matchExpressions")) {
    read_expression(expression, values, selector, findings);
  }
  return selector;
}

}  // namespace xila::config
