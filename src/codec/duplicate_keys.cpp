#include "duplicate_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "json_reader.hpp"

namespace xila::codec {
namespace {

namespace dom = simdjson::dom;

// Three ways, by the number of keys, since this is felt on every review: of a few keys mostly the
// lengths differ already; of up to 64 every pair is compared by 4 bytes each; of more a sorted list
// is made, so that a million of them in one object stay n log n.
constexpr std::size_t kFew = 4;
constexpr std::size_t kPairwise = 64;

std::uint32_t load(const char* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Equal for equal keys, and seldom for others: of length, head, middle and tail. Nothing but speed
// rests on it.
std::uint32_t fingerprint(std::string_view key) {
  const std::size_t size = key.size();
  std::uint32_t print = static_cast<std::uint32_t>(size);
  if (size >= 4) {
    print += load(key.data()) * 0x9E3779B1U;  // odd constants, so that no bit is lost
    print ^= load(key.data() + size / 2 - 2) * 0x85EBCA77U;
    print += load(key.data() + size - 4) * 0xC2B2AE3DU;
  } else {
    for (const char byte : key) print = print << 8 | static_cast<unsigned char>(byte);
  }
  return print;
}

bool may_have_twins(std::span<const std::uint32_t> prints) {
  if (prints.size() > kPairwise) return true;
  std::uint32_t equal = 0;
  for (std::size_t i = 1; i < prints.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) equal |= static_cast<std::uint32_t>(prints[i] == prints[j]);
  }
  return equal != 0;
}

std::optional<std::string_view> duplicate_of(dom::object object) {
  std::vector<std::pair<std::uint32_t, std::string_view>> keys;
  for (const auto [key, value] : object) keys.emplace_back(fingerprint(key), key);
  std::ranges::sort(keys);
  const auto twin = std::ranges::adjacent_find(keys);
  if (twin == keys.end()) return std::nullopt;
  return twin->second;
}

// Looks through a document, depth first, until a key stands twice.
class Search {
 public:
  bool finds_in(dom::object object, const Path& path) {
    const bool is_suspect = object.size() <= kFew ? visit_few(object, path) : visit(object, path);
    if (!found_.empty()) return true;
    const std::optional<std::string_view> twin = is_suspect ? duplicate_of(object) : std::nullopt;
    if (twin) found_ = Path(path, *twin).text();
    return twin.has_value();
  }

  std::string& found() { return found_; }

 private:
  // Both look into the values and say whether two of the object's own keys may be equal.
  bool visit_few(dom::object object, const Path& path) {
    std::array<std::string_view, kFew> keys;
    std::size_t count = 0;
    bool is_suspect = false;
    for (auto field = object.begin(), end = object.end(); field != end; ++field) {
      const std::string_view key = field.key();
      for (std::size_t i = 0; i < count; ++i) is_suspect |= keys[i] == key;
      keys[count++] = key;
      if (finds_in(field.value(), path, key)) return false;
    }
    return is_suspect;
  }

  bool visit(dom::object object, const Path& path) {
    const std::size_t outer = prints_.size();
    for (auto field = object.begin(), end = object.end(); field != end; ++field) {
      const std::string_view key = field.key();
      prints_.push_back(fingerprint(key));
      if (finds_in(field.value(), path, key)) return false;
    }
    const bool is_suspect = may_have_twins(std::span(prints_).subspan(outer));
    prints_.resize(outer);
    return is_suspect;
  }

  // Of the value at `place`, a key or an index. Half of the objects of managedFields are empty: no
  // call for them.
  template <class Place>
  bool finds_in(dom::element element, const Path& path, Place place) {
    if (element.is_object()) {
      const dom::object object(element);
      return object.begin() != object.end() && finds_in(object, Path(path, place));
    }
    return element.is_array() && finds_in(dom::array(element), Path(path, place));
  }

  bool finds_in(dom::array array, const Path& path) {
    std::size_t index = 0;
    for (const dom::element element : array) {
      if (finds_in(element, path, index)) return true;
      ++index;
    }
    return false;
  }

  std::vector<std::uint32_t>
      prints_;  // of the keys of the objects that are open, the innermost last
  std::string found_;
};

}  // namespace

std::optional<std::string> find_duplicate_key(dom::object root) {
  Search search;
  if (!search.finds_in(root, Path(""))) return std::nullopt;
  return std::move(search.found());
}

}  // namespace xila::codec
