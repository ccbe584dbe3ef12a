#include "response_text.hpp"

#include <string_view>

namespace xila::net {

namespace {

std::string_view phrase_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

}  // namespace

void write_response(const Response& response, const ResponseForm& form, std::string& out) {
  out.clear();
  out.reserve(response.body.size() + 256);
  out.append("HTTP/1.1 ")
      .append(std::to_string(response.status))
      .append(" ")
      .append(phrase_of(response.status));
  out.append("\r\nContent-Type: ").append(response.content_type);
  out.append("\r\nContent-Length: ").append(std::to_string(response.body.size()));
  for (const auto& header : response.headers) {
    out.append("\r\n").append(header.first).append(": ").append(header.second);
  }
  if (!form.keep_alive) {
    out.append("\r\nConnection: close");
  } else if (form.http_1_0) {
    out.append("\r\nConnection: keep-alive");
  }
  out.append("\r\n\r\n");
  if (!form.without_body) out.append(response.body);
}

}  // namespace xila::net
