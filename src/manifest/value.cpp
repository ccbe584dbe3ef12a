#include "value.hpp"

#include <algorithm>
#include <charconv>

namespace xila::manifest {
namespace {

void append_string(std::string& json, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      json += "\\u00";
      json += kDigits[byte >> 4U];
      json += kDigits[byte & 0xFU];
    } else {
      json += c;
    }
  }
  json += '"';
}

void append(std::string& json, const Value& value) {
  const char* separator = "";
  switch (value.type) {
    case Type::null:
      json += "null";
      break;
    case Type::boolean:
    case Type::number:
      json += value.text;
      break;
    case Type::string:
      append_string(json, value.text);
      break;
    case Type::array:
      json += '[';
      for (const Value& item : value.items) {
        json += separator;
        append(json, item);
        separator = ",";
      }
      json += ']';
      break;
    case Type::object:
      json += '{';
      for (const Member& member : value.members) {
        json += separator;
        append_string(json, member.key);
        json += ':';
        append(json, member.value);
        separator = ",";
      }
      json += '}';
      break;
  }
}

// One step of a path: the key or index that `field` begins with. Takes it off `field`.
std::string_view take_step(std::string_view& field) {
  std::string_view step;
  if (field.starts_with('[')) {
    const std::size_t end = std::min(field.find(']'), field.size());
    step = field.substr(1, end - 1);
    field.remove_prefix(std::min(end + 1, field.size()));
  } else {
    step = field.substr(0, field.find_first_of(".["));
    field.remove_prefix(step.size());
  }
  if (field.starts_with('.')) field.remove_prefix(1);
  return step;
}

const Value* item_at(const Value& value, std::string_view step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool is_index = error == std::errc{} && end == step.data() + step.size();
  return is_index && index < value.items.size() ? &value.items[index] : nullptr;
}

}  // namespace

const Member* find(const Value& value, std::string_view key) {
  const auto member = std::ranges::find(value.members, key, &Member::key);
  return member == value.members.end() ? nullptr : &*member;
}

std::string_view text_of(const Value& value, std::string_view key) {
  const Member* member = find(value, key);
  return member && member->value.type == Type::string ? std::string_view(member->value.text) : "";
}

std::string to_json(const Value& value) {
  std::string json;
  append(json, value);
  return json;
}

yaml::Mark locate(const Value& root, std::string_view field) {
  yaml::Mark mark = root.mark;
  const Value* value = &root;
  while (!field.empty()) {
    const std::string_view step = take_step(field);
    if (const Member* member = find(*value, step)) {
      mark = member->mark;
      value = &member->value;
    } else if (const Value* item = item_at(*value, step)) {
      mark = item->mark;
      value = item;
    } else {
      break;
    }
  }
  return mark;
}

}  // namespace xila::manifest
