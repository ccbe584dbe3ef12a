#include "audit_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace xila::telemetry {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::system_clock;
using testing::EndsWith;
using testing::SizeIs;

std::string line_of(AuditRecord record, microseconds since_epoch = {}) {
  std::string line;
  append_line(line, to_entry(std::move(record), system_clock::time_point(since_epoch)));
  return line;
}

bool has_type(const json& value, const std::string& type) {
  return type == value.type_name() || (type == "number" && value.is_number());
}

// The part of JSON Schema that docs/audit-log.schema.json uses; keys that it does not name are
// offences here, so that no key stays undocumented.
void expect_valid(const json& value, const json& schema, const std::string& path) {
  SCOPED_TRACE(path + " = " + value.dump());
  if (schema.contains("const")) {
    EXPECT_EQ(value, schema["const"]);
  }
  if (schema.contains("enum")) {
    EXPECT_THAT(schema["enum"], testing::Contains(value));
  }
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    EXPECT_TRUE(
        std::ranges::any_of(types, [&](const json& type) { return has_type(value, type); }));
  }
  if (value.is_object()) {
    for (const json& key : schema.value("required", json::array()))
      EXPECT_TRUE(value.contains(key)) << key;
    for (const auto& [key, member] : value.items()) {
      ASSERT_TRUE(schema.at("properties").contains(key)) << key;
      expect_valid(member, schema["properties"][key], path + "." + key);
    }
  }
  if (value.is_array()) {
    for (const json& item : value) expect_valid(item, schema.at("items"), path + "[]");
  }
}

json schema() {
  std::ifstream file(XILA_FIXTURES "/../../docs/audit-log.schema.json");
  return json::parse(file);
}

AuditRecord record_of(const std::string& text, std::size_t violations) {
  AuditRecord record;
  record.review.uid = text;
  record.review.subject = {.space = text, .name = text, .user = text, .resource = text};
  record.review.object = policy::Pod{.generate_name = text};
  record.review.object->owners = {{.kind = text, .name = text, .controller = true}};
  record.decision = {.outcome = policy::Outcome::denied, .profile = text, .tenant = text};
  for (std::size_t i = 0; i < violations; ++i) {
    record.decision.violations.push_back({"node-pin", text, text, text});
  }
  record.message = text;
  record.peer = text;
  return record;
}

TEST(AuditLine, FitsItsSchema) {
  AuditRecord empty;
  empty.decision.outcome = policy::Outcome::allowed;
  expect_valid(json::parse(line_of(std::move(empty))), schema(), "empty");
  expect_valid(json::parse(line_of(record_of("x", 0))), schema(), "no violations");
  expect_valid(json::parse(line_of(record_of("x", 3))), schema(), "violations");
  for (const auto outcome : {policy::Outcome::exempt, policy::Outcome::warned,
                             policy::Outcome::audited, policy::Outcome::malformed}) {
    AuditRecord record = record_of("x", 1);
    record.decision.outcome = outcome;
    expect_valid(json::parse(line_of(std::move(record))), schema(), "outcome");
  }
}

TEST(AuditLine, SchemaRequiresEveryKeyButGenerateName) {
  const json document = schema();
  for (const auto& [key, ignored] : document["properties"].items()) {
    EXPECT_EQ(std::ranges::count(document["required"], json(key)), key == "generateName" ? 0 : 1)
        << key;
  }
}

TEST(AuditLine, DocumentationHasItsKeysAndAValidExample) {
  std::ifstream file(XILA_FIXTURES "/../../docs/audit-log.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const auto& [key, ignored] : schema()["properties"].items()) {
    EXPECT_NE(page.find("\n| `" + key + "` | "), std::string::npos) << key;
  }
  const std::size_t begin = page.find("\n{") + 1;
  expect_valid(json::parse(page.substr(begin, page.find('\n', begin) - begin)), schema(),
               "example");
}

TEST(AuditLine, TimeIsRfc3339WithMicroseconds) {
  // 1796119200 = 2026-12-01T10:00:00Z
  const microseconds time = std::chrono::seconds(1'796'119'200) + microseconds(7);
  EXPECT_EQ(json::parse(line_of({}, time)).at("time"), "2026-12-01T10:00:00.000007Z");
}

TEST(AuditLine, WhateverATenantWritesIsOneBoundedLine) {
  const std::string hostile[] = {"\n",  "\"},\n{\"", std::string(1, '\0'), "\xff", "\xe2\x80\xa8",
                                 "\\u", "x",         "\xf0\x9f\x98\x80"};
  for (const std::string& unit : hostile) {
    SCOPED_TRACE(unit);
    std::string text;
    while (text.size() < 5000) text += unit;
    const std::string line = line_of(record_of(text, 1000));
    EXPECT_LE(line.size(), kMaxAuditLineBytes);
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    const json parsed = json::parse(line);  // strict about UTF-8
    expect_valid(parsed, schema(), "hostile");
    EXPECT_THAT(parsed["user"].get<std::string>(), EndsWith("..."));
    EXPECT_EQ(parsed["violations"].size() + parsed["violationsOmitted"].get<std::size_t>(), 1000U);
    EXPECT_GT(parsed["violations"].size(), 0U);
    EXPECT_LE(parsed["violations"].size(), kMaxAuditedViolations);
  }
}

TEST(AuditEntry, HoldsBoundedMemory) {
  EXPECT_LT(bytes_of(to_entry(record_of(std::string(100'000, 'x'), 100), {})), 128U << 10);
}

TEST(AuditEntry, TakesTheOldObjectWhereThereIsNoNewOne) {
  AuditRecord record = record_of("x", 0);
  std::swap(record.review.object, record.review.old_object);
  EXPECT_EQ(to_entry(std::move(record), {}).owner_name, "x");
}

TEST(AuditEntry, NamesOnlyTheControllingOwner) {
  AuditRecord record = record_of("x", 0);
  record.review.object->owners[0].controller = false;
  EXPECT_EQ(json::parse(line_of(std::move(record))).at("owner"), nullptr);
}

}  // namespace
}  // namespace xila::telemetry
