#include <algorithm>
#include <charconv>
#include <optional>

#include "xila/base/text.hpp"
#include "xila/net/client.hpp"

namespace xila::net {
namespace {

using base::fail;
using base::Result;

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

struct Authority {
  std::string host;
  std::string_view port;  // "" = none
};

Result<Authority> split_authority(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return fail("has no ] after its IPv6 address");
    authority.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
    if (authority.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos ||
        authority.host.find(':') == std::string::npos) {
      return fail("has no IPv6 address between its brackets");
    }
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    authority.host = text.substr(0, colon);
    rest = text.substr(colon);
    if (authority.host.empty()) return fail("names no host");
    if (!std::ranges::all_of(authority.host, is_host_character)) {
      return fail("has a host that is no DNS name or IP address (IPv6 stands in brackets)");
    }
  }
  if (rest.empty()) return authority;
  if (!rest.starts_with(':') || !parse_port(rest.substr(1))) return fail("has no valid port");
  authority.port = rest.substr(1);
  return authority;
}

bool is_control_or_space(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
}

}  // namespace

std::string to_text(const Origin& origin) {
  return (origin.tls ? "https://" : "http://") + bracketed(origin.host) + ":" +
         std::to_string(origin.port);
}

Result<Url> parse_url(std::string_view text) {
  const std::string what = "URL " + base::quote(text) + " ";
  Url url;
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
    url.origin.tls = false;
    url.origin.port = 80;
  } else {
    return fail(what + "does not begin with https:// or http://");
  }
  if (std::ranges::any_of(text, is_control_or_space)) {
    return fail(what + "has blanks or control characters");
  }
  if (text.find('#') != std::string_view::npos) return fail(what + "has a fragment");

  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  const Result<Authority> authority = split_authority(text.substr(0, end));
  if (!authority) return fail(what + authority.error().message);
  url.origin.host = authority->host;
  if (!authority->port.empty()) url.origin.port = *parse_port(authority->port);
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Result<std::pair<std::string, std::uint16_t>> parse_address(std::string_view text) {
  const Result<Authority> authority = split_authority(text);
  if (!authority) return fail("address " + base::quote(text) + " " + authority.error().message);
  if (authority->port.empty()) return fail("address " + base::quote(text) + " has no port");
  return std::pair(authority->host, *parse_port(authority->port));
}

const std::string* find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (base::equals_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

}  // namespace xila::net
