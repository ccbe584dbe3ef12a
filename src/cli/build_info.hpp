#pragma once

#include <span>
#include <string>

namespace xila::cli {

struct Library {
  const char* name;
  const char* version;
};

// What this binary was built from and with. Nothing in it depends on when or where it was built, so
// that the same sources give the same bytes.
struct BuildInfo {
  std::string version;  // "0.1.0"
  std::string
      commit;  // 12 hex digits, "-dirty" where files differed from it; "unknown" outside git
  std::string build_type;  // "Release"
  std::string compiler;    // "Clang 19.1.7"
  std::span<const Library> libraries;
};

const BuildInfo& build_info();

}  // namespace xila::cli
