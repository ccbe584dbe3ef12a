#include "xila/yaml/document.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "characters.hpp"

namespace xila::yaml {
namespace {

// Ends the parser's recursion from inside a callback; never leaves this file.
struct Refusal {
  Problem problem;
};

// yaml-cpp counts from 0 and in bytes. Marks come mostly in the order of the text, so counting goes
// on from the last one: a file may be a single line of megabytes.
class MarkReader {
 public:
  explicit MarkReader(std::string_view text) : text_(text) {}

  Mark read(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    const auto position = std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    const auto bytes = static_cast<std::size_t>(std::max(mark.column, 0));
    const std::size_t start = position - std::min(bytes, position);
    if (start != line_start_ || position < counted_to_) {
      line_start_ = counted_to_ = start;
      characters_ = 0;
    }
    for (; counted_to_ < position; ++counted_to_) {
      if ((static_cast<unsigned char>(text_[counted_to_]) & 0xC0U) != 0x80U) ++characters_;
    }
    return {mark.line + 1, characters_ + 1};
  }

  // The text from there to the end of the file.
  std::string_view text_from(const YAML::Mark& mark) const {
    return text_.substr(std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size()));
  }

 private:
  std::string_view text_;
  std::size_t line_start_ = 0;
  std::size_t counted_to_ = 0;
  int characters_ = 0;
};

// True for a quoted scalar, at the start of `text`, whose closing quote is there. The parser takes
// the end of the file for one.
bool is_closed(std::string_view text) {
  // An anchor or a tag may stand before the quote.
  while (text.starts_with('&') || text.starts_with('!')) {
    text.remove_prefix(std::min(text.find_first_of(" \t\r\n"), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  if (!text.starts_with('"') && !text.starts_with('\'')) return true;
  const char quote = text.front();
  for (std::size_t at = 1; at < text.size(); ++at) {
    const bool is_escape = quote == '"' ? text[at] == '\\' : text.substr(at).starts_with("''");
    if (is_escape) {
      ++at;
    } else if (text[at] == quote) {
      return true;
    }
  }
  return false;
}

// Builds the documents from the parser's events. `open_` is the way from the document's root to the
// collection being read; a mapping waits for a key and a value in turn.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, const Limits& limits) : marks_(text), limits_(limits) {}

  std::vector<Node> take() { return std::move(documents_); }
  Mark read(const YAML::Mark& mark) { return marks_.read(mark); }

  // Before a token that it can make nothing of, such as a bracket too many, the parser sees one
  // empty document after the other, without end.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos <= last_start_) throw Refusal{{marks_.read(mark), "unexpected text"}};
    last_start_ = mark.pos;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node = node_at(Kind::null, mark, "?", anchor);
    for (const char* written : {"~", "null", "Null", "NULL"}) {
      if (marks_.text_from(mark).starts_with(written)) node.text = written;
    }
    // The parser gives an empty null the place of whatever comes next.
    if (node.text.empty() && !open_.empty()) {
      node.mark = key_ ? key_->mark : open_.back().node.mark;
    }
    add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node_at(Kind::alias, mark, "?", anchor));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = node_at(Kind::scalar, mark, tag, anchor);
    if (tag != "?" && !is_closed(marks_.text_from(mark))) {
      throw Refusal{{node.mark, "a string without its closing quote"}};
    }
    // The parser writes "\N" and "\_" as single bytes.
    if (!is_utf8(value)) throw Refusal{{node.mark, "an escape sequence that is not supported"}};
    node.text = value;
    node.plain = tag == "?";
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(node_at(Kind::sequence, mark, tag, anchor));
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(node_at(Kind::mapping, mark, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    std::optional<Node> outer_key;  // of the mapping around it, whose value this is
  };

  Node node_at(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    Node node{.kind = kind, .mark = marks_.read(mark), .anchor = anchor};
    if (++count_ > limits_.nodes) {
      throw Refusal{{node.mark, "more than " + std::to_string(limits_.nodes) + " values"}};
    }
    // "?" is the parser's name for no tag at all and "!" for a quoted scalar; but "!" can be
    // written too.
    const bool written = tag == "!" ? marks_.text_from(mark).starts_with('!') : tag != "?";
    if (written) node.tag = tag;
    return node;
  }

  void open(Node node) {
    if (open_.size() >= limits_.depth) {
      throw Refusal{
          {node.mark, "nested more than " + std::to_string(limits_.depth) + " levels deep"}};
    }
    open_.push_back({std::move(node), std::exchange(key_, std::nullopt)});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    key_ = std::move(done.outer_key);
    add(std::move(done.node));
  }

  void add(Node node) {
    if (open_.empty()) {
      documents_.push_back(std::move(node));
    } else if (Node& parent = open_.back().node; parent.kind == Kind::sequence) {
      parent.items.push_back(std::move(node));
    } else if (!key_) {
      key_ = std::move(node);
    } else {
      parent.entries.push_back({*std::exchange(key_, std::nullopt), std::move(node)});
    }
  }

  MarkReader marks_;
  Limits limits_;
  std::size_t count_ = 0;
  int last_start_ = -1;  // where the last document began, in bytes
  std::vector<Node> documents_;
  std::vector<Open> open_;
  std::optional<Node> key_;  // read, and waiting for its value
};

}  // namespace

std::expected<std::vector<Node>, Problem> parse(std::string_view text, const Limits& limits) {
  if (auto checked = check_characters(text, Syntax::yaml); !checked)
    return std::unexpected(checked.error());

  Builder builder(text, limits);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return std::unexpected(refusal.problem);
  } catch (const YAML::Exception& error) {
    return std::unexpected(Problem{builder.read(error.mark), error.msg});
  }
  return builder.take();
}

}  // namespace xila::yaml
