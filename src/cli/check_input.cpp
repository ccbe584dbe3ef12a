#include "check_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace xila::cli {
namespace {

namespace fs = std::filesystem;
using manifest::Problem;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

std::unexpected<Problem> problem(const std::string& file, std::string message) {
  return std::unexpected(Problem{file, {}, std::move(message)});
}

bool is_manifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::expected<std::vector<std::string>, Problem> list_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code ignored;
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (is_manifest(entry->path()) && !entry->is_directory(ignored)) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return problem(folder, "cannot list: " + error.message());
  if (files.empty()) return problem(folder, "no *.yaml, *.yml or *.json in this folder");
  std::ranges::sort(files);
  return files;
}

std::expected<std::string, Problem> read_text(std::FILE* file, const std::string& name) {
  std::string text;
  std::size_t used = 0;
  do {
    text.resize(std::max<std::size_t>(text.size() * 2, std::size_t{64} << 10U));
    used += std::fread(text.data() + used, 1, text.size() - used, file);
  } while (used == text.size() && used <= manifest::kMaxFileBytes);
  if (std::ferror(file)) return problem(name, std::string("cannot read: ") + std::strerror(errno));
  if (used > manifest::kMaxFileBytes) return problem(name, "longer than 64 MiB; split it");
  text.resize(used);
  return text;
}

}  // namespace

std::vector<std::expected<std::string, Problem>> list_files(const std::vector<std::string>& paths) {
  std::vector<std::expected<std::string, Problem>> all;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path == kStdin || !fs::is_directory(path, ignored)) {
      all.emplace_back(path);
      continue;
    }
    auto files = list_folder(path);
    if (!files) {
      all.emplace_back(std::unexpect, std::move(files.error()));
      continue;
    }
    for (std::string& file : *files) all.emplace_back(std::move(file));
  }
  return all;
}

Input read_input(const std::string& path) {
  const bool is_stdin = path == kStdin;
  Input input{is_stdin ? "stdin" : path, {}};
  const std::unique_ptr<std::FILE, CloseFile> file(is_stdin ? stdin
                                                            : std::fopen(path.c_str(), "rbe"));
  if (!file) {
    input.text = problem(input.name, std::string("cannot open: ") + std::strerror(errno));
  } else {
    input.text = read_text(file.get(), input.name);
  }
  return input;
}

}  // namespace xila::cli
