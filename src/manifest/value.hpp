#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xila/yaml/document.hpp"

namespace xila::manifest {

enum class Type : std::uint8_t { null, boolean, number, string, array, object };

struct Member;

// A JSON value with the place where it stands, be that in JSON or in YAML. Repeated keys stay, so
// that whoever judges the value can refuse them.
struct Value {
  Type type = Type::null;
  yaml::Mark mark;
  std::string text;             // of a string; of a boolean or number its JSON token
  std::vector<Value> items;     // of an array
  std::vector<Member> members;  // of an object, in the order in which they were written
};

struct Member {
  std::string key;
  yaml::Mark mark;  // the key's
  Value value;
};

// What both readers hold a document to. The API server's own objects stay far below.
inline constexpr std::size_t kMaxDepth = 200;
inline constexpr std::size_t kMaxValues = 2'000'000;

// The first member of that key, or null: no such key, or no object.
const Member* find(const Value& value, std::string_view key);

// The text of a string member; "" where there is none.
std::string_view text_of(const Value& value, std::string_view key);

// The value as JSON, valid UTF-8 if its texts are. Repeated keys are repeated.
std::string to_json(const Value& value);

// Where a field stands: its key's place, an item's own, or the nearest of what is around it.
// `field` is a path such as spec.nodeSelector[kubernetes.io/hostname] or spec.containers[1].name.
yaml::Mark locate(const Value& root, std::string_view field);

}  // namespace xila::manifest
