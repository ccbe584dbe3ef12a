#include "event_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "xila/policy/check.hpp"

namespace xila::observe {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kMostNameBytes = 253;  // a DNS subdomain
const Wall kTime(1'796'119'200s);
const std::regex kSubdomain(R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)");

Finding finding(const std::string& check = "placement/pools") {
  return {.id = "uid-1:" + check + ":node-1",
          .name = check,
          .check = check,
          .tenant = "team-a",
          .profile = "volcano",
          .space = "space-a",
          .pod = "train-0",
          .pod_uid = "uid-1",
          .node = "gpu-7",
          .node_uid = "node-1",
          .since = kTime,
          .evidence = {{.field = "f", .wanted = "w", .found = "x", .message = "m"}}};
}

Finding drift(const std::string& check = "placement/pools") {
  Finding drifted = finding(check);
  drifted.name = kDrift;
  return drifted;
}

codec::Event told(Finding finding, Change change = Change::opened,
                  const std::string& instance = "guard-0", Wall time = kTime) {
  const Resolution why = change == Change::resolved ? Resolution::holds : Resolution::none;
  return event_of({.change = change, .resolution = why, .finding = std::move(finding)}, instance,
                  time)
      .value();
}

TEST(EventText, AnEventIsAboutThePodAndItsNode) {
  const codec::Event event = told(finding());
  EXPECT_EQ(event.space, "space-a");
  EXPECT_EQ(event.action, "Observe");
  EXPECT_EQ(event.controller, "guard.xila.us/observe");
  EXPECT_EQ(event.instance, "guard-0");
  EXPECT_EQ(event.time, kTime);
  EXPECT_EQ(event.regarding,
            (codec::ObjectReference{
                .kind = "Pod", .space = "space-a", .name = "train-0", .uid = "uid-1"}));
  EXPECT_EQ(event.related,
            (codec::ObjectReference{.kind = "Node", .name = "gpu-7", .uid = "node-1"}));

  Finding nowhere = finding();
  nowhere.node.clear();
  nowhere.node_uid.clear();
  EXPECT_EQ(told(nowhere).related, codec::ObjectReference{});
}

TEST(EventText, SaysWhatHappened) {
  struct Case {
    Finding finding;
    Change change;
    const char* reason;
    bool is_warning;
    const char* note;
  };
  const Case cases[] = {
      {finding(), Change::opened, "PlacementViolation", true,
       "The Pod's node does not satisfy placement rule pools, or is shared with another tenant "
       "against it."},
      {finding("privileged"), Change::changed, "PlacementViolation", true,
       "The Pod violates check privileged of the placement boundary."},
      {finding("route"), Change::opened, "PlacementViolation", true,
       "The Pod runs on a guarded scheduler without a label that the guard selects by, so it came "
       "past the admission webhook."},
      {finding("pinned"), Change::opened, "PlacementViolation", true,
       "The Pod was created with spec.nodeName, so no scheduler placed it."},
      {finding("host-path-claim"), Change::opened, "PlacementViolation", true,
       "A PersistentVolumeClaim of the Pod is bound to a path of its node."},
      {drift("tenant"), Change::opened, "PlacementDrift", true,
       "What held when the Pod was first seen no longer does. The Pod's namespace belongs to no "
       "tenant, or to another one than before."},
      {drift(), Change::resolved, "PlacementResolved", false, "Resolved: placement/pools."},
      {finding("route"), Change::resolved, "PlacementResolved", false, "Resolved: route."},
  };
  for (const Case& c : cases) {
    const codec::Event event = told(c.finding, c.change);
    EXPECT_EQ(event.reason, c.reason) << c.note;
    EXPECT_EQ(event.is_warning, c.is_warning) << c.note;
    EXPECT_EQ(event.note, c.note);
  }
}

TEST(EventText, SaysSomethingOfEveryCheckWithinTheApiServersLimits) {
  std::vector<std::string> checks{"malformed", "route", "pinned", "host-path-claim",
                                  "placement/" + std::string(253, 'r')};
  for (const policy::Check& check : policy::checks()) checks.emplace_back(check.id);
  for (const std::string& check : checks) {
    SCOPED_TRACE(check);
    for (const Finding& found : {finding(check), drift(check)}) {
      for (const Change change : {Change::opened, Change::changed, Change::resolved}) {
        const codec::Event event = told(found, change, std::string(300, 'i'));
        EXPECT_FALSE(event.note.empty());
        EXPECT_TRUE(event.note.ends_with('.')) << event.note;
        EXPECT_LE(event.note.size(), 1024u);
        EXPECT_THAT(event.reason, testing::StartsWith("Placement"));
        EXPECT_LE(event.reason.size(), 128u);
        EXPECT_LE(event.instance.size(), 128u);
      }
    }
  }
}

// Tenants read Events, and not each other's names. The evidence has them for the operator.
TEST(EventText, NamesNobodyElse) {
  const std::string others[] = {"their-tenant", "their-space", "their-pod", "their-volume"};
  for (const char* check : {"placement/pools", "privileged", "tenant", "route", "pinned",
                            "host-path-claim", "host-path", "malformed"}) {
    for (Finding found : {finding(check), drift(check)}) {
      for (const Change change : {Change::opened, Change::changed, Change::resolved}) {
        found.evidence.clear();
        for (const std::string& other : others) {
          found.evidence.push_back({.field = "metadata.labels[" + other + "]",
                                    .wanted = "no " + other,
                                    .found = other,
                                    .message = "the node holds " + other + " as well"});
        }
        // Its tenant may be the one that took its namespace over.
        found.tenant = "their-tenant";
        EXPECT_THAT(codec::encode_event(told(found, change)), Not(HasSubstr("their-"))) << check;
      }
    }
  }
}

// The note cannot change once it is written, and the name must be that of what is written.
TEST(EventText, OneFindingIsOneEventInEveryReplicaAndForEver) {
  const codec::Event first = told(drift());
  Finding later = drift();
  later.since += 24h;
  later.tenant = "team-b";
  later.evidence = {{.field = "other", .message = "other"}};
  const codec::Event second = told(later, Change::changed, "guard-1", kTime + 24h);
  EXPECT_EQ(second.name, first.name);
  EXPECT_EQ(second.note, first.note);
  EXPECT_EQ(second.reason, first.reason);
  EXPECT_EQ(second.instance, "guard-1");
  // Across versions too: they roll.
  EXPECT_EQ(first.name, "train-0.44db438928d35002");
}

TEST(EventText, AnotherFindingOrReasonIsAnotherEvent) {
  Finding on_another_node = finding();
  on_another_node.id = "uid-1:placement/pools:node-2";
  Finding of_another_pod = finding();
  of_another_pod.id = "uid-2:placement/pools:node-1";  // the name was taken again
  const codec::Event events[] = {
      told(finding()),       told(drift()),        told(finding(), Change::resolved),
      told(on_another_node), told(of_another_pod), told(finding("privileged")),
  };
  std::set<std::string> names;
  for (const codec::Event& event : events) {
    EXPECT_TRUE(names.insert(event.name).second) << event.name;
  }
  EXPECT_EQ(told(drift(), Change::resolved).name, told(finding(), Change::resolved).name);
}

TEST(EventText, NobodyIsTold) {
  struct Case {
    const char* what;
    void (*edit)(Transition&);
  };
  const Case cases[] = {
      {"of a Pod that is gone",
       [](Transition& t) {
         t.change = Change::resolved;
         t.resolution = Resolution::pod_gone;
       }},
      {"of a profile", [](Transition& t) { t.finding.pod.clear(); }},
      {"of what nobody knows", [](Transition& t) { t.finding.is_certain = false; }},
  };
  for (const Case& c : cases) {
    Transition transition{.finding = finding()};
    ASSERT_TRUE(event_of(transition, "guard-0", kTime));
    c.edit(transition);
    EXPECT_EQ(event_of(transition, "guard-0", kTime), std::nullopt) << c.what;
  }
  for (const Resolution why : {Resolution::holds, Resolution::node_replaced, Resolution::policy,
                               Resolution::not_a_tenants}) {
    const Transition resolved{.change = Change::resolved, .resolution = why, .finding = finding()};
    EXPECT_TRUE(event_of(resolved, "guard-0", kTime)) << to_text(why);
  }
}

TEST(EventText, ItsNameIsASubdomainHoweverLongThePods) {
  const auto long_name = [](std::size_t bytes, std::size_t from, const std::string& middle) {
    std::string name(bytes, 'p');
    return name.replace(from, middle.size(), middle);
  };
  std::vector<std::string> pods{"p", std::string(kMostNameBytes, 'p')};
  for (std::size_t bytes = 230; bytes <= kMostNameBytes; ++bytes) {
    pods.push_back(std::string(bytes, 'p'));
  }
  // Where the name is cut there may be a '.' or any number of '-'.
  for (std::size_t from = 225; from <= 240; ++from) {
    for (const char* middle : {".", "-", "---", "a.b", "p--p", "p.p.p.p.p.p"}) {
      pods.push_back(long_name(kMostNameBytes, from, middle));
    }
  }
  for (const std::string& pod : pods) {
    ASSERT_TRUE(std::regex_match(pod, kSubdomain)) << pod;
    Finding found = finding();
    found.pod = pod;
    const codec::Event event = told(found);
    EXPECT_LE(event.name.size(), kMostNameBytes) << pod;
    EXPECT_TRUE(std::regex_match(event.name, kSubdomain)) << event.name;
    EXPECT_TRUE(event.name.starts_with(pod.substr(0, 200))) << event.name;
    EXPECT_EQ(event.regarding.name, pod);
  }
}

}  // namespace
}  // namespace xila::observe
