// The decision alone, without network: decode, decide and encode one review of 16 KB, as it comes
// when an orchestrator creates a GPU worker. Must stay under 18 us mean and 100 us at the 99th
// percentile.
//
//   xila_bench [another-review.json]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "xila/codec/admission_review.hpp"
#include "xila/policy/decide.hpp"

namespace {

using namespace xila;

std::string& body() {
  static std::string text;
  return text;
}

bool read_body(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  body().assign(std::istreambuf_iterator<char>(stream), {});
  body().reserve(body().size() + codec::kPadding);
  return stream.good() && !body().empty();
}

// One profile that accepts the review's scheduler; `mode` so that a denial can be measured too.
policy::Rulebook rulebook(std::string scheduler) {
  policy::Rulebook rules;
  policy::LabelSelector selector{{{.key = "batch.example.com/job"}}};
  rules.profiles.push_back(
      {.name = "batch", .scheduler_name = scheduler, .workload_selectors = {selector}});
  rules.accepted_schedulers.insert(std::move(scheduler));
  return rules;
}

// Times each iteration: what a single slow review costs does not show in a mean.
template <class Step>
void measure(benchmark::State& state, Step step) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> microseconds;
  microseconds.reserve(1 << 20);
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    step();
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  if (microseconds.empty()) return;
  const auto percentile = [&](std::size_t percent) {
    const auto place = static_cast<std::ptrdiff_t>(microseconds.size() * percent / 100);
    std::nth_element(microseconds.begin(), microseconds.begin() + place, microseconds.end());
    return microseconds[static_cast<std::size_t>(place)];
  };
  state.counters["p50_us"] = percentile(50);
  state.counters["p99_us"] = percentile(99);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body().size()));
}

void decode_decide_encode(benchmark::State& state, const char* scheduler) {
  const policy::Rulebook rules = rulebook(scheduler);
  const auto tenant = policy::TenantResolution::resolved("team-a");
  measure(state, [&] {
    const base::Result<policy::Review> review = codec::decode_review(codec::padded(body()));
    const policy::Decision decision = policy::decide(*review, "batch", tenant, rules);
    benchmark::DoNotOptimize(codec::encode_response(*review, decision));
  });
}

void decode(benchmark::State& state) {
  measure(state, [] { benchmark::DoNotOptimize(codec::decode_review(codec::padded(body()))); });
}

void decide(benchmark::State& state) {
  const policy::Rulebook rules = rulebook("batch-scheduler");
  const auto tenant = policy::TenantResolution::resolved("team-a");
  const base::Result<policy::Review> review = codec::decode_review(codec::padded(body()));
  measure(state,
          [&] { benchmark::DoNotOptimize(policy::decide(*review, "batch", tenant, rules)); });
}

void encode(benchmark::State& state) {
  const policy::Rulebook rules = rulebook("batch-scheduler");
  const base::Result<policy::Review> review = codec::decode_review(codec::padded(body()));
  const policy::Decision decision =
      policy::decide(*review, "batch", policy::TenantResolution::resolved("team-a"), rules);
  measure(state, [&] { benchmark::DoNotOptimize(codec::encode_response(*review, decision)); });
}

BENCHMARK_CAPTURE(decode_decide_encode, allowed, "batch-scheduler")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode_decide_encode, denied, "another-scheduler")->Unit(benchmark::kMicrosecond);
BENCHMARK(decode)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide)->Unit(benchmark::kMicrosecond);
BENCHMARK(encode)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string file = argc > 1 ? argv[1] : XILA_BENCH_FOLDER "/review-16k.json";
  if (!read_body(file) || !codec::decode_review(codec::padded(body()))) {
    std::fprintf(stderr, "%s: no AdmissionReview that can be read\n", file.c_str());
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
}
