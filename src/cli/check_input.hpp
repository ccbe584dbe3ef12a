#pragma once

#include <expected>
#include <string>
#include <vector>

#include "xila/manifest/pods.hpp"

namespace xila::cli {

inline constexpr const char* kStdin = "-";

// A manifest and its text, or why it could not be had.
struct Input {
  std::string name;  // as it was given; "stdin" for "-"
  std::expected<std::string, manifest::Problem> text;
};

// The files that `paths` name, in their order: files themselves, whatever their names, and folders
// for every *.yaml, *.yml and *.json at any depth, sorted. What begins with a dot is left out, and
// links to folders are not followed. A folder without any manifest is a problem: it was meant to
// hold some.
std::vector<std::expected<std::string, manifest::Problem>> list_files(
    const std::vector<std::string>& paths);

// Reads one of them; kStdin is the standard input.
Input read_input(const std::string& path);

}  // namespace xila::cli
