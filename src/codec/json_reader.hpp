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

// What is kept of one Pod: labels, containers, volumes and the like. A few MiB of `{},` would
// become hundreds of MiB of values and violations; real Pods have dozens.
inline constexpr std::size_t kMaxKept = 20'000;

// Where a value stands in its document: a chain through the callers' stack frames, so that it costs
// nothing until something is wrong. A parent must outlive its children.
class Path {
 public:
  explicit Path(std::string_view root) : key_(root.data()), size_(root.size()) {}
  Path(const Path& parent, std::string_view key)
      : parent_(&parent), key_(key.data()), size_(key.size()) {}
  Path(const Path& parent, std::size_t index) : parent_(&parent), size_(index) {}

  // "spec.containers[1].name"; a key that is no plain word stands in brackets, as
  // metadata.labels[a/b]. Free of control characters, and keys are cut at 64 bytes.
  std::string text() const;

 private:
  const Path* parent_ = nullptr;
  const char* key_ = nullptr;  // null = an element, and size_ is its index
  std::size_t size_ = 0;
};

// The fields that are not what they must be. Keeps the first 100 and counts the rest, for a hostile
// document can hold millions.
class Problems {
 public:
  // `what` continues the path to a sentence: "is a number, expected a boolean".
  void add(const Path& path, std::string_view what);

  // False where one more would only be counted, which this does: its words need not be made.
  bool has_room();

  // Counts values that are kept. False, and one problem, from the first that are over kMaxKept.
  bool keep(const Path& path, std::size_t count);
  // Counts from zero: another Pod begins, and what may be created must be able to change.
  void begin_object() { kept_ = 0; }

  bool empty() const { return violations_.empty(); }
  // The first one as a sentence; there must be one.
  const std::string& first() const { return violations_.front().message; }
  // All of them, check id `malformed`.
  policy::Violations take();

 private:
  policy::Violations violations_;
  std::size_t left_out_ = 0;
  std::size_t kept_ = 0;
};

class ObjectReader;

// A value of a document, or none where it is absent or null: the two are the same. Each getter says
// which type it expects; another one is a problem and reads as absent. Views live until this thread
// parses again.
class Value {
 public:
  explicit operator bool() const { return element_.has_value(); }

  std::string_view text() const { return as_text().value_or(""); }  // "" = absent
  bool flag() const { return optional_flag().value_or(false); }
  std::optional<bool> optional_flag() const { return as<bool>("a boolean"); }
  std::int64_t integer() const;  // 0 = absent
  ObjectReader object() const;
  std::size_t size() const;  // elements or fields
  // This value, of which everything will be kept; none where that would be too much.
  Value kept() const;

  // Calls `read(index, reader)` for each object of an array.
  template <std::invocable<std::size_t, const ObjectReader&> Read>
  void each_object(Read read) const;
  // Calls `read(text)` for each string of an array.
  template <std::invocable<std::string_view> Read>
  void each_text(Read read) const;
  // Calls `read(key, text)` for each field of an object that maps keys to strings.
  template <std::invocable<std::string_view, std::string_view> Read>
  void each_field(Read read) const;

  // An array without elements is a problem. A value of another type is not: whoever reads it will
  // say so.
  void refuse_empty_array() const;
  void problem(std::string_view what) const { problems_->add(path_, what); }

 private:
  friend class ObjectReader;
  Value(std::optional<simdjson::dom::element> element, Path path, Problems& problems)
      : element_(element), path_(path), problems_(&problems) {}
  // Of an array's element or a map's value, where null is of the wrong type and not absent.
  std::optional<simdjson::dom::object> as_object() const {
    return as<simdjson::dom::object>("an object");
  }
  std::optional<std::string_view> as_text() const { return as<std::string_view>("a string"); }
  std::optional<simdjson::dom::array> as_array() const {
    return as<simdjson::dom::array>("an array");
  }
  template <class T>
  std::optional<T> as(std::string_view expected) const {
    T value;
    if (!element_) return std::nullopt;
    if (element_->get(value) == simdjson::SUCCESS) return value;
    report_type(*element_, expected);
    return std::nullopt;
  }
  void report_type(simdjson::dom::element found, std::string_view expected) const;
  template <class Read>
  void each_element(Read read) const;

  std::optional<simdjson::dom::element> element_;
  Path path_;
  Problems* problems_;
};

// Reads one object's fields by their exact keys. An absent object reads as one without fields, so
// that a chain of optional objects needs no branch.
class ObjectReader {
 public:
  ObjectReader(simdjson::dom::object object, Path path, Problems& problems)
      : object_(object), path_(path), problems_(&problems) {}
  ObjectReader(const ObjectReader&) = delete;  // its values point at its path
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader() = default;

  explicit operator bool() const { return object_.has_value(); }
  bool has(std::string_view key) const { return find(key).has_value(); }

  [[gnu::always_inline]] Value value(std::string_view key) const& {
    return {find(key), {path_, key}, *problems_};
  }
  // Calls `read(key, value)` for each field that is not null, in the order of the document: one
  // pass, where many keys are asked for.
  template <std::invocable<std::string_view, const Value&> Read>
  void each_value(Read read) const;

  [[gnu::always_inline]] std::string_view text(std::string_view key) const {
    return value(key).text();
  }
  bool flag(std::string_view key) const { return value(key).flag(); }
  std::optional<bool> optional_flag(std::string_view key) const {
    return value(key).optional_flag();
  }
  std::int64_t integer(std::string_view key) const { return value(key).integer(); }
  ObjectReader object(std::string_view key) const& { return value(key).object(); }
  ObjectReader object(std::string_view key) const&& = delete;  // the child would outlive its parent
  // The same, with paths inside it that begin at `root`.
  ObjectReader object(std::string_view key, Path root) const;
  // This object once more, with paths that begin at `root` and problems of its own.
  ObjectReader apart(Path root, Problems& problems) const { return {object_, root, &problems}; }
  template <class Read>
  void each_object(std::string_view key, Read read) const {
    value(key).each_object(read);
  }
  template <class Read>
  void each_text(std::string_view key, Read read) const {
    value(key).each_text(read);
  }
  template <class Read>
  void each_field(std::string_view key, Read read) const {
    value(key).each_field(read);
  }

  // The same as `text` and `object`; absent (and "") is a problem.
  std::string_view required_text(std::string_view key) const;
  ObjectReader required_object(std::string_view key) const&;
  ObjectReader required_object(std::string_view key, Path root) const;

  void problem(std::string_view key, std::string_view what) const {
    problems_->add({path_, key}, what);
  }
  bool keep(std::size_t count) const { return problems_->keep(path_, count); }
  const Path& path() const { return path_; }

 private:
  friend class Value;
  ObjectReader(std::optional<simdjson::dom::object> object, Path path, Problems* problems)
      : object_(object), path_(path), problems_(problems) {}

  // What stands at the key; nothing where it is absent or null. Inlined with its callers, so that a
  // literal key is compared without a call: a review asks for more than a hundred.
  [[gnu::always_inline]] std::optional<simdjson::dom::element> find(std::string_view key) const {
    simdjson::dom::element found;
    if (!object_ || object_->at_key(key).get(found) != simdjson::SUCCESS || found.is_null())
      return std::nullopt;
    return found;
  }

  std::optional<simdjson::dom::object> object_;
  Path path_;
  Problems* problems_;
};

inline ObjectReader Value::object() const {
  return {as_object(), path_, problems_};
}

template <class Read>
void Value::each_element(Read read) const {
  const std::optional<simdjson::dom::array> elements = as_array();
  if (!elements) return;
  std::size_t index = 0;
  for (const simdjson::dom::element element : *elements) {
    read(index, Value(element, {path_, index}, *problems_));
    ++index;
  }
}

template <std::invocable<std::size_t, const ObjectReader&> Read>
void Value::each_object(Read read) const {
  each_element([&](std::size_t index, const Value& value) {
    const std::optional<simdjson::dom::object> object = value.as_object();
    if (object) read(index, ObjectReader(object, value.path_, problems_));
  });
}

template <std::invocable<std::string_view> Read>
void Value::each_text(Read read) const {
  each_element([&](std::size_t, const Value& value) {
    const std::optional<std::string_view> text = value.as_text();
    if (text) read(*text);
  });
}

template <std::invocable<std::string_view, std::string_view> Read>
void Value::each_field(Read read) const {
  const std::optional<simdjson::dom::object> map = as_object();
  if (!map) return;
  for (const auto [key, element] : *map) {
    const std::optional<std::string_view> text = Value(element, {path_, key}, *problems_).as_text();
    if (text) read(key, *text);
  }
}

template <std::invocable<std::string_view, const Value&> Read>
void ObjectReader::each_value(Read read) const {
  if (!object_) return;
  for (const auto [key, element] : *object_) {
    if (!element.is_null()) read(key, Value(element, {path_, key}, *problems_));
  }
}

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
