#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "codec/review_text.hpp"
#include "xila/policy/decide.hpp"

namespace xila::codec {
namespace {

using nlohmann::json;

policy::Rulebook rules(policy::Mode mode) {
  policy::Rulebook book;
  book.profiles.push_back({.name = "batch",
                           .scheduler_name = "batch",
                           .workload_selectors = {{{{.key = "job"}}}},
                           .mode = mode});
  book.accepted_schedulers = {"batch"};
  return book;
}

// What comes back for a CREATE in namespace team-a on the path of profile batch.
std::string answer(std::string body, policy::Mode mode = policy::Mode::enforce) {
  const base::Result<policy::Review> review = decode(std::move(body));
  EXPECT_TRUE(review) << review.error().message;
  const auto tenant = policy::TenantResolution::resolved("tenant-a");
  return encode_response(*review, policy::decide(*review, "batch", tenant, rules(mode)));
}

json reply(const json& response) {
  return {
      {"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", response}};
}

json annotations(std::string_view decision, std::string_view checks) {
  return {{"decision", decision}, {"profile", "batch"}, {"tenant", "tenant-a"}, {"checks", checks}};
}

// Of a Pod that pins a node and mounts one of its paths.
const std::string kTwoViolations = create_of(pod_with(
    R"("schedulerName":"batch","nodeName":"gpu-7","volumes":[{"name":"v","hostPath":{"path":"/"}}])"));

constexpr std::string_view kNodePin =
    "spec.nodeName pins node \"gpu-7\", leave the choice to the scheduler";
constexpr std::string_view kHostPath =
    "spec.volumes[0] \"v\" is a path of the node, \"/\", use an emptyDir or a "
    "PersistentVolumeClaim";

TEST(EncodeResponse, AllowsWithoutAStatus) {
  const std::string text = answer(create_of(pod_with(R"("schedulerName":"batch")")));
  EXPECT_EQ(
      json::parse(text),
      reply({{"uid", "u-1"}, {"allowed", true}, {"auditAnnotations", annotations("allowed", "")}}));
  EXPECT_EQ(text.substr(0, 60), R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1")");
}

TEST(EncodeResponse, NamesEveryViolationOfADenial) {
  const std::string body = create_of(
      R"({"metadata":{"name":"p"},"spec":{"schedulerName":"batch","nodeName":"gpu-7","hostPID":true,
          "containers":[{"name":"a"},{"name":"b","securityContext":{"privileged":true}}],
          "volumes":[{"name":"v","hostPath":{"path":"/"}}]}})");
  const std::string privileged =
      "spec.containers[1] \"b\" is privileged, remove securityContext.privileged";
  const json response = json::parse(answer(body))["response"];
  const json causes = response.at("status").at("details").at("causes");
  ASSERT_EQ(causes.size(), 4U);
  const std::string host_pid = causes[2].at("message");  // its words are the check's own business

  const std::string message =
      "Pod team-a/p crosses the placement boundary of profile batch: [node-pin] " +
      std::string(kNodePin) + "; [privileged] " + privileged + "; [host-namespace] " + host_pid +
      "; [host-path] " + std::string(kHostPath);
  const json want_causes = {
      {{"reason", "node-pin"}, {"field", "spec.nodeName"}, {"message", kNodePin}},
      {{"reason", "privileged"},
       {"field", "spec.containers[1].securityContext.privileged"},
       {"message", privileged}},
      {{"reason", "host-namespace"}, {"field", "spec.hostPID"}, {"message", host_pid}},
      {{"reason", "host-path"}, {"field", "spec.volumes[0].hostPath"}, {"message", kHostPath}}};
  EXPECT_EQ(response,
            (json{{"uid", "u-1"},
                  {"allowed", false},
                  {"status",
                   {{"code", 403},
                    {"reason", "Forbidden"},
                    {"message", message},
                    {"details", {{"causes", want_causes}}}}},
                  {"auditAnnotations",
                   annotations("denied", "node-pin,privileged,host-namespace,host-path")}}));
}

TEST(EncodeResponse, AnswersMalformedWithBadRequest) {
  const std::string violation = "spec.hostPID is a string, expected a boolean";
  EXPECT_EQ(
      json::parse(answer(create_of(pod_with(R"("schedulerName":"batch","hostPID":"yes")")))),
      reply(
          {{"uid", "u-1"},
           {"allowed", false},
           {"status",
            {{"code", 400},
             {"reason", "BadRequest"},
             {"message",
              "Pod team-a/p cannot be judged for profile batch: [malformed] " + violation},
             {"details",
              {{"causes",
                {{{"reason", "malformed"}, {"field", "spec.hostPID"}, {"message", violation}}}}}}}},
           {"auditAnnotations", annotations("malformed", "malformed")}}));
}

TEST(EncodeResponse, WarnsWithOneWarningPerViolation) {
  EXPECT_EQ(
      json::parse(answer(kTwoViolations, policy::Mode::warn)),
      reply({{"uid", "u-1"},
             {"allowed", true},
             {"warnings",
              {"[node-pin] " + std::string(kNodePin), "[host-path] " + std::string(kHostPath)}},
             {"auditAnnotations", annotations("warned", "node-pin,host-path")}}));
}

TEST(EncodeResponse, RecordsInModeAudit) {
  EXPECT_EQ(json::parse(answer(kTwoViolations, policy::Mode::audit)),
            reply({{"uid", "u-1"},
                   {"allowed", true},
                   {"auditAnnotations", annotations("audited", "node-pin,host-path")}}));
}

TEST(EncodeResponse, LetsNothingThroughUndecided) {
  const policy::Review review{.uid = "u-1"};
  EXPECT_EQ(
      json::parse(encode_response(review, {})),
      reply({{"uid", "u-1"},
             {"allowed", false},
             {"status",
              {{"code", 403},
               {"reason", "Forbidden"},
               {"message", "no decision was made, and what is not decided is denied"}}},
             {"auditAnnotations",
              {{"decision", "undecided"}, {"profile", ""}, {"tenant", ""}, {"checks", ""}}}}));
}

TEST(EncodeResponse, EchoesAnyUid) {
  const std::string uids[] = {
      "\"quoted\" \\ back",
      std::string("nul \0 end", 9),
      "\x01\x1f\x7f",
      "\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80 \xe2\x80\xa8",
      std::string(100'000, 'u'),
  };
  for (const std::string& uid : uids) {
    const policy::Review review{.uid = uid};
    const json answer = json::parse(encode_response(review, {.outcome = policy::Outcome::allowed}));
    EXPECT_EQ(answer["response"]["uid"], uid);
  }
}

TEST(EncodeResponse, StaysUtf8WhateverIsInADecision) {
  policy::Decision decision{
      .outcome = policy::Outcome::denied, .profile = "\xff", .tenant = "\xc3"};
  decision.violations.push_back(
      {.check = "scheduler", .field = "\xe4\xb8", .message = "\xf0\x9f\x98"});
  const json response = json::parse(encode_response({.uid = "\xed\xa0\x80"}, decision))["response"];
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["details"]["causes"][0]["message"], "\xef\xbf\xbd");
}

TEST(EncodeResponse, CutsTheMessageAtACharacter) {
  for (const std::string_view character : {"x", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80"}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      policy::Decision decision{.outcome = policy::Outcome::denied, .profile = "batch"};
      std::string text(shift, '.');
      while (text.size() < 6'000) text += character;
      decision.violations.push_back({.check = "scheduler", .message = text});
      const std::string message =
          json::parse(encode_response({.uid = "u"}, decision))["response"]["status"]["message"];
      EXPECT_LE(message.size(), policy::kMaxMessageBytes);
      EXPECT_GT(message.size(), policy::kMaxMessageBytes - 64);
      EXPECT_EQ(message.find("\xef\xbf\xbd"), std::string::npos)
          << "a replaced half of a character";
    }
  }
}

policy::Decision many_violations(policy::Outcome outcome, std::size_t count,
                                 const std::string& message) {
  policy::Decision decision{.outcome = outcome, .profile = "batch"};
  for (std::size_t i = 0; i < count; ++i) {
    decision.violations.push_back(
        {.check = "host-path", .field = std::to_string(i), .message = message});
  }
  return decision;
}

TEST(EncodeResponse, BoundsTheCauses) {
  const std::string text = encode_response(
      {.uid = "u"}, many_violations(policy::Outcome::denied, 10'000, std::string(300, 'm')));
  const json status = json::parse(text)["response"]["status"];
  EXPECT_EQ(status["details"]["causes"].size(), 100U);
  EXPECT_LT(text.size(), 100'000U);
}

std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return count;
}

// What the API server would drop or cut is not sent.
TEST(EncodeResponse, KeepsWarningsWithinWhatTheApiServerPassesOn) {
  for (const std::string& message :
       {std::string("short"), std::string(5'000, 'w'), std::string("\n\x7f\x01 \xc2\x85"),
        std::string(300, '\n'), std::string(2'000, '\xff')}) {
    for (const std::size_t count : {1U, 30U, 2'000U}) {
      SCOPED_TRACE(message.substr(0, 20) + " times " + std::to_string(count));
      const json response = json::parse(encode_response(
          {.uid = "u"}, many_violations(policy::Outcome::warned, count, message)))["response"];
      ASSERT_FALSE(response["warnings"].empty());
      std::size_t total = 0;
      for (const std::string warning : response["warnings"]) {
        total += characters(warning);
        EXPECT_LE(characters(warning), 256U);
        for (const char byte : warning) EXPECT_GE(static_cast<unsigned char>(byte), 0x20U);
      }
      EXPECT_LE(total, 4'096U);
    }
  }
  const json few = json::parse(
      encode_response({.uid = "u"}, many_violations(policy::Outcome::warned, 500, "m")));
  const json& warnings = few["response"]["warnings"];
  EXPECT_EQ(warnings.back(), std::to_string(501 - warnings.size()) + " more violations");
}

TEST(EncodeResponse, BoundsTheAnnotations) {
  const policy::Decision decision{.outcome = policy::Outcome::allowed,
                                  .profile = std::string(10'000, 'p'),
                                  .tenant = std::string(511, 't') + "\xc3\xa9"};
  const json found =
      json::parse(encode_response({.uid = "u"}, decision))["response"]["auditAnnotations"];
  EXPECT_EQ(found["profile"], std::string(512, 'p'));
  EXPECT_EQ(found["tenant"], std::string(511, 't'));
}

}  // namespace
}  // namespace xila::codec
