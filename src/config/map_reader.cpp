#include "map_reader.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "plain_scalar.hpp"
#include "xila/base/text.hpp"

namespace xila::config {
namespace {

using yaml::Kind;
using yaml::Node;

std::string describe(const Node& node) {
  switch (node.kind) {
    case Kind::null:
      return "null";
    case Kind::alias:
      return "an alias";
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      return "a mapping";
    case Kind::scalar:
      break;
  }
  if (!node.plain) return "the string " + base::quote(node.text, 64);
  const std::string_view type = other_type(node.text);
  return base::escape_control(node.text) + (type.empty() ? "" : " (" + std::string(type) + ")");
}

// What no value of these files may have, wherever it stands; "" where it has none of it.
std::string forbidden_feature(const Node& node) {
  if (node.kind == Kind::alias) return "an alias; write the value out";
  if (node.anchor != 0) return "an anchor; these files take no anchors and aliases";
  if (!node.tag.empty()) return "the tag " + base::quote(node.tag, 64) + "; remove it";
  return {};
}

std::string child_path(const std::string& path, std::string_view key) {
  const std::string name = base::escape_control(key);
  return path.empty() ? name : path + "." + name;
}

bool is_merge_key(const Node& key) {
  return key.kind == Kind::scalar && key.plain && key.text == "<<";
}

// Also what reorders a line for the reader, or breaks it.
bool has_control_character(std::string_view text) {
  return base::escape_control(text) != text;
}

// The key of an entry as text. Keys that are data must be strings; the others are compared with
// known names, where a wrong type shows as an unknown key.
std::optional<std::string> read_key(const Node& key, const std::string& path, Findings& findings) {
  if (is_merge_key(key)) {
    findings.report(key.mark, child_path(path, "<<"), "merge key; write the keys out");
    return std::nullopt;
  }
  return read_text({key, child_path(path, key.kind == Kind::scalar ? key.text : "a key")},
                   findings);
}

}  // namespace

void Findings::report(yaml::Mark mark, const std::string& path, std::string message) {
  if (!path.empty()) message = path + ": " + message;
  problems_.push_back({file_, mark.line, mark.column, std::move(message)});
}

Problems Findings::take() {
  std::ranges::sort(problems_, {}, [](const Problem& p) {
    return std::tuple(p.line, p.column, std::string_view(p.message));
  });
  if (problems_.size() > kMaxProblems) {
    const std::size_t more = problems_.size() - kMaxProblems;
    problems_.resize(kMaxProblems);
    problems_.push_back({file_, 0, 0, "and " + std::to_string(more) + " more problems"});
  }
  return std::move(problems_);
}

bool is(Kind kind, const Value& value, std::string_view expected, Findings& findings) {
  std::string wrong = forbidden_feature(value.node);
  if (wrong.empty() && value.node.kind != kind) {
    wrong = describe(value.node) + ", expected " + std::string(expected);
  }
  if (wrong.empty()) return true;
  findings.report(value.node.mark, value.path, std::move(wrong));
  return false;
}

std::optional<std::string> read_text(const Value& value, Findings& findings) {
  if (!is(Kind::scalar, value, "a string", findings)) return std::nullopt;
  const std::string& text = value.node.text;
  if (value.node.plain) {
    if (const std::string_view type = other_type(text); !type.empty()) {
      findings.report(value.node.mark, value.path,
                      base::escape_control(text) + " is " + std::string(type) +
                          " without quotes, expected a string; write " + base::quote(text));
      return std::nullopt;
    }
  }
  if (has_control_character(text)) {
    findings.report(value.node.mark, value.path,
                    base::quote(text, 64) + " has a control character in it");
    return std::nullopt;
  }
  return text;
}

std::optional<bool> read_flag(const Value& value, Findings& findings) {
  if (!is(Kind::scalar, value, "true or false", findings)) return std::nullopt;
  if (value.node.plain && value.node.text == "true") return true;
  if (value.node.plain && value.node.text == "false") return false;
  findings.report(value.node.mark, value.path, describe(value.node) + ", expected true or false");
  return std::nullopt;
}

std::vector<Value> read_list(const Value& value, Findings& findings) {
  std::vector<Value> items;
  if (!is(Kind::sequence, value, "a list", findings)) return items;
  for (std::size_t i = 0; i < value.node.items.size(); ++i) {
    items.push_back({value.node.items[i], value.path + "[" + std::to_string(i) + "]"});
  }
  return items;
}

std::vector<Field> read_fields(const Value& value, Findings& findings) {
  std::vector<Field> fields;
  if (!is(Kind::mapping, value, "a mapping", findings)) return fields;
  std::map<std::string, int> lines;  // where each key was first seen
  for (const yaml::Entry& entry : value.node.entries) {
    const auto key = read_key(entry.key, value.path, findings);
    if (!key) continue;
    const auto [first, is_new] = lines.emplace(*key, entry.key.mark.line);
    if (is_new) {
      const std::string path = value.path + "[" + base::escape_control(*key) + "]";
      fields.push_back({*key, entry.key.mark, {entry.value, path}});
    } else {
      findings.report(entry.key.mark, child_path(value.path, *key),
                      "key is repeated, first on line " + std::to_string(first->second));
    }
  }
  return fields;
}

MapReader::MapReader(const Value& value, Findings& findings)
    : self_(value),
      findings_(findings),
      is_mapping_(value.node.kind == Kind::mapping),
      fields_(read_fields(value, findings)) {
  for (Field& field : fields_) field.value.path = child_path(self_.path, field.key);
}

MapReader::~MapReader() {
  if (!known_keys_only_) return;
  for (const Field& field : fields_) {
    if (std::ranges::find(asked_, field.key) != asked_.end()) continue;
    findings_.report(field.mark, field.value.path,
                     "unknown key, expected one of " + base::join(asked_, ", "));
  }
}

const Field* MapReader::find(std::string_view key) {
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.emplace_back(key);
  const auto field = std::ranges::find(fields_, key, &Field::key);
  return field == fields_.end() ? nullptr : &*field;
}

std::optional<Value> MapReader::value(std::string_view key) {
  const Field* field = find(key);
  return field ? std::optional(field->value) : std::nullopt;
}

std::optional<std::string> MapReader::text(std::string_view key) {
  const Field* field = find(key);
  return field ? read_text(field->value, findings_) : std::nullopt;
}

std::optional<bool> MapReader::flag(std::string_view key) {
  const Field* field = find(key);
  return field ? read_flag(field->value, findings_) : std::nullopt;
}

std::vector<Value> MapReader::list(std::string_view key) {
  const Field* field = find(key);
  return field ? read_list(field->value, findings_) : std::vector<Value>{};
}

std::optional<Value> MapReader::required(std::string_view key, std::string_view expected) {
  const Field* field = find(key);
  if (field) return field->value;
  if (is_mapping_) {
    findings_.report(self_.node.mark, child_path(self_.path, key),
                     "missing, expected " + std::string(expected));
  }
  return std::nullopt;
}

std::optional<std::string> MapReader::required_text(std::string_view key,
                                                    std::string_view expected) {
  const auto value = required(key, expected);
  return value ? read_text(*value, findings_) : std::nullopt;
}

std::vector<Value> MapReader::required_list(std::string_view key) {
  const auto value = required(key, "a list");
  return value ? read_list(*value, findings_) : std::vector<Value>{};
}

void MapReader::report(std::string message) {
  findings_.report(self_.node.mark, self_.path, std::move(message));
}

void MapReader::report(std::string_view key, std::string message) {
  const Field* field = find(key);
  findings_.report(field ? field->value.node.mark : self_.node.mark, child_path(self_.path, key),
                   std::move(message));
}

}  // namespace xila::config
