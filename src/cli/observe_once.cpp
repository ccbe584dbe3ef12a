#include "observe_once.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "build_info.hpp"
#include "options.hpp"
#include "xila/observe/once.hpp"

namespace xila::cli {
namespace {

int fail(const std::string& why) {
  std::fprintf(stderr, "xila-guard: %s\n", why.c_str());
  return kExitUsage;
}

// One line that is written over, for a person who watches; nothing in a log.
class Progress {
 public:
  void show(const std::string& resource, std::size_t objects) {
    if (!is_terminal_) return;
    std::fprintf(stderr, "\r\033[Kreading %s: %zu", resource.c_str(), objects);
    is_shown_ = true;
  }
  ~Progress() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
  }

 private:
  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool is_shown_ = false;
};

std::string formatted(const observe::Survey& survey, const std::string& format) {
  if (format == "json") return observe::survey_json(survey, std::chrono::system_clock::now());
  if (format == "sarif") return observe::survey_sarif(survey, build_info().version);
  return observe::survey_text(survey);
}

}  // namespace

int observe_once(const ObserveOptions& options, policy::Rulebook rulebook,
                 const kube::MakeTransport& make_transport) {
  boost::asio::io_context io(1);
  auto transport = make_transport(io.get_executor());
  if (!transport) return fail(transport.error().message);

  std::optional<base::Result<observe::Survey>> result;
  {
    Progress progress;
    observe::OnceOptions once{
        .all_reviewed = options.all_reviewed,
        .progress = [&progress](const std::string& resource, std::size_t objects) {
          progress.show(resource, objects);
        }};
    boost::asio::co_spawn(
        io,
        observe::survey(io.get_executor(), **transport,
                        std::make_shared<const policy::Rulebook>(std::move(rulebook)),
                        std::move(once)),
        [&](const std::exception_ptr& failure, base::Result<observe::Survey> survey) {
          if (failure) std::rethrow_exception(failure);
          result = std::move(survey);
          (*transport)->close();
        });
    io.run();
  }
  if (!*result) return fail(result->error().message);

  const observe::Survey& survey = **result;
  const std::string text = formatted(survey, options.output);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return fail("the report cannot be written");
  }
  if (!survey.not_judged.empty()) {
    for (const std::string& refusal : survey.not_judged) fail("not judged: " + refusal);
    return kExitUsage;
  }
  return survey.findings.empty() ? kExitOk : kExitFailed;
}

}  // namespace xila::cli
