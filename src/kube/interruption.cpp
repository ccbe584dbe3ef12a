#include "interruption.hpp"

#include <charconv>

namespace xila::kube {
namespace {

Cause cause_of(int status) {
  switch (status) {
    case 401:
      return Cause::unauthorized;
    case 403:
      return Cause::forbidden;
    case 410:
      return Cause::gone;
    case 429:
      return Cause::throttled;
    default:
      return status >= 500 ? Cause::server_error : Cause::refused;
  }
}

// Resuming cannot help where the version itself is refused: too old (410), too new after the
// storage was put back (504 Timeout, "Too large resource version"), or in any other 4xx of our own
// making.
Next next_after(int status, std::string_view message) {
  const bool is_too_new =
      status == 504 && message.find("Too large resource version") != std::string_view::npos;
  const bool may_pass = status == 401 || status == 403 || status == 429 || status >= 500;
  return may_pass && !is_too_new ? Next::resume : Next::list;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view to_text(Cause cause) {
  switch (cause) {
    case Cause::connect:
      return "connect";
    case Cause::tls:
      return "tls";
    case Cause::timeout:
      return "timeout";
    case Cause::silence:
      return "silence";
    case Cause::cut:
      return "cut";
    case Cause::gone:
      return "gone";
    case Cause::throttled:
      return "throttled";
    case Cause::unauthorized:
      return "unauthorized";
    case Cause::forbidden:
      return "forbidden";
    case Cause::server_error:
      return "server_error";
    case Cause::refused:
      return "refused";
    case Cause::too_large:
      return "too_large";
    case Cause::unreadable:
      return "unreadable";
    case Cause::rewound:
      return "rewound";
    case Cause::short_watch:
      return "short_watch";
  }
  return "cut";
}

Interruption interruption(const ApiError& error) {
  Interruption result{.detail = error.message, .retry_after = error.retry_after};
  switch (error.what) {
    case ApiFailure::connect:
      result.cause = Cause::connect;
      break;
    case ApiFailure::tls:
      result.cause = Cause::tls;
      break;
    case ApiFailure::timeout:
      result.cause = Cause::timeout;
      break;
    case ApiFailure::broken:
      result.cause = Cause::cut;
      break;
    case ApiFailure::too_large:
      result.cause = Cause::too_large;
      result.next = Next::list;
      break;
    case ApiFailure::status:
      result.cause = cause_of(error.status);
      result.next = next_after(error.status, error.message);
      break;
  }
  return result;
}

Interruption interruption(const codec::Status& status) {
  return {.cause = cause_of(status.code),
          .detail = "the watch ended with " + std::to_string(status.code) + " " + status.message,
          .next = next_after(status.code, status.message),
          .retry_after = status.retry_after};
}

bool is_rewound(std::string_view before, std::string_view now) {
  const std::optional<std::uint64_t> old_number = number(before);
  const std::optional<std::uint64_t> new_number = number(now);
  return old_number && new_number && *new_number < *old_number;
}

}  // namespace xila::kube
