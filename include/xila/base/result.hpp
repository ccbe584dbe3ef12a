#pragma once

#include <expected>
#include <string>

namespace xila::base {

// What went wrong, as a sentence that a person can act on. Code that must branch on a failure gets
// an enum of its own instead of reading this text.
struct Error {
  std::string message;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

// `return fail("...")` from any function that returns a Result.
inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error{std::move(message)});
}

}  // namespace xila::base
