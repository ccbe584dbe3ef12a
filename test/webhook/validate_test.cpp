#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "telemetry/captured_stderr.hpp"
#include "webhook/served.hpp"

namespace xila::webhook {
namespace {

using telemetry::LogFormat;
using telemetry::LogLevel;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kGood = "volcano/volcano-worker";
const std::string kPinned = "volcano/denied-node-pin";
TEST(Validate, AllowsAndDeniesAndNeverPatches) {
  Admission admission;
  const std::string good = review_named(kGood);
  const auto response = admission.answer(post("/validate/volcano", good));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(response.headers, IsEmpty());  // no Retry-After above all
  const json allowed = json::parse(response.body);
  EXPECT_EQ(allowed["response"]["allowed"], true);
  EXPECT_EQ(allowed["response"]["uid"], json::parse(good)["request"]["uid"]);

  const json denied = admission.answer_json(review_named(kPinned));
  EXPECT_EQ(denied["response"]["allowed"], false);
  EXPECT_EQ(denied["response"]["status"]["code"], 403);
  EXPECT_THAT(message_of(denied), HasSubstr("[node-pin] "));
  for (const json& answer : {allowed, denied}) EXPECT_FALSE(answer["response"].contains("patch"));
}

TEST(Validate, WhatIsNoReviewIsABadRequestInOneLine) {
  const std::string bodies[] = {
      "",
      "{",
      "[]",
      "null",
      "{}",
      "\"x\"",
      std::string("\0", 1),
      "\xff",
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
      R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview",)"
      R"("request":{"uid":"u"}})",
      std::string(100'000, '[')};
  Admission admission;
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body.substr(0, 80));
    const auto response = admission.answer(post("/validate/volcano", body));
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(response.body.find('\n'), response.body.size() - 1);
    EXPECT_GT(response.body.size(), 10U);
  }
}

TEST(Validate, AnswersNothingBeforeTheFilesAreLoaded) {
  Admission admission;
  admission.unload();
  const auto response = admission.answer(post("/validate", review_named(kGood)));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "no profiles and policy are loaded yet\n");
  EXPECT_THAT(response.headers, IsEmpty());
}

TEST(Validate, TakesTheModeFromThePathAlone) {
  struct Case {
    policy::Mode mode;
    const char* path;
    bool allowed;
    std::size_t warnings;
    const char* decision;
  };
  const Case cases[] = {
      {policy::Mode::enforce, "/validate/volcano", false, 0, "denied"},
      {policy::Mode::warn, "/validate/volcano", true, 1, "warned"},
      {policy::Mode::audit, "/validate/volcano", true, 0, "audited"},
      {policy::Mode::audit, "/validate", false, 0, "denied"},
      {policy::Mode::audit, "/validate/enforcement", false, 0, "denied"},
      {policy::Mode::audit, "/validate/nobody", false, 0, "denied"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.path) + " " + std::string(to_text(c.mode)));
    Admission admission(rulebook(c.mode));
    const json response = admission.answer_json(review_named(kPinned), c.path)["response"];
    EXPECT_EQ(response["allowed"], c.allowed);
    EXPECT_EQ(response.value("warnings", json::array()).size(), c.warnings);
    EXPECT_EQ(response["auditAnnotations"]["decision"], c.decision);
  }
}

TEST(Validate, CountsReviewsByClosedSetsOfLabels) {
  Admission admission;
  admission.answer_json(review_named(kGood));
  admission.answer_json(review_named(kPinned));
  admission.answer_json(review_with(kPinned, "/request/dryRun", true), "/validate");
  admission.answer_json(review_named(kPinned), "/validate/made-up-1");
  admission.answer_json(review_named("volcano/denied-host-access"), "/validate/made-up-2");

  auto& reviews = admission.metrics.reviews;
  EXPECT_EQ(reviews.value("volcano", "enforce", "CREATE", "allowed", "false"), 1);
  EXPECT_EQ(reviews.value("volcano", "enforce", "CREATE", "denied", "false"), 1);
  EXPECT_EQ(reviews.value("enforcement", "enforce", "CREATE", "denied", "true"), 1);
  EXPECT_EQ(reviews.value("unknown", "enforce", "CREATE", "denied", "false"), 2);
  EXPECT_EQ(admission.metrics.violations.value("node-pin", "volcano"), 1);
  EXPECT_EQ(admission.metrics.violations.value("host-namespace", "unknown"), 3);
  const std::string page = admission.metrics.exposition();
  EXPECT_THAT(page, Not(HasSubstr("made-up")));
  EXPECT_THAT(page, HasSubstr("xila_guard_review_duration_seconds_count 5\n"));
}

TEST(Validate, LogsOneLineForEachDenial) {
  const auto lines = telemetry::logged(LogFormat::json, LogLevel::info, [] {
    Admission enforcing;
    enforcing.answer_json(review_named(kGood));
    enforcing.answer_json(review_named(kPinned));
    enforcing.answer(post("/validate", "{"));
    Admission warning(rulebook(policy::Mode::warn));
    warning.answer_json(review_named(kPinned));
  });
  ASSERT_THAT(lines, SizeIs(2));
  json denied = json::parse(lines[0]);
  const json request = json::parse(review_named(kPinned))["request"];
  EXPECT_EQ(denied["event"], "denied");
  EXPECT_EQ(denied["uid"], request["uid"]);
  EXPECT_EQ(denied["namespace"], "team-a");
  EXPECT_EQ(denied["name"], request["name"]);
  EXPECT_EQ(denied["user"], request["userInfo"]["username"]);
  EXPECT_EQ(denied["profile"], "volcano");
  EXPECT_EQ(denied["tenant"], "team-a");
  EXPECT_EQ(denied["checks"], "node-pin");
  EXPECT_EQ(denied["dry_run"], false);
  EXPECT_EQ(denied["peer"], "10.0.0.7:41822");
  EXPECT_THAT(denied["message"].get<std::string>(), HasSubstr("[node-pin] "));
  EXPECT_EQ(json::parse(lines[1])["event"], "would_deny");
}

TEST(Validate, LogsARequestALineAtDebug) {
  const auto lines = telemetry::logged(LogFormat::json, LogLevel::debug, [] {
    Admission admission;
    admission.answer_json(review_named(kGood));
    admission.answer(post("/validate", "{"));
  });
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(json::parse(lines[0])["event"], "allowed");
  EXPECT_EQ(json::parse(lines[1])["event"], "undecodable");
}

TEST(Validate, RecordsEveryDecisionInTheAuditLog) {
  const std::string path = testing::TempDir() + "validate-audit-" + std::to_string(::getpid());
  std::filesystem::remove(path);
  Admission admission;
  {
    const auto audit = telemetry::AuditLog::open(path, admission.metrics).value();
    admission.audit = audit.get();
    admission.answer_json(review_named(kGood));
    Posted request = post("/validate/volcano", review_with(kPinned, "/request/dryRun", true));
    request.peer.client_verified = true;
    admission.answer(request);
    admission.answer(post("/validate", "{"));
  }
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  std::filesystem::remove(path);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["decision"], "allowed");
  EXPECT_EQ(lines[0]["message"], "");
  EXPECT_EQ(lines[0]["clientVerified"], false);
  EXPECT_EQ(lines[1]["decision"], "denied");
  EXPECT_EQ(lines[1]["dryRun"], true);
  EXPECT_EQ(lines[1]["clientVerified"], true);
  EXPECT_EQ(lines[1]["peer"], "10.0.0.7:41822");
  EXPECT_EQ(lines[1]["checks"], json::array({"node-pin"}));
  EXPECT_THAT(lines[1]["message"].get<std::string>(), HasSubstr("[node-pin] "));
  EXPECT_GT(lines[1]["durationSeconds"], 0);
}

TEST(Validate, AReloadIsSeenByTheNextReview) {
  Admission admission;
  const net::Service service = admission.service();
  EXPECT_THAT(served(service, post("/validate", review_named(kGood))).body,
              HasSubstr("\"allowed\":true"));
  policy::Rulebook strict = rulebook();
  strict.accepted_schedulers.clear();
  admission.load(strict);
  EXPECT_THAT(served(service, post("/validate", review_named(kGood))).body,
              HasSubstr("\"allowed\":false"));
}

}  // namespace
}  // namespace xila::webhook
