#include "duplicate_keys.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "json_reader.hpp"

namespace xila::codec {
namespace {

namespace dom = simdjson::dom;

// simdjson's tape: one word per value with its type in the highest byte, two for a number. A
// string's payload is the place of its text: four bytes of length, then its bytes. An object's or
// an array's lower half is the place behind its end. Source: simdjson's doc/tape.md.
struct Tape {
  const std::uint64_t* words;
  const std::uint8_t* texts;

  explicit Tape(const dom::document& document)
      : words(document.tape.get()), texts(document.string_buf.get()) {}

  char type(std::size_t place) const { return static_cast<char>(words[place] >> 56); }
  // The lower half of a word.
  std::size_t link(std::size_t place) const { return static_cast<std::uint32_t>(words[place]); }
  const std::uint8_t* text(std::size_t place) const {
    return texts + (words[place] & ((std::uint64_t{1} << 56) - 1));
  }
};

constexpr std::size_t kLength = 4;  // bytes before a text

std::uint64_t load(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::size_t size_of(const std::uint8_t* text) {
  return static_cast<std::uint32_t>(load(text));
}

// Of a key's length, first four and last four bytes: equal for equal keys, the highest bits the
// best. Without a branch, since nobody can foretell the next key's length; behind a short key stand
// other texts, which the mask takes off.
std::uint64_t hash_of(const std::uint8_t* text) {
  static constexpr std::uint64_t kMasks[kLength + 1] = {0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF,
                                                        0xFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
  const std::uint64_t head = load(text);
  const std::size_t size = static_cast<std::uint32_t>(head);
  const std::size_t first = std::min(size, kLength);
  const std::uint64_t tail = load(text + (size - first));
  return ((head & kMasks[first]) ^ std::rotl(tail & kMasks[first], 24)) * 0x9E3779B97F4A7C15U;
}

// Up to so many keys every pair is compared, of more a sorted list is made: a hostile object can
// have a million.
constexpr std::size_t kPairwise = 64;

[[gnu::noinline]] bool has_twins(std::span<std::uint32_t> hashes) {
  if (hashes.size() > kPairwise) {
    std::ranges::sort(hashes);
    return std::ranges::adjacent_find(hashes) != hashes.end();
  }
  std::uint32_t equal = 0;
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) equal |= static_cast<std::uint32_t>(hashes[i] == hashes[j]);
  }
  return equal != 0;
}

// The same of the keys themselves, of the object at `place`.
[[gnu::noinline]] bool has_equal_keys(const Tape& tape, std::size_t place) {
  std::vector<std::string_view> keys;
  for (++place; tape.type(place) != '}';) {
    const std::uint8_t* const text = tape.text(place);
    keys.emplace_back(reinterpret_cast<const char*>(text + kLength), size_of(text));
    const char type = tape.type(++place);
    const bool is_number = type == 'l' || type == 'u' || type == 'd';
    place = type == '{' || type == '[' ? tape.link(place) : place + (is_number ? 2 : 1);
  }
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

// What is open at a place of the tape.
struct Level {
  std::uint64_t seen = 0;          // a bit for each of the keys
  std::uint64_t repeated = 0;      // bits that were there before
  std::size_t object = 0;          // its place; 0 = an array
  std::uint32_t* first = nullptr;  // of the keys' hashes
};

// Whether any object has a key twice. All of every document is looked at, half of it managedFields
// that nothing else reads, so it is one pass in the order of the tape: each key of an object sets
// one of 64 bits; only where one was set before the hashes are compared, and only where two are
// equal the keys. One function, for its variables must stay in registers.
[[gnu::noinline]] bool has_any_twins(const Tape& tape) {
  // Kept by each thread, not made and cleared each time; of a large document only for its time.
  thread_local std::array<Level, kMaxDepth + 2> outer;
  thread_local std::array<std::uint32_t, 8192> kept_hashes;
  const std::size_t end = tape.link(0);
  std::unique_ptr<std::uint32_t[]> more_hashes;
  if (end / 2 >= kept_hashes.size()) {  // a key has two words at least
    more_hashes = std::make_unique_for_overwrite<std::uint32_t[]>(end / 2 + 1);
  }
  std::uint32_t* top = more_hashes ? more_hashes.get() : kept_hashes.data();
  std::size_t depth = 0;
  Level here;
  for (std::size_t place = 1; place < end;) {
    if (here.object != 0) {
      if (tape.type(place) == '}') {
        if (here.repeated != 0 && has_twins({here.first, top}) &&
            has_equal_keys(tape, here.object)) {
          return true;
        }
        top = here.first;
        here = outer[--depth];
        ++place;
        continue;
      }
      const std::uint64_t hash = hash_of(tape.text(place));
      const std::uint64_t bit = std::uint64_t{1} << (hash >> 58);
      *top++ = static_cast<std::uint32_t>(hash >> 32);
      here.repeated |= here.seen & bit;
      here.seen |= bit;
      ++place;
    }
    switch (const char type = tape.type(place)) {
      case '{':
      case '[':
        if (tape.link(place) == place + 2) {  // empty, as half of the objects of managedFields are
          place += 2;
          break;
        }
        outer[depth++] = here;
        here = {.object = type == '{' ? place : 0, .first = top};
        ++place;
        break;
      case ']':
        here = outer[--depth];
        ++place;
        break;
      case 'l':
      case 'u':
      case 'd':
        place += 2;
        break;
      default:
        ++place;
    }
  }
  return false;
}

// Looks through a document, depth first, until a key stands twice.
class Search {
 public:
  bool finds_in(dom::object object, const Path& path) {
    std::vector<std::string_view> keys;
    for (const auto [key, value] : object) {
      if (finds_in(value, Path(path, key))) return true;
      keys.push_back(key);
    }
    std::ranges::sort(keys);
    const auto twin = std::ranges::adjacent_find(keys);
    if (twin == keys.end()) return false;
    found_ = Path(path, *twin).text();
    return true;
  }

  std::string& found() { return found_; }

 private:
  bool finds_in(dom::element element, const Path& path) {
    if (element.is_object()) return finds_in(dom::object(element), path);
    if (!element.is_array()) return false;
    std::size_t index = 0;
    for (const dom::element part : dom::array(element)) {
      if (finds_in(part, Path(path, index))) return true;
      ++index;
    }
    return false;
  }

  std::string found_;
};

}  // namespace

std::optional<std::string> find_duplicate_key(const dom::document& document) {
  if (!has_any_twins(Tape(document))) return std::nullopt;
  Search search;
  if (!search.finds_in(dom::object(document.root()), Path(""))) return std::nullopt;
  return std::move(search.found());
}

}  // namespace xila::codec
