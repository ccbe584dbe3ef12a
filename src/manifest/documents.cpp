#include "documents.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "json.hpp"
#include "yaml.hpp"

namespace xila::manifest {
namespace {

constexpr std::string_view kSeparator = "---";
constexpr std::string_view kSpace = " \t\r\n";

struct Piece {
  std::string_view text;
  int lines_before = 0;
};

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

bool is_separator(std::string_view line) {
  return line.starts_with(kSeparator) &&
         (line.size() == kSeparator.size() || kSpace.contains(line[kSeparator.size()]));
}

// True for "---" with nothing behind it but a comment.
bool is_bare_separator(std::string_view line) {
  line.remove_prefix(kSeparator.size());
  const std::size_t start = line.find_first_not_of(kSpace);
  return start == std::string_view::npos || line[start] == '#';
}

// A document may begin on the line of its separator; then the line is the document's.
std::vector<Piece> split(std::string_view text) {
  std::vector<Piece> pieces{{text.substr(0, 0), 0}};
  int line_number = 0;
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    const std::string_view with_end = text.substr(0, std::min(line.size() + 1, text.size()));
    text.remove_prefix(with_end.size());
    ++line_number;
    Piece& last = pieces.back();
    if (!is_separator(line)) {
      last.text = {last.text.data(), last.text.size() + with_end.size()};
    } else if (is_bare_separator(line)) {
      pieces.push_back({text.substr(0, 0), line_number});
    } else {
      pieces.push_back({with_end, line_number - 1});
    }
  }
  return pieces;
}

bool looks_like_json(std::string_view text) {
  const std::size_t start = text.find_first_not_of(kSpace);
  return start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
}

std::expected<std::vector<Value>, yaml::Problem> parse(std::string_view text) {
  if (!looks_like_json(text)) return parse_yaml(text);
  auto json = parse_json(text);
  if (json) return json;
  auto yaml = parse_yaml(text);
  return yaml ? yaml : json;
}

// Parsers count from the start of their piece.
void move_down(yaml::Mark& mark, int lines) {
  if (mark.line > 0) mark.line += lines;
}

void move_down(Value& value, int lines) {
  if (lines == 0) return;
  move_down(value.mark, lines);
  for (Value& item : value.items) move_down(item, lines);
  for (Member& member : value.members) {
    move_down(member.mark, lines);
    move_down(member.value, lines);
  }
}

void add(Documents& documents, const Piece& piece) {
  auto values = parse(piece.text);
  if (!values) {
    move_down(values.error().mark, piece.lines_before);
    documents.problems.push_back(std::move(values.error()));
    return;
  }
  for (Value& value : *values) move_down(value, piece.lines_before);
  // Go's reader stops after the first YAML document of a piece, so the others would go unseen.
  if (values->size() > 1 && !looks_like_json(piece.text)) {
    documents.problems.push_back(
        {(*values)[1].mark, "text after the end of the document; separate documents by ---"});
  }
  std::ranges::move(*values, std::back_inserter(documents.values));
}

}  // namespace

Documents parse_documents(std::string_view text) {
  Documents documents;
  if (text.starts_with(yaml::kByteOrderMark)) text.remove_prefix(yaml::kByteOrderMark.size());
  // Once for the whole text: the readers of JSON rely on it.
  if (auto checked = yaml::check_characters(text, yaml::Syntax::json); !checked) {
    documents.problems.push_back(checked.error());
    return documents;
  }
  for (const Piece& piece : split(text)) add(documents, piece);
  return documents;
}

}  // namespace xila::manifest
