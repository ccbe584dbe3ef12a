#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xila::telemetry {

class Registry;  // prometheus-cpp, kept out of sight

namespace detail {

// A family of one kind with its children by label values; thread-safe. A child that was met before
// is found without an allocation.
class Family;
void add(Family& family, std::span<const std::string_view> labels, double amount);
void set(Family& family, std::span<const std::string_view> labels, double value);
void observe(Family& family, std::span<const std::string_view> labels, double value);
void remove_all(Family& family);
double read(Family& family, std::span<const std::string_view> labels);

}  // namespace detail

template <std::size_t N, class... Values>
concept LabelValues =
    sizeof...(Values) == N && (std::convertible_to<const Values&, std::string_view> && ...);

// Label values come in the labels' order and from a closed set, never from a request: a value that
// a tenant can choose would let it create series without end.
template <std::size_t N>
class Counter {
 public:
  explicit Counter(detail::Family& family) : family_(&family) {}

  template <class... Values>
    requires LabelValues<N, Values...>
  void add(const Values&... labels) {
    add_amount(1, labels...);
  }
  template <class... Values>
    requires LabelValues<N, Values...>
  void add_amount(double amount, const Values&... labels) {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    detail::add(*family_, values, amount);
  }
  // For tests.
  template <class... Values>
    requires LabelValues<N, Values...>
  double value(const Values&... labels) const {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    return detail::read(*family_, values);
  }

 private:
  detail::Family* family_;
};

template <std::size_t N>
class Gauge {
 public:
  explicit Gauge(detail::Family& family) : family_(&family) {}

  template <class... Values>
    requires LabelValues<N, Values...>
  void set(double value, const Values&... labels) {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    detail::set(*family_, values, value);
  }
  template <class... Values>
    requires LabelValues<N, Values...>
  void add(double amount, const Values&... labels) {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    detail::add(*family_, values, amount);
  }
  template <class... Values>
    requires LabelValues<N, Values...>
  double value(const Values&... labels) const {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    return detail::read(*family_, values);
  }
  // Forgets every series of the family, before its current values are set anew.
  void clear() { detail::remove_all(*family_); }

 private:
  detail::Family* family_;
};

template <std::size_t N>
class Histogram {
 public:
  explicit Histogram(detail::Family& family) : family_(&family) {}

  template <class... Values>
    requires LabelValues<N, Values...>
  void observe(double value, const Values&... labels) {
    const std::array<std::string_view, N> values{std::string_view(labels)...};
    detail::observe(*family_, values, value);
  }

 private:
  detail::Family* family_;
};

// What /metrics says about a family.
struct MetricDescription {
  std::string name;
  std::string type;  // "counter", "gauge", "histogram"
  std::string help;
  std::vector<std::string> labels;

  bool operator==(const MetricDescription&) const = default;
};

// Every metric of Xila Guard. To add one, add a member: the member registers itself, and a test
// compares docs/metrics.md with what is registered.
class Metrics {
  using Names = std::vector<std::string>;

  template <class... Labels>
  Counter<sizeof...(Labels)> counter(std::string name, std::string help, Labels... labels) {
    return Counter<sizeof...(Labels)>(
        counter_family(std::move(name), std::move(help), Names{labels...}));
  }
  template <class... Labels>
  Gauge<sizeof...(Labels)> gauge(std::string name, std::string help, Labels... labels) {
    return Gauge<sizeof...(Labels)>(
        gauge_family(std::move(name), std::move(help), Names{labels...}));
  }
  template <class... Labels>
  Histogram<sizeof...(Labels)> histogram(std::string name, std::string help,
                                         std::vector<double> buckets, Labels... labels) {
    return Histogram<sizeof...(Labels)>(
        histogram_family(std::move(name), std::move(help), std::move(buckets), Names{labels...}));
  }
  detail::Family& counter_family(std::string name, std::string help, Names labels);
  detail::Family& gauge_family(std::string name, std::string help, Names labels);
  detail::Family& histogram_family(std::string name, std::string help, std::vector<double> buckets,
                                   Names labels);

  std::unique_ptr<Registry> registry_;  // first: the members below register with it

 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Prometheus text format 0.0.4.
  std::string exposition() const;
  // Every family, also those without a series yet, in the order of the members below.
  std::vector<MetricDescription> describe() const;

  // Reviews.
  Counter<5> reviews = counter("xila_guard_reviews_total", "Admission reviews answered.", "profile",
                               "mode", "operation", "decision", "dry_run");
  Counter<2> violations = counter(
      "xila_guard_violations_total",
      "Violations found in reviews, also those that a mode lets through.", "check", "profile");
  Histogram<0> review_seconds = histogram("xila_guard_review_duration_seconds",
                                          "From the whole request read to the answer made.",
                                          {50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3,
                                           25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});

  // HTTP server.
  Counter<2> http_responses =
      counter("xila_guard_http_responses_total", "HTTP answers by listener and status code.",
              "listener", "code");
  Counter<1> received_bytes =
      counter("xila_guard_http_received_bytes_total", "Bytes of request bodies read.", "listener");
  Counter<1> sent_bytes =
      counter("xila_guard_http_sent_bytes_total", "Bytes of answer bodies written.", "listener");
  Gauge<1> connections = gauge("xila_guard_connections", "Open connections.", "listener");
  Counter<1> accepted_connections =
      counter("xila_guard_connections_accepted_total", "Connections accepted.", "listener");
  Counter<2> dropped_connections =
      counter("xila_guard_connections_dropped_total",
              "Connections that the server ended by a limit.", "listener", "reason");
  Counter<2> accept_failures = counter("xila_guard_accept_failures_total",
                                       "Failed accepts, by reason.", "listener", "reason");
  Counter<1> handler_exceptions =
      counter("xila_guard_handler_exceptions_total",
              "Exceptions that left a handler: program errors.", "route");

  // Files.
  Gauge<0> certificate_not_after = gauge("xila_guard_certificate_not_after_timestamp_seconds",
                                         "When the served certificate expires, Unix time.");
  Gauge<1> reload_successful = gauge(
      "xila_guard_reload_last_successful",
      "1 while the newest version of the files is in force, 0 while an older one stays.", "what");
  Gauge<1> reload_success_time = gauge("xila_guard_reload_last_success_timestamp_seconds",
                                       "When the files were last taken over, Unix time.", "what");
  Counter<2> reloads =
      counter("xila_guard_reloads_total", "Attempts to take over changed files.", "what", "result");
  Gauge<0> config_generation =
      gauge("xila_guard_config_generation", "Counts the rulebooks taken over since the start.");
  Gauge<4> build_info = gauge("xila_guard_build_info", "1, with the build in its labels.",
                              "version", "commit", "compiler", "openssl");

  // Telemetry itself.
  Counter<0> audit_dropped = counter("xila_guard_audit_dropped_total",
                                     "Audit lines dropped: queue full or file not writable.");
  Gauge<0> log_dropped = gauge("xila_guard_log_dropped_lines",
                               "Log lines dropped since the start because stderr was not read.");

  // Cluster.
  Counter<2> watch_restarts =
      counter("xila_guard_watch_restarts_total", "Lists and watches begun again, by cause.",
              "resource", "reason");
  Gauge<1> watch_last_sync =
      gauge("xila_guard_watch_last_sync_timestamp_seconds",
            "When the store last was whole and current, Unix time.", "resource");
  Gauge<1> watch_last_event = gauge("xila_guard_watch_last_event_timestamp_seconds",
                                    "When the watch last said anything, Unix time.", "resource");
  Gauge<1> watch_objects = gauge("xila_guard_watch_objects", "Objects in the store.", "resource");
  Counter<1> tenant_lookups = counter("xila_guard_tenant_lookups_total",
                                      "Tenant look-ups by the way they were answered.", "result");
  Gauge<0> tenant_lookups_in_flight =
      gauge("xila_guard_tenant_lookups_in_flight", "Live look-ups under way.");

  // Observe.
  Gauge<2> findings = gauge("xila_guard_findings", "Open findings, at the replica that reports.",
                            "finding", "tenant");
  Counter<2> finding_changes =
      counter("xila_guard_finding_changes_total", "Reported steps in the lives of findings.",
              "finding", "change");
  Counter<1> events =
      counter("xila_guard_events_total", "Kubernetes Events, by what became of them.", "result");
  Gauge<0> events_waiting =
      gauge("xila_guard_events_waiting", "Kubernetes Events that wait to be written.");
  Counter<0> report_dropped = counter("xila_guard_report_dropped_total",
                                      "Report lines dropped: queue full or file not writable.");
  Gauge<0> leader = gauge("xila_guard_leader", "1 while this replica reports.");
  Counter<1> lease_failures = counter("xila_guard_lease_failures_total",
                                      "Failed attempts to get or renew the lease.", "reason");
  Gauge<1> forbidden = gauge("xila_guard_forbidden",
                             "1 while the API server refuses what the resource needs.", "resource");
  Histogram<0> judging_seconds = histogram("xila_guard_judging_duration_seconds",
                                           "From the begin to the end of a pass over all Pods.",
                                           {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60});
};

}  // namespace xila::telemetry
