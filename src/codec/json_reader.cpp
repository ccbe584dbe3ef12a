#include "json_reader.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "duplicate_keys.hpp"
#include "xila/base/text.hpp"

namespace xila::codec {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMaxProblems = 100;
constexpr std::size_t kMaxKeyBytes = 64;  // of a key inside a path
constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;

thread_local dom::parser this_threads_parser;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string_view type_of(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::string unexpected(dom::element element, std::string_view expected) {
  return "is " + std::string(type_of(element)) + ", expected " + std::string(expected);
}

std::string explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::EMPTY:
      return "is empty";
    case simdjson::DEPTH_ERROR:
      return "is nested deeper than " + std::to_string(kMaxDepth) + " levels";
    case simdjson::UTF8_ERROR:
      return "is not valid UTF-8";
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
      return "is too large for the memory at hand";
    default:
      return std::string("is not valid JSON: ") + simdjson::error_message(error);
  }
}

// Grows in powers of two, so that bodies of slowly rising sizes do not allocate each time.
simdjson::error_code make_room(std::size_t bytes) {
  if (this_threads_parser.capacity() >= bytes) return simdjson::SUCCESS;
  const std::size_t capacity = std::bit_ceil(std::max(bytes, kFirstCapacity));
  // simdjson refuses to enter level max_depth, so it takes one less.
  const simdjson::error_code error = this_threads_parser.allocate(capacity, kMaxDepth + 1);
  return error == simdjson::SUCCESS ? this_threads_parser.doc.allocate(capacity) : error;
}

}  // namespace

std::string Path::text() const {
  std::string text = parent_ ? parent_->text() : std::string();
  if (!key_) return text + "[" + std::to_string(size_) + "]";
  const std::string_view key(key_, size_);
  if (!parent_) return std::string(key);
  if (key.empty() || key.size() > kMaxKeyBytes || !std::ranges::all_of(key, is_plain)) {
    return text + "[" + base::escape_control(base::prefix_at_character(key, kMaxKeyBytes)) + "]";
  }
  if (!text.empty()) text += '.';
  return text.append(key);
}

bool Problems::has_room() {
  if (violations_.size() < kMaxProblems) return true;
  ++left_out_;
  return false;
}

void Problems::add(const Path& path, std::string_view what) {
  if (!has_room()) return;
  std::string field = path.text();
  std::string message = field + " " + std::string(what);
  violations_.push_back({.check = std::string(policy::kMalformed),
                         .field = std::move(field),
                         .message = std::move(message)});
}

bool Problems::keep(const Path& path, std::size_t count) {
  if (kept_ > kMaxKept) return false;
  kept_ += count;
  if (kept_ <= kMaxKept) return true;
  add(path, "is too much: at most " + std::to_string(kMaxKept) +
                " labels, containers, volumes and the like are read");
  return false;
}

policy::Violations Problems::take() {
  if (left_out_ > 0) {
    violations_.push_back(
        {.check = std::string(policy::kMalformed),
         .message = std::to_string(left_out_) + " more fields are not what they must be"});
    left_out_ = 0;
  }
  return std::exchange(violations_, {});
}

void Value::report_type(dom::element found, std::string_view expected) const {
  if (problems_->has_room()) problem(unexpected(found, expected));
}

std::int64_t Value::integer() const {
  std::int64_t integer = 0;
  if (!element_ || element_->get(integer) == simdjson::SUCCESS) return integer;
  if (element_->is_double() || element_->is_uint64()) {
    problem("is no integer of 64 bits");
  } else {
    report_type(*element_, "an integer");
  }
  return 0;
}

Value Value::kept() const {
  if (problems_->keep(path_, size())) return *this;
  return {std::nullopt, path_, *problems_};
}

std::size_t Value::size() const {
  std::size_t size = 0;
  if (element_ && element_->is_array()) size = dom::array(*element_).size();
  if (element_ && element_->is_object()) size = dom::object(*element_).size();
  return size;
}

void Value::refuse_empty_array() const {
  dom::array array;
  if (!element_ || element_->get(array) != simdjson::SUCCESS) return;
  if (array.begin() == array.end()) problem("is empty");
}

ObjectReader ObjectReader::object(std::string_view key, Path root) const {
  return {value(key).as_object(), root, problems_};
}

std::string_view ObjectReader::required_text(std::string_view key) const {
  const Value found = value(key);
  if (!found) found.problem("is absent");
  const std::optional<std::string_view> text = found.as_text();
  if (text && text->empty()) found.problem("is empty");
  return text.value_or("");
}

ObjectReader ObjectReader::required_object(std::string_view key) const& {
  const Value found = value(key);
  if (!found) found.problem("is absent");
  return found.object();
}

ObjectReader ObjectReader::required_object(std::string_view key, Path root) const {
  const Value found = value(key);
  if (!found) found.problem("is absent");
  return {found.as_object(), root, problems_};
}

DocumentParser::~DocumentParser() {
  if (this_threads_parser.capacity() > kKeptCapacity) this_threads_parser = dom::parser();
}

base::Result<dom::object> DocumentParser::parse(std::string_view text, Padding padding) {
  dom::element root;
  simdjson::error_code error = make_room(text.size());
  if (error == simdjson::SUCCESS) {
    const bool copies = padding == Padding::absent;
    error = this_threads_parser.parse(text.data(), text.size(), copies).get(root);
  }
  if (error != simdjson::SUCCESS) return base::fail("the document " + explain(error));

  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return base::fail("the document " + unexpected(root, "an object"));
  }
  if (const std::optional<std::string> key = find_duplicate_key(this_threads_parser.doc)) {
    return base::fail("the document has a key twice: " + *key);
  }
  return object;
}

}  // namespace xila::codec
