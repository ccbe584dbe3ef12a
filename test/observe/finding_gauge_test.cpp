#include "finding_gauge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace xila::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kMost = FindingGauge::kMostTenants;

struct Shown {
  telemetry::Metrics metrics;
  FindingGauge gauge{metrics};

  // As a scrape sees them, without their common prefix.
  std::vector<std::string> series() const {
    const std::string prefix = "xila_guard_findings{";
    std::istringstream text(metrics.exposition());
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(prefix)) found.push_back(line.substr(prefix.size() - 1));
    }
    std::ranges::sort(found);
    return found;
  }
};

std::string tenant(std::size_t number) {
  return "tenant-" + std::to_string(number);
}

// As many tenants as have a series of their own, with a finding each.
Ledger::Counts full_house() {
  Ledger::Counts open;
  for (std::size_t i = 0; i < kMost; ++i) open[{"drift", tenant(i)}] = 1;
  return open;
}

TEST(FindingGauge, HasASeriesByFindingAndTenant) {
  Shown shown;
  EXPECT_THAT(shown.series(), IsEmpty());
  shown.gauge.show({{{"drift", "team-a"}, 2},
                    {{"drift", "team-b"}, 1},
                    {{"pinned", "team-a"}, 3},
                    {{"profile-silent", ""}, 1},
                    {{"route", "team-a"}, 0}});  // never open while it was shown
  EXPECT_THAT(shown.series(), ElementsAre(R"({finding="drift",tenant="team-a"} 2)",
                                          R"({finding="drift",tenant="team-b"} 1)",
                                          R"({finding="pinned",tenant="team-a"} 3)",
                                          R"({finding="profile-silent",tenant=""} 1)"));
}

// An alert on a series that vanishes stays as it was, or resolves for the wrong reason.
TEST(FindingGauge, ASeriesGoesToZeroAndBackAndDoesNotVanish) {
  const std::pair<const char*, Ledger::Counts> nothing[] = {
      {"counted as none", {{{"drift", "team-a"}, 0}}}, {"no longer counted", {}}};
  for (const auto& [what, open] : nothing) {
    SCOPED_TRACE(what);
    Shown shown;
    shown.gauge.show({{{"drift", "team-a"}, 2}});
    for (int again = 0; again < 2; ++again) {
      shown.gauge.show(open);
      EXPECT_THAT(shown.series(), ElementsAre(R"({finding="drift",tenant="team-a"} 0)"));
    }
    shown.gauge.show({{{"drift", "team-a"}, 2}});
    EXPECT_THAT(shown.series(), ElementsAre(R"({finding="drift",tenant="team-a"} 2)"));
  }
}

TEST(FindingGauge, CountsTenantsBeyondTheMostTogether) {
  Shown shown;
  shown.gauge.show(full_house());
  EXPECT_EQ(shown.series().size(), kMost);

  Ledger::Counts open = full_house();
  open[{"drift", "late-1"}] = 2;
  open[{"drift", "late-2"}] = 3;
  open[{"pinned", "late-1"}] = 1;
  open[{"pinned", tenant(0)}] = 4;  // it has its series, and gets one for any finding
  shown.gauge.show(open);
  EXPECT_EQ(shown.series().size(), kMost + 3);
  EXPECT_EQ(shown.metrics.findings.value("drift", "(other)"), 5);
  EXPECT_EQ(shown.metrics.findings.value("pinned", "(other)"), 1);
  EXPECT_EQ(shown.metrics.findings.value("pinned", tenant(0)), 4);

  open.erase({"drift", "late-1"});
  open.erase({"pinned", "late-1"});
  shown.gauge.show(open);
  EXPECT_EQ(shown.series().size(), kMost + 3);
  EXPECT_EQ(shown.metrics.findings.value("drift", "(other)"), 3);
  EXPECT_EQ(shown.metrics.findings.value("pinned", "(other)"), 0);
}

// A place that came free would let a tenant's series stop in the middle, and go on in another's.
TEST(FindingGauge, ATenantKeepsItsPlace) {
  Shown shown;
  shown.gauge.show(full_house());
  shown.gauge.show({{{"drift", "late"}, 1}});
  EXPECT_EQ(shown.metrics.findings.value("drift", "(other)"), 1);
  shown.gauge.show({{{"drift", tenant(7)}, 6}});
  EXPECT_EQ(shown.metrics.findings.value("drift", tenant(7)), 6);
}

TEST(FindingGauge, ShowsNothingWhileAnotherReplicaDoes) {
  Shown shown;
  shown.gauge.show({{{"drift", "team-a"}, 2}, {{"pinned", "team-a"}, 1}});
  shown.gauge.show({{{"drift", "team-a"}, 2}});
  shown.gauge.hide();
  EXPECT_THAT(shown.series(), IsEmpty());
  // What was shown before is shown again, though it did not change, and nothing is left of the
  // rest.
  shown.gauge.show({{{"drift", "team-a"}, 2}});
  EXPECT_THAT(shown.series(), ElementsAre(R"({finding="drift",tenant="team-a"} 2)"));
}

}  // namespace
}  // namespace xila::observe
