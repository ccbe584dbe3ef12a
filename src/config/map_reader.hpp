#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xila/config/load.hpp"
#include "xila/yaml/document.hpp"

namespace xila::config {

inline constexpr std::size_t kMaxProblems = 100;

// Collects the problems of one file.
class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  void report(yaml::Mark mark, const std::string& path, std::string message);
  std::size_t size() const { return problems_.size(); }
  bool empty() const { return problems_.empty(); }
  // In the order of the text; past the first kMaxProblems only their count.
  Problems take();

 private:
  std::string file_;
  Problems problems_;
};

// A value of the document and its path from the root, as profiles[1].schedulerName.
struct Value {
  const yaml::Node& node;
  std::string path;
};

// True for a value of that kind. Anything else is reported with what was `expected`: null, an
// alias, an anchor, an explicit tag, another kind.
bool is(yaml::Kind kind, const Value& value, std::string_view expected, Findings& findings);

// A string. Reported instead: what YAML may take for another type unless quoted, and control
// characters.
std::optional<std::string> read_text(const Value& value, Findings& findings);

// true or false, written so and without quotes.
std::optional<bool> read_flag(const Value& value, Findings& findings);

// The items of a list; none where it is no list.
std::vector<Value> read_list(const Value& value, Findings& findings);

// One entry of a mapping whose keys are data, as matchLabels.
struct Field {
  std::string key;
  yaml::Mark mark;  // the key's
  Value value;
};

// The entries of such a mapping. Reports keys that are no strings, repeated keys and merge keys.
std::vector<Field> read_fields(const Value& value, Findings& findings);

// Reads one mapping strictly: an unknown, repeated or missing key is a problem, and so is a value
// of the wrong type. All of them are reported, not only the first. This is the one place that knows
// how.
class MapReader {
 public:
  // What is no mapping is reported once; then every key counts as absent and nothing as missing.
  MapReader(const Value& value, Findings& findings);
  ~MapReader();  // reports the keys that nobody asked for
  MapReader(const MapReader&) = delete;
  MapReader& operator=(const MapReader&) = delete;

  std::optional<Value> value(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::vector<Value> list(std::string_view key);

  // The same, where absence is a problem; `expected` says what was.
  std::optional<Value> required(std::string_view key, std::string_view expected);
  std::optional<std::string> required_text(std::string_view key,
                                           std::string_view expected = "a string");
  std::vector<Value> required_list(std::string_view key);

  // A problem of the mapping as a whole, or of one key's value.
  void report(std::string message);
  void report(std::string_view key, std::string message);

  // Unknown keys are not reported: what the mapping is was already wrong.
  void ignore_unknown_keys() { known_keys_only_ = false; }

 private:
  const Field* find(std::string_view key);

  Value self_;
  Findings& findings_;
  bool is_mapping_;
  bool known_keys_only_ = true;
  std::vector<Field> fields_;
  std::vector<std::string> asked_;
};

}  // namespace xila::config
