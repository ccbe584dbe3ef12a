#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "xila/config/load.hpp"

namespace {

// Whatever the text, an answer: values, or problems that each have a sentence and a place in the
// text.
template <class T>
void check(const std::expected<T, xila::config::Problems>& result) {
  if (result) return;
  if (result.error().empty()) std::abort();
  for (const auto& problem : result.error()) {
    if (problem.message.empty() || problem.line < 0 || problem.column < 0) std::abort();
    if (xila::config::to_text(problem).contains('\n')) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profiles = xila::config::parse_profiles(text, "fuzz");
  check(profiles);
  check(xila::config::parse_policy(text, "fuzz"));
  if (!profiles) return 0;
  for (const auto& profile : *profiles) {
    if (profile.name.empty() || profile.workload_selectors.empty()) std::abort();
  }
  return 0;
}
