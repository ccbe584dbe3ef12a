#include "yaml.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "scalar.hpp"
#include "xila/base/text.hpp"

namespace xila::manifest {
namespace {

using yaml::Kind;
using yaml::Node;
using yaml::Problem;

// Ends the recursion from wherever it is; never leaves this file.
struct Refusal {
  Problem problem;
};

[[noreturn]] void refuse(const Node& node, std::string message) {
  throw Refusal{{node.mark, std::move(message)}};
}

// Honest files have a few hundred; nested aliases grow by powers.
constexpr std::size_t kMaxAliased = 200'000;

bool is_merge_key(const Node& key) {
  if (key.kind != Kind::scalar || key.text != "<<") return false;
  return key.plain || key.tag == "tag:yaml.org,2002:merge";
}

class Converter {
 public:
  Value convert(const Node& document) {
    collect_anchors(document);
    return convert(document, 0);
  }

 private:
  void collect_anchors(const Node& node) {
    if (node.anchor != 0 && node.kind != Kind::alias) anchors_[node.anchor] = &node;
    for (const Node& item : node.items) collect_anchors(item);
    for (const yaml::Entry& entry : node.entries) {
      collect_anchors(entry.key);
      collect_anchors(entry.value);
    }
  }

  // What an alias stands for; the node itself where it is none.
  const Node& target(const Node& node) const {
    if (node.kind != Kind::alias) return node;
    const auto found = anchors_.find(node.anchor);
    if (found == anchors_.end()) refuse(node, "an alias without its anchor");
    return *found->second;
  }

  Value convert(const Node& node, std::size_t depth) {
    if (depth > kMaxDepth)
      refuse(node, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
    if (!open_.empty() && ++aliased_ > kMaxAliased) {
      refuse(node, "aliases stand for more than " + std::to_string(kMaxAliased) + " values");
    }
    if (node.kind == Kind::alias) return convert_alias(node, depth);

    Value value{.mark = node.mark};
    switch (node.kind) {
      case Kind::null:
        if (!node.tag.empty()) set_scalar(value, node);
        break;
      case Kind::scalar:
        set_scalar(value, node);
        break;
      case Kind::sequence:
        value.type = Type::array;
        for (const Node& item : node.items) value.items.push_back(convert(item, depth + 1));
        break;
      case Kind::mapping:
        value.type = Type::object;
        convert_members(value, node, depth);
        break;
      case Kind::alias:
        break;
    }
    return value;
  }

  // An anchor that holds its own alias would never end.
  Value convert_alias(const Node& alias, std::size_t depth) {
    if (!open_.insert(alias.anchor).second) refuse(alias, "an alias inside its own anchor");
    Value value = convert(target(alias), depth);
    open_.erase(alias.anchor);
    return value;
  }

  static void set_scalar(Value& value, const Node& node) {
    auto resolved = resolve(node.text, node.plain, node.tag);
    if (!resolved) refuse(node, resolved.error());
    value.type = resolved->type;
    value.text = std::move(resolved->text);
  }

  // Written keys win over merged ones. Go's reader lets the later of the two win, so a merge key
  // that comes later is refused where that would matter.
  void convert_members(Value& value, const Node& node, std::size_t depth) {
    std::set<std::string, std::less<>> written;
    std::vector<Member> merged;
    bool has_merged = false;
    for (const yaml::Entry& entry : node.entries) {
      if (!is_merge_key(entry.key)) {
        value.members.push_back(
            {key_of(entry.key), entry.key.mark, convert(entry.value, depth + 1)});
        written.insert(value.members.back().key);
        continue;
      }
      if (std::exchange(has_merged, true)) refuse(entry.key, "key << is repeated");
      merged = merged_members(entry.value, depth);
      for (const Member& member : merged) {
        if (written.contains(member.key)) {
          refuse(entry.key, "merges " + base::quote(member.key, 64) +
                                ", which is written above it; put << first");
        }
      }
    }
    for (Member& member : merged) {
      if (!written.contains(member.key)) value.members.push_back(std::move(member));
    }
  }

  // The members of a mapping, or of a list of mappings of which the first wins.
  std::vector<Member> merged_members(const Node& node, std::size_t depth) {
    const Node& source = target(node);
    if (source.kind == Kind::mapping) return convert(node, depth + 1).members;
    if (source.kind != Kind::sequence)
      refuse(node, "a merge key wants a mapping, or a list of them");
    std::vector<Member> members;
    std::set<std::string, std::less<>> keys;
    for (const Node& item : source.items) {
      if (target(item).kind != Kind::mapping) {
        refuse(item, "a merge key wants a mapping, or a list of them");
      }
      std::set<std::string, std::less<>> new_keys;
      for (Member& member : convert(item, depth + 1).members) {
        if (keys.contains(member.key)) continue;
        new_keys.insert(member.key);
        members.push_back(std::move(member));
      }
      keys.merge(new_keys);
    }
    return members;
  }

  std::string key_of(const Node& node) const {
    const Node& key = target(node);
    if (key.kind == Kind::sequence || key.kind == Kind::mapping) {
      refuse(node, "a list or mapping as a key");
    }
    Value value;
    if (key.kind == Kind::scalar || !key.tag.empty()) set_scalar(value, key);
    if (value.type == Type::null) refuse(node, "null as a key");
    return value.text;
  }

  std::map<std::size_t, const Node*> anchors_;
  std::set<std::size_t> open_;  // anchors whose aliases are being written out
  std::size_t aliased_ = 0;     // values that aliases stand for
};

}  // namespace

std::expected<std::vector<Value>, Problem> parse_yaml(std::string_view text) {
  auto documents = yaml::parse(text, {.depth = kMaxDepth, .nodes = kMaxValues});
  if (!documents) return std::unexpected(std::move(documents.error()));
  std::vector<Value> values;
  try {
    for (const Node& document : *documents) values.push_back(Converter().convert(document));
  } catch (const Refusal& refusal) {
    return std::unexpected(refusal.problem);
  }
  return values;
}

}  // namespace xila::manifest
