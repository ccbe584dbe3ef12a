#include "xila/webhook/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "webhook/served.hpp"

namespace xila::webhook {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Header = std::pair<std::string, std::string>;

struct Head {
  std::string method = "POST";
  std::string path = "/validate/volcano";
  std::string content_type = "application/json";
};

int refusal_of(const net::Service& service, const Head& head) {
  const auto refusal = service.refuse({head.method, head.path, "timeout=10s", head.content_type});
  return refusal ? refusal->status : 0;
}

TEST(AdmissionRoutes, RefuseFromTheHeadAlone) {
  struct Case {
    const char* name;
    Head head;
    int status;  // 0: the body is read
  };
  const std::string label_63(63, 'a');
  const Case cases[] = {
      {"profile", {}, 0},
      {"enforcement", {.path = "/validate"}, 0},
      {"unknown profile", {.path = "/validate/nobody"}, 0},
      {"longest name", {.path = "/validate/" + label_63}, 0},
      {"name too long", {.path = "/validate/" + label_63 + "a"}, 404},
      {"no name", {.path = "/validate/"}, 404},
      {"nested", {.path = "/validate/volcano/x"}, 404},
      {"slash at the end", {.path = "/validate/volcano/"}, 404},
      {"double slash", {.path = "//validate/volcano"}, 404},
      {"double slash within", {.path = "/validate//volcano"}, 404},
      {"dots", {.path = "/validate/.."}, 404},
      {"upper case", {.path = "/validate/Volcano"}, 404},
      {"percent", {.path = "/validate/%76olcano"}, 404},
      {"longer word", {.path = "/validateX"}, 404},
      {"other path", {.path = "/mutate"}, 404},
      {"root", {.path = "/"}, 404},
      {"no path", {.path = ""}, 404},
      {"absolute form", {.path = "https://host/validate"}, 404},
      {"metrics are elsewhere", {.method = "GET", .path = "/metrics"}, 404},
      {"GET", {.method = "GET"}, 405},
      {"HEAD", {.method = "HEAD"}, 405},
      {"PUT", {.method = "PUT"}, 405},
      {"methods have case", {.method = "post"}, 405},
      {"charset", {.content_type = "application/json; charset=utf-8"}, 0},
      {"upper-case type", {.content_type = "APPLICATION/JSON"}, 0},
      {"quoted charset", {.content_type = "application/json;charset=\"UTF-8\""}, 0},
      {"space", {.content_type = " application/json ; x=y"}, 0},
      {"none", {.content_type = ""}, 415},
      {"text", {.content_type = "text/plain"}, 415},
      {"prefix", {.content_type = "application/jsonp"}, 415},
      {"suffix", {.content_type = "application/vnd.api+json"}, 415},
      {"protobuf", {.content_type = "application/vnd.kubernetes.protobuf"}, 415},
      {"two", {.content_type = "application/json, text/plain"}, 415},
      {"parameter alone", {.content_type = ";application/json"}, 415},
  };
  Admission admission;
  const net::Service service = admission.service();
  for (const Case& c : cases) {
    EXPECT_EQ(refusal_of(service, c.head), c.status) << c.name;
  }
}

TEST(AdmissionRoutes, SayWhatTheyTake) {
  Admission admission;
  const net::Service service = admission.service();
  const auto refused = [&service](const Head& head) {
    return service.refuse({head.method, head.path, "", head.content_type}).value();
  };
  EXPECT_EQ(refused({.path = "/mutate"}).body,
            "no such path; there is /validate and /validate/<profile>\n");
  EXPECT_EQ(refused({.method = "GET"}).body, "no such method here, use POST\n");
  EXPECT_EQ(refused({.method = "GET"}).headers, std::vector<Header>({{"Allow", "POST"}}));
  EXPECT_EQ(refused({.content_type = "text/plain"}).body,
            "a review is an AdmissionReview of admission.k8s.io/v1 with Content-Type: "
            "application/json\n");
}

// A server that forgot to ask `refuse` first.
TEST(AdmissionRoutes, AnswerNoOtherPathEither) {
  Admission admission;
  net::Service service = admission.service();
  service.refuse = [](const net::RequestHead&) { return std::nullopt; };
  EXPECT_EQ(served(service, post("/other", review_named("volcano/volcano-worker"))).status, 404);
}

// Throws where a program error would.
class BrokenTenants final : public kube::TenantSource {
 public:
  explicit BrokenTenants(bool throws_at_once) : throws_at_once_(throws_at_once) {}
  std::optional<policy::TenantResolution> known(const std::string&,
                                                const policy::Rulebook&) override {
    if (throws_at_once_) throw std::runtime_error("broken");
    return std::nullopt;
  }
  boost::asio::awaitable<policy::TenantResolution> resolve(const std::string&,
                                                           const policy::Rulebook&,
                                                           kube::Deadline) override {
    throw 42;
    co_return policy::TenantResolution::resolved("team-a");
  }

 private:
  bool throws_at_once_;
};

TEST(AdmissionRoutes, AnExceptionIsAnAnswerThatDenies) {
  for (const bool throws_at_once : {true, false}) {
    Admission admission;
    BrokenTenants broken(throws_at_once);
    admission.tenants = &broken;
    const auto response =
        admission.answer(post("/validate/volcano", review_named("volcano/volcano-worker")));
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, "internal error, see the log of this server\n");
    EXPECT_EQ(admission.metrics.handler_exceptions.value("validate"), 1);
    EXPECT_THAT(admission.metrics.exposition(),
                testing::Not(HasSubstr("xila_guard_reviews_total{")));
  }
}

TEST(AdmissionRoutes, CountExceptionsFromZero) {
  Admission admission;
  admission.service();
  EXPECT_THAT(admission.metrics.exposition(),
              HasSubstr("xila_guard_handler_exceptions_total{route=\"validate\"} 0\n"));
}

class OperationsRoutes : public testing::Test {
 protected:
  net::Response get(const std::string& path, const std::string& method = "GET") {
    return served(service_, {.method = method, .path = path});
  }
  telemetry::Metrics metrics_;
  std::optional<std::string> reason_;
  net::Service service_ = operations_service(metrics_, [this] { return reason_; });
};

TEST_F(OperationsRoutes, HealthIsOkWhenNotReadyToo) {
  reason_ = "draining";
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/healthz").body, "ok");
}

TEST_F(OperationsRoutes, ReadinessGivesItsReason) {
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/readyz").body, "ready");
  reason_ = "the namespace cache is not synced";
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/readyz").body, "the namespace cache is not synced\n");
  EXPECT_TRUE(get("/readyz").headers.empty());
}

TEST_F(OperationsRoutes, MetricsArePrometheusText) {
  metrics_.config_generation.set(3);
  const net::Response response = get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body, HasSubstr("\nxila_guard_config_generation 3\n"));
  EXPECT_THAT(response.body, HasSubstr("\nxila_guard_log_dropped_lines "));
  EXPECT_THAT(response.body, StartsWith("# HELP "));
}

TEST_F(OperationsRoutes, RefuseFromTheHeadAlone) {
  struct Case {
    const char* method;
    const char* path;
    int status;
  };
  const Case cases[] = {
      {"HEAD", "/healthz", 200},    {"HEAD", "/metrics", 200},  {"POST", "/healthz", 405},
      {"DELETE", "/metrics", 405},  {"GET", "/", 404},          {"GET", "/healthz/", 404},
      {"GET", "/validate", 404},    {"POST", "/validate", 404}, {"GET", "/metricsx", 404},
      {"GET", "/debug/pprof", 404},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(get(c.path, c.method).status, c.status) << c.method << ' ' << c.path;
  }
  EXPECT_EQ(get("/metrics", "POST").headers, std::vector<Header>({{"Allow", "GET, HEAD"}}));
  EXPECT_EQ(get("/").body, "no such path; there is /healthz, /readyz and /metrics\n");
}

TEST(OperationsRoutesOnly, AnExceptionIsCounted) {
  telemetry::Metrics metrics;
  const net::Service service = operations_service(
      metrics, []() -> std::optional<std::string> { throw std::runtime_error("broken"); });
  EXPECT_EQ(served(service, {.method = "GET", .path = "/readyz"}).status, 500);
  EXPECT_EQ(metrics.handler_exceptions.value("operations"), 1);
}

}  // namespace
}  // namespace xila::webhook
