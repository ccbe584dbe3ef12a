#include "duplicate_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_reader.hpp"

namespace xila::codec {
namespace {

namespace dom = simdjson::dom;

// Up to this many keys every pair is compared, by 8 bytes each: cheaper than any set. Of more keys
// a sorted list is made, so that a million of them in one object stay n log n.
constexpr std::size_t kPairwise = 64;

std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

// Equal for equal keys, and seldom for others: length, head and tail of the key. Nothing but speed
// rests on it.
std::uint64_t fingerprint(std::string_view key) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  const std::size_t size = key.size();
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  if (size >= 8) {
    head = load(key.data(), 8);
    tail = load(key.data() + size - 8, 8);
  } else if (size >= 4) {
    head = load(key.data(), 4);
    tail = load(key.data() + size - 4, 4);
  } else if (size > 0) {
    head = load(key.data(), 1) << 16 | load(key.data() + size / 2, 1) << 8 |
           load(key.data() + size - 1, 1);
  }
  return ((head * kOdd) ^ tail) * kOdd + size;
}

std::optional<std::string_view> duplicate_of_many(dom::object object) {
  std::vector<std::pair<std::uint64_t, std::string_view>> keys;
  for (auto field = object.begin(); field != object.end(); ++field) {
    keys.emplace_back(fingerprint(field.key()), field.key());
  }
  std::ranges::sort(keys);
  const auto twin = std::ranges::adjacent_find(keys);
  if (twin == keys.end()) return std::nullopt;
  return twin->second;
}

// Looks through a document, depth first, until a key stands twice.
class Search {
 public:
  bool finds_in(dom::object object, const Path& path) {
    if (const std::optional<std::string_view> key = duplicate_of(object)) {
      found_ = Path(path, *key).text();
      return true;
    }
    for (auto field = object.begin(); field != object.end(); ++field) {
      if (finds_in(field.value(), Path(path, field.key()))) return true;
    }
    return false;
  }

  std::string& found() { return found_; }

 private:
  bool finds_in(dom::element element, const Path& path) {
    dom::object object;
    if (element.get(object) == simdjson::SUCCESS) return finds_in(object, path);
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return false;
    std::size_t index = 0;
    for (const dom::element inner : array) {
      if (finds_in(inner, Path(path, index))) return true;
      ++index;
    }
    return false;
  }

  std::optional<std::string_view> duplicate_of(dom::object object) {
    std::size_t count = 0;
    for (auto field = object.begin(); field != object.end(); ++field) {
      if (count == kPairwise) return duplicate_of_many(object);
      const std::uint64_t print = fingerprint(field.key());
      bool is_seen = false;
      for (std::size_t i = 0; i < count; ++i) is_seen |= seen_[i] == print;
      if (is_seen) return duplicate_of_many(object);
      seen_[count++] = print;
    }
    return std::nullopt;
  }

  std::array<std::uint64_t, kPairwise> seen_;  // of one object at a time
  std::string found_;
};

}  // namespace

std::optional<std::string> find_duplicate_key(dom::object root) {
  Search search;
  if (!search.finds_in(root, Path(""))) return std::nullopt;
  return std::move(search.found());
}

}  // namespace xila::codec
