#include "xila/telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <functional>
#include <mutex>
#include <utility>
#include <variant>

namespace xila::telemetry {

namespace {

using Values = std::span<const std::string_view>;

// One series. Never destroyed before its family, so that a reader needs no lock to use it.
struct Child {
  std::variant<prometheus::Counter, prometheus::Gauge, prometheus::Histogram> metric;
  std::size_t hash = 0;
  std::vector<std::string> values;
  Child* next = nullptr;
  std::atomic<bool> is_shown{true};

  template <class Metric, class... Arguments>
  explicit Child(std::in_place_type_t<Metric> type, Arguments&&... arguments)
      : metric(type, std::forward<Arguments>(arguments)...) {}

  bool is_for(std::size_t wanted_hash, Values wanted) const {
    return hash == wanted_hash && std::ranges::equal(values, wanted);
  }
};

std::size_t hash_of(Values values) {
  std::size_t hash = values.size();
  for (const std::string_view value : values) {
    hash = hash * 0x9E3779B97F4A7C15 + std::hash<std::string_view>{}(value);
  }
  return hash;
}

std::string_view to_text(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "untyped";
  }
}

}  // namespace

namespace detail {

// prometheus-cpp's own Family locks a mutex and builds a map of labels for each look-up. This one
// finds a child in lists that only ever grow at their heads: a hit takes no lock, writes nothing
// shared but the value itself, and allocates nothing.
class Family {
 public:
  Family(prometheus::MetricType type, std::string name, std::string help,
         std::vector<std::string> labels, std::vector<double> buckets)
      : type_(type),
        name_(std::move(name)),
        help_(std::move(help)),
        labels_(std::move(labels)),
        buckets_(std::move(buckets)) {
    // A counter that is absent until it first counts hides its first increase from rate(). A gauge
    // that nobody set says nothing: a certificate that expires in 1970 would raise an alarm.
    if (labels_.empty() && type_ != prometheus::MetricType::Gauge) child({});
  }

  Child& child(Values values) {
    assert(values.size() == labels_.size());
    const std::size_t hash = hash_of(values);
    std::atomic<Child*>& head = heads_[hash % heads_.size()];
    if (Child* known = find_in(head, hash, values)) return *known;

    const std::lock_guard lock(growing_);
    if (Child* known = find_in(head, hash, values)) return *known;  // another thread was faster
    Child& made = *children_.emplace_back(make_child());
    made.hash = hash;
    made.values.assign(values.begin(), values.end());
    made.next = head.load(std::memory_order_relaxed);
    head.store(&made, std::memory_order_release);
    return made;
  }

  const Child* find(Values values) const {
    const std::size_t hash = hash_of(values);
    return find_in(heads_[hash % heads_.size()], hash, values);
  }

  // Hides every series; setting one shows it again.
  void hide_all() {
    const std::lock_guard lock(growing_);
    for (const auto& child : children_) {
      child->is_shown.store(false, std::memory_order_relaxed);
      if (auto* gauge = std::get_if<prometheus::Gauge>(&child->metric)) gauge->Set(0);
    }
  }

  prometheus::MetricFamily collect() const {
    prometheus::MetricFamily family{name_, help_, type_, {}};
    const std::lock_guard lock(growing_);
    for (const auto& child : children_) {
      if (!child->is_shown.load(std::memory_order_relaxed)) continue;
      family.metric.push_back(
          std::visit([](const auto& metric) { return metric.Collect(); }, child->metric));
      for (std::size_t i = 0; i < labels_.size(); ++i) {
        family.metric.back().label.push_back({labels_[i], child->values[i]});
      }
    }
    std::ranges::sort(family.metric, {}, &prometheus::ClientMetric::label);
    return family;
  }

  MetricDescription describe() const {
    return {name_, std::string(to_text(type_)), help_, labels_};
  }

 private:
  static Child* find_in(const std::atomic<Child*>& head, std::size_t hash, Values values) {
    Child* child = head.load(std::memory_order_acquire);
    while (child && !child->is_for(hash, values)) child = child->next;
    return child;
  }

  std::unique_ptr<Child> make_child() const {
    switch (type_) {
      case prometheus::MetricType::Histogram:
        return std::make_unique<Child>(std::in_place_type<prometheus::Histogram>, buckets_);
      case prometheus::MetricType::Gauge:
        return std::make_unique<Child>(std::in_place_type<prometheus::Gauge>);
      default:
        return std::make_unique<Child>(std::in_place_type<prometheus::Counter>);
    }
  }

  const prometheus::MetricType type_;
  const std::string name_;
  const std::string help_;
  const std::vector<std::string> labels_;
  const std::vector<double> buckets_;

  mutable std::mutex growing_;
  std::vector<std::unique_ptr<Child>> children_;  // in the order in which they were met
  std::array<std::atomic<Child*>, 64> heads_{};   // the same, by hash
};

namespace {

void show(Child& child) {
  // Reads first: an unconditional write would make every thread fetch the line for itself.
  if (!child.is_shown.load(std::memory_order_relaxed)) {
    child.is_shown.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

void add(Family& family, Values labels, double amount) {
  Child& child = family.child(labels);
  if (auto* counter = std::get_if<prometheus::Counter>(&child.metric)) {
    counter->Increment(amount);
  } else if (auto* gauge = std::get_if<prometheus::Gauge>(&child.metric)) {
    gauge->Increment(amount);
    show(child);
  }
}

void set(Family& family, Values labels, double value) {
  Child& child = family.child(labels);
  std::get<prometheus::Gauge>(child.metric).Set(value);
  show(child);
}

void observe(Family& family, Values labels, double value) {
  std::get<prometheus::Histogram>(family.child(labels).metric).Observe(value);
}

void remove_all(Family& family) {
  family.hide_all();
}

double read(Family& family, Values labels) {
  const Child* child = family.find(labels);
  if (!child) return 0;
  if (auto* counter = std::get_if<prometheus::Counter>(&child->metric)) return counter->Value();
  if (auto* gauge = std::get_if<prometheus::Gauge>(&child->metric)) return gauge->Value();
  return 0;
}

}  // namespace detail

class Registry {
 public:
  detail::Family& make(prometheus::MetricType type, std::string name, std::string help,
                       std::vector<std::string> labels, std::vector<double> buckets = {}) {
    return *families_.emplace_back(std::make_unique<detail::Family>(
        type, std::move(name), std::move(help), std::move(labels), std::move(buckets)));
  }
  const std::vector<std::unique_ptr<detail::Family>>& families() const { return families_; }

 private:
  std::vector<std::unique_ptr<detail::Family>> families_;
};

Metrics::Metrics() : registry_(std::make_unique<Registry>()) {}
Metrics::~Metrics() = default;

detail::Family& Metrics::counter_family(std::string name, std::string help, Names labels) {
  return registry_->make(prometheus::MetricType::Counter, std::move(name), std::move(help),
                         std::move(labels));
}

detail::Family& Metrics::gauge_family(std::string name, std::string help, Names labels) {
  return registry_->make(prometheus::MetricType::Gauge, std::move(name), std::move(help),
                         std::move(labels));
}

detail::Family& Metrics::histogram_family(std::string name, std::string help,
                                          std::vector<double> buckets, Names labels) {
  return registry_->make(prometheus::MetricType::Histogram, std::move(name), std::move(help),
                         std::move(labels), std::move(buckets));
}

std::string Metrics::exposition() const {
  std::vector<prometheus::MetricFamily> families;
  families.reserve(registry_->families().size());
  for (const auto& family : registry_->families()) families.push_back(family->collect());
  return prometheus::TextSerializer().Serialize(families);
}

std::vector<MetricDescription> Metrics::describe() const {
  std::vector<MetricDescription> descriptions;
  for (const auto& family : registry_->families()) descriptions.push_back(family->describe());
  return descriptions;
}

}  // namespace xila::telemetry
