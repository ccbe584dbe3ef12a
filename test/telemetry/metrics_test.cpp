#include "xila/telemetry/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

namespace xila::telemetry {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Metrics, CountsByLabelValues) {
  Metrics metrics;
  metrics.reviews.add("volcano", "enforce", "CREATE", "denied", "false");
  metrics.reviews.add("volcano", "enforce", "CREATE", "denied", std::string("false"));
  metrics.reviews.add("volcano", "enforce", "CREATE", "allowed", "false");
  metrics.violations.add_amount(3, "node-pin", "volcano");

  EXPECT_EQ(metrics.reviews.value("volcano", "enforce", "CREATE", "denied", "false"), 2);
  EXPECT_EQ(metrics.reviews.value("volcano", "enforce", "CREATE", "allowed", "false"), 1);
  EXPECT_EQ(metrics.reviews.value("volcano", "enforce", "CREATE", "allowed", "true"), 0);
  EXPECT_EQ(metrics.violations.value("node-pin", "volcano"), 3);
}

TEST(Metrics, TellsApartValuesWithTheSameCharacters) {
  Metrics metrics;
  metrics.violations.add("ab", "c");
  metrics.violations.add("a", "bc");
  metrics.violations.add("", "abc");
  EXPECT_EQ(metrics.violations.value("ab", "c"), 1);
  EXPECT_EQ(metrics.violations.value("a", "bc"), 1);
  EXPECT_EQ(metrics.violations.value("", "abc"), 1);
  EXPECT_EQ(metrics.violations.value("abc", ""), 0);
}

TEST(Metrics, ExpositionIsPrometheusText) {
  Metrics metrics;
  metrics.http_responses.add("webhook", "200");
  metrics.connections.set(2, "webhook");
  metrics.build_info.set(1, "1.0", "a\\b", "say \"c\"", "d\ne");
  metrics.review_seconds.observe(80e-6);

  const std::string text = metrics.exposition();
  EXPECT_THAT(text,
              HasSubstr("# HELP xila_guard_http_responses_total HTTP answers by listener and "
                        "status code.\n"
                        "# TYPE xila_guard_http_responses_total counter\n"
                        "xila_guard_http_responses_total{listener=\"webhook\",code=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("xila_guard_connections{listener=\"webhook\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("compiler=\"say \\\"c\\\"\",openssl=\"d\\ne\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("commit=\"a\\\\b\""));
  EXPECT_THAT(text, HasSubstr("xila_guard_review_duration_seconds_bucket{le=\"5e-05\"} 0\n"
                              "xila_guard_review_duration_seconds_bucket{le=\"0.0001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("xila_guard_review_duration_seconds_bucket{le=\"+Inf\"} 1\n"));
}

// rate() misses the first increase of a counter that was not there before; a gauge that reads 0
// because nobody set it looks like a certificate of 1970.
TEST(Metrics, OnlyCountersWithoutLabelsStartAtZero) {
  const std::string text = Metrics().exposition();
  EXPECT_THAT(text, HasSubstr("\nxila_guard_audit_dropped_total 0\n"));
  EXPECT_THAT(text, HasSubstr("\nxila_guard_review_duration_seconds_count 0\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE xila_guard_certificate_not_after_timestamp_seconds gauge\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nxila_guard_certificate_not_after_timestamp_seconds ")));
  EXPECT_THAT(text, Not(HasSubstr("\nxila_guard_reviews_total{")));
}

TEST(Metrics, ClearForgetsSeriesUntilTheyAreSetAgain) {
  Metrics metrics;
  metrics.watch_objects.set(5, "pods");
  metrics.watch_objects.set(7, "nodes");
  metrics.watch_objects.clear();
  EXPECT_THAT(metrics.exposition(), Not(HasSubstr("\nxila_guard_watch_objects{")));

  metrics.watch_objects.add(1, "pods");
  EXPECT_THAT(metrics.exposition(), HasSubstr("\nxila_guard_watch_objects{resource=\"pods\"} 1\n"));
  EXPECT_THAT(metrics.exposition(), Not(HasSubstr("nodes")));
}

TEST(Metrics, CountsFromManyThreadsWhileOneReads) {
  Metrics metrics;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&metrics] {
        for (int i = 0; i < kRounds; ++i) {
          metrics.violations.add("check-" + std::to_string(i % 300), "volcano");
          metrics.connections.add(i % 2 == 0 ? 1 : -1, "webhook");
          metrics.review_seconds.observe(0.001);
        }
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(metrics.exposition().empty());
  }
  double sum = 0;
  for (int i = 0; i < 300; ++i)
    sum += metrics.violations.value("check-" + std::to_string(i), "volcano");
  EXPECT_EQ(sum, kThreads * kRounds);
  EXPECT_EQ(metrics.connections.value("webhook"), 0);
  EXPECT_THAT(metrics.exposition(), HasSubstr("xila_guard_review_duration_seconds_count " +
                                              std::to_string(kThreads * kRounds)));
}

TEST(MetricNames, FollowPrometheusRules) {
  const std::regex name(R"(xila_guard_[a-z]+(_[a-z]+)*)");
  const std::regex label(R"([a-z]+(_[a-z]+)*)");
  for (const MetricDescription& metric : Metrics().describe()) {
    SCOPED_TRACE(metric.name);
    EXPECT_TRUE(std::regex_match(metric.name, name));
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == "counter");
    EXPECT_EQ(metric.name.ends_with("_seconds"),
              metric.type == "histogram" || metric.name.ends_with("_timestamp_seconds"));
    for (const std::string& key : metric.labels) {
      EXPECT_TRUE(std::regex_match(key, label)) << key;
      EXPECT_NE(key, "le");
    }
    EXPECT_TRUE(metric.help.ends_with('.'));
  }
}

// The rows of the first table: | `name` | type | `label`, `label` | meaning |
std::vector<MetricDescription> documented() {
  const std::string text = read_file(XILA_FIXTURES "/../../docs/metrics.md");
  const std::regex row(R"(\n\| `(xila_guard_\w+)` \| (\w+) \| ([^|]*)\| ([^\n]*) \|(?=\n))");
  const std::regex label("`(\\w+)`");
  std::vector<MetricDescription> found;
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
    MetricDescription metric{(*match)[1], (*match)[2], (*match)[4], {}};
    const std::string labels = (*match)[3];
    for (std::sregex_iterator key(labels.begin(), labels.end(), label); key != end; ++key) {
      metric.labels.push_back((*key)[1]);
    }
    found.push_back(std::move(metric));
  }
  return found;
}

std::vector<std::string> as_rows(const std::vector<MetricDescription>& metrics) {
  std::vector<std::string> rows;
  for (const MetricDescription& metric : metrics) {
    std::string row = metric.name + " " + metric.type + " {";
    for (const std::string& label : metric.labels) row += label + ",";
    rows.push_back(row + "} " + metric.help);
  }
  return rows;
}

TEST(MetricNames, AreThoseOfTheDocumentation) {
  EXPECT_EQ(as_rows(documented()), as_rows(Metrics().describe()));
}

}  // namespace
}  // namespace xila::telemetry
