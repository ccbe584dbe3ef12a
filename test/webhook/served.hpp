#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "xila/webhook/routes.hpp"

namespace xila::webhook {

using nlohmann::json;

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string review_named(const std::string& name) {
  return read_file(std::string(XILA_FIXTURES) + "/reviews/" + name + ".json");
}

// The review with another value at a JSON pointer.
inline std::string review_with(const std::string& name, const std::string& pointer,
                               const json& value) {
  json review = json::parse(review_named(name));
  review[json::json_pointer(pointer)] = value;
  return review.dump();
}

inline std::string message_of(const json& answer) {
  return answer.value(json::json_pointer("/response/status/message"), "");
}

// A request together with the text of its body.
struct Posted : net::Request {
  std::unique_ptr<std::string> text;
};

inline Posted post(std::string path, std::string body) {
  Posted request;
  request.method = "POST";
  request.path = std::move(path);
  request.content_type = "application/json";
  request.peer.address = "10.0.0.7:41822";
  request.text = std::make_unique<std::string>(std::move(body));
  request.text->reserve(request.text->size() + net::kBodyPadding);
  request.body = *request.text;
  return request;
}

// What the service answers to a request, on one thread, as net::Server would ask it. Waits only as
// long as the answer needs.
inline net::Response served(const net::Service& service, const net::Request& request) {
  if (auto refusal =
          service.refuse({request.method, request.path, request.query, request.content_type})) {
    return *std::move(refusal);
  }
  net::Answer given = service.answer(request);
  if (auto* const at_once = std::get_if<net::Response>(&given)) return std::move(*at_once);

  std::optional<net::Response> answer;
  boost::asio::io_context io;
  const auto take = [&answer](std::exception_ptr thrown, net::Response response) {
    if (thrown) std::rethrow_exception(thrown);
    answer = std::move(response);
  };
  boost::asio::co_spawn(io, std::get<boost::asio::awaitable<net::Response>>(std::move(given)),
                        take);
  while (!answer && io.run_one() > 0) {
  }
  EXPECT_TRUE(answer) << "no answer";
  return answer.value_or(net::Response{.status = 0});
}

// The rulebook of the recorded reviews: one profile, one tenant.
inline policy::Rulebook rulebook(policy::Mode mode = policy::Mode::enforce) {
  const policy::LabelSelector selector{
      {{.key = "volcano.sh/job-name", .op = policy::SelectorOperator::exists}}};
  policy::Rulebook rules;
  rules.profiles.push_back({.name = "volcano",
                            .scheduler_name = "volcano",
                            .workload_selectors = {selector},
                            .mode = mode});
  rules.accepted_schedulers = {"volcano"};
  rules.static_tenants = {{"team-a", "team-a"}};
  return rules;
}

// An admission service and what it stands on.
class Admission {
 public:
  explicit Admission(policy::Rulebook rules = rulebook()) { load(std::move(rules)); }

  void load(policy::Rulebook rules) {
    rulebook_.store(std::make_shared<const policy::Rulebook>(std::move(rules)));
  }
  void unload() { rulebook_.store(nullptr); }

  net::Service service() {
    return admission_service({.rulebook = rulebook_,
                              .tenants = *tenants,
                              .metrics = metrics,
                              .audit = audit,
                              .request_timeout = request_timeout});
  }
  net::Response answer(const net::Request& request) { return served(service(), request); }
  json answer_json(const std::string& body, const std::string& path = "/validate/volcano") {
    const net::Response response = answer(post(path, body));
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body, nullptr, false);
  }

  telemetry::Metrics metrics;
  telemetry::AuditLog* audit = nullptr;
  std::chrono::milliseconds request_timeout{10'000};
  kube::StaticTenants static_tenants;
  kube::TenantSource* tenants = &static_tenants;

 private:
  CurrentRulebook rulebook_;
};

}  // namespace xila::webhook
