#include "document.hpp"

#include <algorithm>

#include "xila/base/text.hpp"

namespace xila::config {
namespace {

// The first tab before a line's first character. Some readers of YAML refuse it and others count it
// as nothing, so the structure that a person sees is not the one that is read.
std::optional<yaml::Mark> find_tab_indentation(std::string_view text) {
  int line = 1;
  while (!text.empty()) {
    const std::string_view rest = text.substr(0, text.find('\n'));
    const std::size_t indentation = std::min(rest.find_first_not_of(" \t"), rest.size());
    if (const std::size_t tab = rest.substr(0, indentation).find('\t');
        tab != std::string_view::npos && indentation < rest.size()) {
      return yaml::Mark{line, static_cast<int>(tab) + 1};
    }
    text.remove_prefix(std::min(rest.size() + 1, text.size()));
    ++line;
  }
  return std::nullopt;
}

std::optional<yaml::Problem> find_wrong_text(std::string_view text) {
  if (text.size() > kMaxFileBytes) return yaml::Problem{{}, "longer than 1 MiB"};
  if (text.starts_with(yaml::kByteOrderMark)) {
    return yaml::Problem{{1, 1}, "byte order mark; save the file as UTF-8 without one"};
  }
  if (const auto tab = find_tab_indentation(text)) {
    return yaml::Problem{*tab, "tab in the indentation; use spaces"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<yaml::Node> read_document(std::string_view text, Findings& findings) {
  if (const auto wrong = find_wrong_text(text)) {
    findings.report(wrong->mark, "", wrong->message);
    return std::nullopt;
  }
  // The format itself is seven levels deep.
  auto documents = yaml::parse(text, {.depth = 32, .nodes = 200'000});
  if (!documents) {
    findings.report(documents.error().mark, "", documents.error().message);
    return std::nullopt;
  }
  if (documents->empty()) {
    findings.report({}, "", "empty, expected one document");
    return std::nullopt;
  }
  if (documents->size() > 1) {
    findings.report((*documents)[1].mark, "", "a second document, expected one");
    return std::nullopt;
  }
  return std::move(documents->front());
}

bool check_header(MapReader& map, std::string_view kind) {
  const auto has = [&map](std::string_view key, std::string_view wanted) {
    const auto text = map.required_text(key);
    if (text && *text != wanted) {
      map.report(key, base::quote(*text) + ", expected " + std::string(wanted));
    }
    return text == wanted;
  };
  const bool is_version = has("apiVersion", kApiVersion);
  const bool is_kind = has("kind", kind);
  return is_version && is_kind;
}

}  // namespace xila::config
