#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "xila/base/result.hpp"
#include "xila/kube/transport.hpp"
#include "xila/observe/finding.hpp"
#include "xila/policy/rulebook.hpp"

namespace xila::observe {

struct OnceOptions {
  bool all_reviewed = false;  // the webhook sees every Pod of every tenant
  // How far the reading has got: "pods", 12,500.
  std::function<void(const std::string& resource, std::size_t objects)> progress;
};

// A cluster, judged as it is at this moment.
struct Survey {
  std::vector<Finding> findings;
  std::size_t pods = 0;  // bound and alive
  std::size_t nodes = 0;
  std::size_t spaces = 0;
  std::vector<std::string> not_judged;  // for want of a permission: what, and the refusal
};

// Lists everything, judges it, and is done. Nothing settles: what does not hold is a finding.
// Error: why there is nothing to judge. `transport` outlives the coroutine.
boost::asio::awaitable<base::Result<Survey>> survey(boost::asio::any_io_executor executor,
                                                    kube::Transport& transport,
                                                    std::shared_ptr<const policy::Rulebook> rules,
                                                    OnceOptions options);

enum class SurveyFormat : std::uint8_t { text, json, sarif };

// What `xila-guard observe --once -o FORMAT` prints. `version` is the tool's own.
std::string survey_text(const Survey& survey);  // for people: by tenant, by node, by finding
std::string survey_json(const Survey& survey, std::chrono::system_clock::time_point time);
std::string survey_sarif(const Survey& survey, const std::string& version);

}  // namespace xila::observe
