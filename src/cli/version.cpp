#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "build_info.hpp"
#include "commands.hpp"
#include "options.hpp"
#include "xila_build.hpp"  // written by cmake/build_info.cmake

namespace xila::cli {

const BuildInfo& build_info() {
  static constexpr Library libraries[] = {XILA_BUILD_LIBRARIES};
  static const BuildInfo info{XILA_BUILD_VERSION, XILA_BUILD_COMMIT, XILA_BUILD_TYPE,
                              XILA_BUILD_COMPILER, libraries};
  return info;
}

namespace {

// Keys and values are plain ASCII without quotes, so they need no escaping.
void print_json(const BuildInfo& info) {
  std::printf(
      "{\"version\":\"%s\",\"commit\":\"%s\",\"buildType\":\"%s\",\"compiler\":\"%s\","
      "\"libraries\":{",
      info.version.c_str(), info.commit.c_str(), info.build_type.c_str(), info.compiler.c_str());
  const char* separator = "";
  for (const Library& library : info.libraries) {
    std::printf("%s\"%s\":\"%s\"", separator, library.name, library.version);
    separator = ",";
  }
  std::puts("}}");
}

void print_text(const BuildInfo& info) {
  std::printf("xila-guard %s\n", info.version.c_str());
  std::printf("  commit      %s\n", info.commit.c_str());
  std::printf("  build       %s, %s\n", info.build_type.c_str(), info.compiler.c_str());
  const char* label = "  libraries  ";
  for (const Library& library : info.libraries) {
    std::printf("%s %s %s\n", label, library.name, library.version);
    label = "             ";
  }
}

}  // namespace

Run declare_version(CLI::App& app) {
  const auto format = std::make_shared<std::string>("text");
  app.add_option("-o,--output", *format, "Output format")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  return [format] {
    *format == "json" ? print_json(build_info()) : print_text(build_info());
    return kExitOk;
  };
}

}  // namespace xila::cli
