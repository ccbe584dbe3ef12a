#include "xila/config/load.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "document.hpp"
#include "xila/base/text.hpp"

namespace xila::config {
namespace {

constexpr const char* kSchedulersFlag = "--external-schedulers";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Problem problem_of(const std::string& name, std::string message) {
  return {.file = name, .message = std::move(message)};
}

// The whole file, or one byte more than is allowed: what is too long is refused by who parses it.
std::expected<std::string, Problem> read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(name.c_str(), "rbe"));
  if (!file) {
    return std::unexpected(problem_of(name, std::string("cannot open: ") + std::strerror(errno)));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  // A directory opens, and fails here.
  if (std::ferror(file.get())) {
    return std::unexpected(problem_of(name, std::string("cannot read: ") + std::strerror(errno)));
  }
  return text;
}

void append(Problems& all, Problems more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// What `parse` makes of a file; the default where there is no file, or where it is wrong.
template <class Value, class Parse>
Value load(const std::optional<std::filesystem::path>& path, Parse parse, Problems& problems) {
  if (!path) return {};
  const std::string name = path->string();
  auto text = read_file(name);
  if (!text) {
    problems.push_back(std::move(text.error()));
    return {};
  }
  auto value = parse(*text, name);
  if (value) return std::move(*value);
  append(problems, std::move(value.error()));
  return {};
}

// A schedulerName is a free string to the API server. Refused is only what could break a line, and
// the space that a list like "a, b" leaves in front of a name that then never matches.
std::string_view find_wrong(std::string_view name) {
  if (base::escape_control(name) != name) return "has a control character in it";
  if (base::trim(name) != name) return "begins or ends with a space";
  return {};
}

void accept(policy::Rulebook& rulebook, const std::string& scheduler) {
  rulebook.accepted_schedulers.insert(scheduler.empty() ? std::string(policy::kDefaultScheduler)
                                                        : scheduler);
}

}  // namespace

std::string to_text(const Problem& problem) {
  std::string text = base::escape_control(problem.file);
  if (problem.line > 0) text += ":" + std::to_string(problem.line);
  if (problem.line > 0 && problem.column > 0) text += ":" + std::to_string(problem.column);
  return text + ": " + problem.message;
}

std::expected<policy::Rulebook, Problems> load_rulebook(const Files& files) {
  Problems problems;
  auto profiles = load<std::vector<policy::Profile>>(files.profiles, parse_profiles, problems);
  auto rulebook = load<policy::Rulebook>(files.policy, parse_policy, problems);
  for (const std::string& scheduler : files.external_schedulers) {
    if (const std::string_view wrong = find_wrong(scheduler); !wrong.empty()) {
      problems.push_back(
          problem_of(kSchedulersFlag, base::quote(scheduler) + " " + std::string(wrong)));
    }
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));

  rulebook.profiles = std::move(profiles);
  for (const auto& profile : rulebook.profiles) accept(rulebook, profile.scheduler_name);
  for (const auto& scheduler : files.external_schedulers) accept(rulebook, scheduler);
  return rulebook;
}

}  // namespace xila::config
