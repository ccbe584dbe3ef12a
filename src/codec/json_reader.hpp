#pragma once

#include <simdjson.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xila/base/result.hpp"
#include "xila/policy/check.hpp"

namespace xila::codec {

// Levels of objects and arrays. The API server's own objects stay below 30; recursion over them is
// bounded by it.
inline constexpr std::size_t kMaxDepth = 200;

// Elements of one array or map that a check reads. A document of a few MiB can hold millions of
// "{}", each of which would become a value of 200 bytes; the API server's own size limit keeps real
// Pods below this.
inline constexpr std::size_t kMaxElements = 10'000;

// Where a value stands in its document: a chain through the callers' stack frames, so that it costs
// nothing until something is wrong. A parent must outlive its children.
class Path {
 public:
  explicit Path(std::string_view root) : key_(root) {}
  Path(const Path& parent, std::string_view key) : parent_(&parent), key_(key) {}
  Path(const Path& parent, std::size_t index)
      : parent_(&parent), index_(index), is_element_(true) {}

  // "spec.containers[1].name"; a key that is no plain word stands in brackets, as
  // metadata.labels[a/b]. Free of control characters, and keys are cut at 64 bytes.
  std::string text() const;

 private:
  const Path* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_element_ = false;
};

// The fields that are not what they must be. Keeps the first 100 and counts the rest, for a hostile
// document can hold millions.
class Problems {
 public:
  // `what` continues the path to a sentence: "is a number, expected a boolean".
  void add(const Path& path, std::string_view what);

  bool empty() const { return violations_.empty(); }
  // The first one as a sentence; there must be one.
  const std::string& first() const { return violations_.front().message; }
  // All of them, check id `malformed`.
  policy::Violations take();

 private:
  policy::Violations violations_;
  std::size_t left_out_ = 0;
};

// Reads one object's fields by their exact keys. Null and absent are the same; a wrong type is a
// problem and reads as absent. An absent object reads as one without fields, so that a chain of
// optional objects needs no branch. What is returned as a view lives until this thread parses
// again.
class ObjectReader {
 public:
  ObjectReader(simdjson::dom::object object, Path path, Problems& problems)
      : object_(object), path_(path), problems_(&problems) {}
  ObjectReader(const ObjectReader&) = delete;  // its children point at its path
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader() = default;

  explicit operator bool() const { return object_.has_value(); }
  bool has(std::string_view key) const { return find(key).has_value(); }

  std::string_view text(std::string_view key) const;  // "" = absent
  bool flag(std::string_view key) const { return optional_flag(key).value_or(false); }
  std::optional<bool> optional_flag(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;  // 0 = absent
  ObjectReader object(std::string_view key) const&;
  ObjectReader object(std::string_view key) const&& = delete;  // the child would outlive its parent
  // The same, with paths inside it that begin at `root`.
  ObjectReader object(std::string_view key, Path root) const;

  // The same as `text` and `object`; absent (and "") is a problem.
  std::string_view required_text(std::string_view key) const;
  ObjectReader required_object(std::string_view key) const&;
  ObjectReader required_object(std::string_view key, Path root) const;
  // An absent or empty array is a problem; a value of another type is not, for whoever reads it
  // will say so.
  void require_elements(std::string_view key) const;

  // Calls `read(index, reader)` for each object of an array.
  template <std::invocable<std::size_t, const ObjectReader&> Read>
  void each_object(std::string_view key, Read read) const {
    each_element(key, [&](std::size_t index, simdjson::dom::element element, const Path& path) {
      const std::optional<simdjson::dom::object> object = as_object(element, path);
      if (object) read(index, ObjectReader(*object, path, *problems_));
    });
  }

  // Calls `read(text)` for each string of an array.
  template <std::invocable<std::string_view> Read>
  void each_text(std::string_view key, Read read) const {
    each_element(key, [&](std::size_t, simdjson::dom::element element, const Path& path) {
      const std::optional<std::string_view> text = as_text(element, path);
      if (text) read(*text);
    });
  }

  // Calls `read(key, text)` for each field of an object that maps keys to strings.
  template <std::invocable<std::string_view, std::string_view> Read>
  void each_field(std::string_view key, Read read) const {
    const ObjectReader map = object(key);
    if (!map || !is_small_enough(map.object_->size(), map.path_)) return;
    for (const auto [name, value] : *map.object_) {
      const std::optional<std::string_view> text = as_text(value, Path(map.path_, name));
      if (text) read(name, *text);
    }
  }

  void problem(std::string_view key, std::string_view what) const {
    problems_->add({path_, key}, what);
  }
  const Path& path() const { return path_; }

 private:
  ObjectReader(std::optional<simdjson::dom::object> object, Path path, Problems* problems)
      : object_(object), path_(path), problems_(problems) {}

  // What stands at the key; nothing where it is absent or null.
  std::optional<simdjson::dom::element> find(std::string_view key) const;
  std::optional<simdjson::dom::object> as_object(simdjson::dom::element element,
                                                 const Path& path) const;
  std::optional<std::string_view> as_text(simdjson::dom::element element, const Path& path) const;
  bool is_small_enough(std::size_t size, const Path& path) const;

  template <class Read>
  void each_element(std::string_view key, Read read) const {
    const std::optional<simdjson::dom::array> elements = array(key);
    const Path list(path_, key);
    if (!elements || !is_small_enough(elements->size(), list)) return;
    std::size_t index = 0;
    for (const simdjson::dom::element element : *elements) {
      read(index, element, Path(list, index));
      ++index;
    }
  }
  std::optional<simdjson::dom::array> array(std::string_view key) const;

  std::optional<simdjson::dom::object> object_;
  Path path_;
  Problems* problems_;
};

enum class Padding : std::uint8_t { absent, present };

// This thread's parser, taken for one document: the document lives until this is destroyed, and no
// second one may be taken meanwhile. Gives memory back after a document of more than 1 MiB, for a
// parser holds 15 times the size of the largest that it has seen.
class DocumentParser {
 public:
  DocumentParser() = default;
  DocumentParser(const DocumentParser&) = delete;
  DocumentParser& operator=(const DocumentParser&) = delete;
  ~DocumentParser();

  // One JSON object, whole: valid UTF-8, nothing behind it, no key twice in any object, at most
  // kMaxDepth levels. With Padding::present nothing is copied; see PaddedView. The error is one
  // line.
  base::Result<simdjson::dom::object> parse(std::string_view text, Padding padding);
};

}  // namespace xila::codec
