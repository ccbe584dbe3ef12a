#include "xila/kube/reflector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <set>

#include "kube_test_support.hpp"

namespace xila::kube {
namespace {

using codec::ObjectMeta;
using test::Authority;
using testing::ElementsAre;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

class Recorder final : public Observer<ObjectMeta> {
 public:
  Lines lines;

  void added(const std::string& key, const Entry& entry) override {
    lines.push_back("added " + key + " " + entry.resource_version);
  }
  void updated(const std::string& key, const Entry& before, const Entry& now) override {
    lines.push_back("updated " + key + " " + before.resource_version + " " + now.resource_version);
  }
  void removed(const std::string& key, const Entry& before) override {
    lines.push_back("removed " + key + " " + before.resource_version);
  }
  void synced() override { lines.push_back("synced"); }
};

WatchOptions quick() {
  return {.resource = "things",
          .path = "/api/v1/things",
          .watch_least = 60s,
          .watch_most = 60s,
          .silence_grace = 20s,
          .least_watch = 0ms,
          .healthy_after = 0ms,
          .page_size = 2,
          .backoff = {.base = 1ms, .cap = 4ms}};
}

// A reflector of a scripted API server, run by the test's own thread.
struct Lab {
  explicit Lab(ClusterAccess access, WatchOptions options = quick())
      : transport(make_api_client(io.get_executor(), std::move(access)).value()),
        reflector(io.get_executor(), *transport,
                  {codec::decode_metadata_page, codec::decode_metadata_event}, store, metrics,
                  std::move(options)) {
    reflector.observe(seen);
    boost::asio::co_spawn(io, reflector.run(), boost::asio::detached);
  }
  ~Lab() {
    reflector.stop();
    transport->close();
    io.restart();
    io.run();
  }

  // Runs the reflector until something holds; false when the time is up first.
  bool until(const std::function<bool()>& holds, std::chrono::milliseconds patience = 20s) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.run_one_for(5ms);
    }
    return true;
  }
  bool until_seen(std::size_t lines) {
    return until([&] { return seen.lines.size() >= lines; });
  }
  double restarts(const char* cause) { return metrics.watch_restarts.value("things", cause); }

  boost::asio::io_context io{1};
  telemetry::Metrics metrics;
  Store<ObjectMeta> store;
  Recorder seen;
  std::unique_ptr<Transport> transport;
  Reflector<ObjectMeta> reflector;
};

// What an API server says to its lists and watches, in turn; the last entry stands for all further
// ones. Watches without an entry are open and silent.
struct Script {
  using Answer = std::function<void(const ServerRequest&, ServerSession&)>;
  std::vector<Answer> lists;
  std::vector<Answer> watches;

  void operator()(const ServerRequest& request, ServerSession& session) {
    const Answer answer = next(request.is_watch());
    if (answer) return answer(request, session);
    session.begin_stream();
    session.wait_for_end();
  }
  Answer next(bool is_watch) {
    const std::lock_guard lock(mutex);
    std::size_t& count = is_watch ? watch_count : list_count;
    const std::vector<Answer>& answers = is_watch ? watches : lists;
    ++count;
    if (is_watch) return count <= answers.size() ? answers[count - 1] : nullptr;
    return answers[std::min(count, answers.size()) - 1];
  }

  std::mutex mutex;
  std::size_t list_count = 0;
  std::size_t watch_count = 0;
};

ScriptedServer::Script by(Script& script) {
  return
      [&script](const ServerRequest& request, ServerSession& session) { script(request, session); };
}

Script::Answer list(int version, std::vector<std::string> items, std::string next = "") {
  return [=](const ServerRequest&, ServerSession& session) {
    session.respond(200, list_json(version, items, next));
  };
}

Script::Answer refuse(int code, std::string reason, std::string headers = "") {
  return [=](const ServerRequest&, ServerSession& session) {
    session.respond(code, status_json(code, reason, "no"), headers);
  };
}

// A watch that says this, and then stays open.
Script::Answer watch(std::string events) {
  return [=](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    session.chunk(events);
    session.wait_for_end();
  };
}

Script::Answer watch_that_ends(std::string events) {
  return [=](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    if (!events.empty()) session.chunk(events);
    session.end_stream();
  };
}

// "list", "list continue=x" or "watch from 7" for each request.
Lines asked(const ScriptedServer& server) {
  Lines lines;
  for (const ServerRequest& request : server.requests()) {
    const std::string next = request.parameter("continue");
    lines.push_back(request.is_watch() ? "watch from " + request.parameter("resourceVersion")
                                       : "list" + (next.empty() ? "" : " continue=" + next));
  }
  return lines;
}

TEST(Reflector, ListsInPagesAndWatchesFromThere) {
  Script script{.lists = {list(100, {object_json("a", 7), object_json("b", 8)}, "x=="),
                          list(100, {object_json("c", 9)})}};
  ScriptedServer server(by(script));
  WatchOptions options = quick();
  options.selector = "fieldSelector=spec.nodeName%21%3D";
  options.list_accept = kListMetadata;
  options.watch_accept = kGetMetadata;
  Lab lab(access_to(server), options);
  ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 3; }));

  EXPECT_EQ(lab.store.size(), 3u);
  EXPECT_THAT(lab.seen.lines,
              testing::UnorderedElementsAre("added a 7", "added b 8", "added c 9", "synced"));
  const auto requests = server.requests();
  EXPECT_EQ(requests[0].target, "/api/v1/things?fieldSelector=spec.nodeName%21%3D&limit=2");
  EXPECT_EQ(requests[0].header("accept"), kListMetadata);
  EXPECT_EQ(requests[1].target,
            "/api/v1/things?fieldSelector=spec.nodeName%21%3D&limit=2&continue=x%3D%3D");
  EXPECT_EQ(requests[2].target,
            "/api/v1/things?fieldSelector=spec.nodeName%21%3D&watch=1&allowWatchBookmarks=true&"
            "resourceVersion=100&timeoutSeconds=60");
  EXPECT_EQ(requests[2].header("accept"), kGetMetadata);
  EXPECT_TRUE(lab.until([&] { return lab.reflector.health().is_fresh(0ms); }));
  EXPECT_EQ(lab.metrics.watch_objects.value("things"), 3);
}

TEST(Reflector, FollowsEvents) {
  Script script{.lists = {list(100, {object_json("a", 7)})},
                .watches = {watch(event_json("ADDED", object_json("b", 101)) +
                                  event_json("MODIFIED", object_json("a", 102, tenant_label("t"))) +
                                  event_json("DELETED", object_json("b", 103)))}};
  ScriptedServer server(by(script));
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until_seen(5));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added a 7", "synced", "added b 101", "updated a 7 102",
                                          "removed b 101"));
  EXPECT_EQ(lab.store.size(), 1u);
  lab.store.read("a", [](const auto* entry) {
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->object.labels, (policy::Labels{{"guard.xila.us/tenant", "t"}}));
  });
}

TEST(Reflector, AnObjectReplacedUnderItsNameIsAnotherObject) {
  Script script{.lists = {list(100, {object_json("a", 7, "", "first")}),
                          list(200, {object_json("a", 150, "", "third")})},
                .watches = {watch(event_json("ADDED", object_json("a", 101, "", "second")) +
                                  event_json("DELETED", object_json("a", 102, "", "first")) +
                                  event_json("ERROR", status_json(410, "Expired", "too old")))}};
  ScriptedServer server(by(script));
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until_seen(7));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added a 7", "synced", "removed a 7", "added a 101",
                                          "removed a 101", "added a 150", "synced"));
}

TEST(Reflector, ShowsNoListBeforeItsEnd) {
  std::promise<void> checked;
  Script script{
      .lists = {list(100, {object_json("old", 7)}), list(200, {object_json("new", 150)}, "rest"),
                [&](const ServerRequest&, ServerSession& session) {
                  checked.get_future().wait();
                  session.respond(200, list_json(200, {object_json("late", 160)}));
                }},
      .watches = {refuse(410, "Expired")}};
  ScriptedServer server(by(script));
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 4; }));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added old 7", "synced"));
  EXPECT_EQ(lab.store.size(), 1u);
  checked.set_value();
  ASSERT_TRUE(lab.until_seen(6));
  EXPECT_EQ(lab.seen.lines[2], "removed old 7");
  EXPECT_EQ(lab.seen.lines[5], "synced");
}

TEST(Reflector, BeginsTheListAgainWhereAPageHasExpired) {
  Script script{.lists = {list(100, {object_json("a", 7)}, "expired"), refuse(410, "Expired"),
                          list(300, {object_json("b", 250)})}};
  ScriptedServer server(by(script));
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 4; }));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added b 250", "synced"));
  EXPECT_THAT(asked(server),
              ElementsAre("list", "list continue=expired", "list", "watch from 300"));
  EXPECT_EQ(lab.restarts("gone"), 1);
}

// Both forms of "too old resource version". What the relist finds unchanged is not reported again;
// what was deleted meanwhile is.
TEST(Reflector, ListsAnewWhereItsVersionIsGone) {
  struct Case {
    const char* name;
    Script::Answer first_watch;
  };
  const Case cases[] = {
      {"as an answer", refuse(410, "Expired")},
      {"as an event", watch_that_ends(event_json("ERROR", status_json(410, "Expired", "too old")))},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Script script{.lists = {list(100, {object_json("a", 7), object_json("b", 8)}),
                            list(200, {object_json("a", 7)})},
                  .watches = {c.first_watch}};
    ScriptedServer server(by(script));
    Lab lab(access_to(server));
    ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 4; }));
    EXPECT_THAT(Lines(lab.seen.lines.begin() + 2, lab.seen.lines.end()),
                ElementsAre("synced", "removed b 8", "synced"));
    EXPECT_THAT(asked(server), ElementsAre("list", "watch from 100", "list", "watch from 200"));
    EXPECT_EQ(lab.restarts("gone"), 1);
  }
}

TEST(Reflector, ResumesAtTheLastBookmarkAfterACleanEnd) {
  Script script{.lists = {list(100, {object_json("a", 7)})},
                .watches = {watch_that_ends(bookmark_json(990))}};
  ScriptedServer server(by(script));
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 3; }));
  EXPECT_THAT(asked(server), ElementsAre("list", "watch from 100", "watch from 990"));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added a 7", "synced"));
  EXPECT_TRUE(lab.until([&] { return lab.reflector.health().is_fresh(0ms); }));
  EXPECT_EQ(lab.reflector.health().last_failure(), "");
  EXPECT_THAT(lab.metrics.exposition(), testing::Not(testing::HasSubstr("restarts_total{")));
}

// Each failure of a watch that leaves its version good: the next watch goes on from there.
TEST(Reflector, ResumesAfter) {
  struct Case {
    const char* cause;
    Script::Answer first_watch;
  };
  const auto then = [](std::string events, std::function<void(ServerSession&)> end) {
    return [=](const ServerRequest&, ServerSession& session) {
      session.begin_stream();
      session.chunk(events);
      end(session);
    };
  };
  const std::string b = event_json("ADDED", object_json("b", 101));
  const std::string half = event_json("ADDED", object_json("c", 102)).substr(0, 40);
  const Case cases[] = {
      {"cut", then(b + half, [](ServerSession& s) { s.cut(); })},
      {"cut", then(b + half, [](ServerSession& s) { s.end_stream(); })},
      {"cut", then(b, [](ServerSession& s) { s.reset(); })},
      {"silence", then(b, [](ServerSession& s) { s.wait_for_end(); })},
      {"throttled", then(b + event_json("ERROR", status_json(429, "TooManyRequests", "slow")),
                         [](ServerSession& s) { s.end_stream(); })},
      {"server_error", then(b + event_json("ERROR", status_json(500, "InternalError", "etcd")),
                            [](ServerSession& s) { s.end_stream(); })},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.cause);
    Script script{.lists = {list(100, {object_json("a", 7)})},
                  .watches = {c.first_watch, watch(event_json("ADDED", object_json("c", 102)))}};
    ScriptedServer server(by(script));
    WatchOptions options = quick();
    if (std::string_view(c.cause) == "silence") {
      options.watch_least = options.watch_most = 0s;
      options.silence_grace = 50ms;
    }
    Lab lab(access_to(server), options);
    ASSERT_TRUE(lab.until_seen(4));
    EXPECT_THAT(lab.seen.lines, ElementsAre("added a 7", "synced", "added b 101", "added c 102"));
    const Lines requests = asked(server);
    EXPECT_THAT(Lines(requests.begin(), requests.begin() + 3),
                ElementsAre("list", "watch from 100", "watch from 101"));
    EXPECT_GE(lab.restarts(c.cause), 1);
  }
}

TEST(Reflector, TriesAgainWhenAWatchOrAListIsRefused) {
  struct Case {
    int code;
    const char* reason;
    const char* cause;
  };
  const Case cases[] = {{401, "Unauthorized", "unauthorized"},
                        {403, "Forbidden", "forbidden"},
                        {429, "TooManyRequests", "throttled"},
                        {500, "InternalError", "server_error"},
                        {503, "ServiceUnavailable", "server_error"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.code);
    Script script{.lists = {refuse(c.code, c.reason), list(100, {object_json("a", 7)})},
                  .watches = {refuse(c.code, c.reason)}};
    ScriptedServer server(by(script));
    Lab lab(access_to(server));
    ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 4; }));
    EXPECT_THAT(asked(server), ElementsAre("list", "list", "watch from 100", "watch from 100"));
    EXPECT_EQ(lab.restarts(c.cause), 2);
  }
}

TEST(Reflector, ListsAnewAfterWhatItCannotUse) {
  struct Case {
    const char* cause;
    Script::Answer first_watch;
  };
  const Case cases[] = {
      {"unreadable", watch("{\"type\":\"ADDED\",\"object\":{}}\n")},
      {"unreadable", watch("<html>\n")},
      {"rewound", watch(event_json("ADDED", object_json("b", 99)))},
      {"refused", refuse(400, "BadRequest")},
      {"refused", watch(event_json("ERROR", status_json(422, "Invalid", "what")))},
      {"too_large", watch(std::string((5 << 20), 'x'))},
      {"server_error",
       [](const ServerRequest&, ServerSession& session) {
         session.respond(504,
                         status_json(504, "Timeout", "Too large resource version: 9, current: 1"));
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.cause);
    Script script{.lists = {list(100, {object_json("a", 7)})}, .watches = {c.first_watch}};
    ScriptedServer server(by(script));
    Lab lab(access_to(server));
    ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 4; }));
    EXPECT_THAT(asked(server), ElementsAre("list", "watch from 100", "list", "watch from 100"));
    EXPECT_EQ(lab.restarts(c.cause), 1);
  }
}

TEST(Reflector, WaitsAsLongAsTheServerAsks) {
  Script script{.lists = {refuse(429, "TooManyRequests", "Retry-After: 1\r\n"), list(100, {})}};
  ScriptedServer server(by(script));
  const auto begun = std::chrono::steady_clock::now();
  Lab lab(access_to(server));
  ASSERT_TRUE(lab.until_seen(1));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1s);
}

TEST(Reflector, NeverSpins) {
  struct Case {
    const char* name;
    Script::Answer list;
    Script::Answer watch;
  };
  const Case cases[] = {
      {"lists fail", refuse(500, "InternalError"), nullptr},
      {"watches are gone", list(100, {}), refuse(410, "Expired")},
      {"watches end at once", list(100, {}), watch_that_ends("")},
      {"watches end after an event", list(100, {}), watch_that_ends(bookmark_json(200))},
      {"watches break", list(100, {}), [](const ServerRequest&, ServerSession& s) { s.cut(); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Script script{.lists = {c.list}, .watches = std::vector<Script::Answer>(1000, c.watch)};
    ScriptedServer server(by(script));
    WatchOptions options = quick();
    options.least_watch = 1s;
    options.backoff = {.base = 100ms, .cap = 1s};
    Lab lab(access_to(server), options);
    lab.until([] { return false; }, 500ms);
    EXPECT_LE(server.requests().size(),
              11u);  // two each 100 ms, where each pause is followed by a list
    EXPECT_GE(server.requests().size(), 1u);
  }
}

TEST(Reflector, AsksForSmallerPagesWhereOneIsTooLarge) {
  ScriptedServer server([](const ServerRequest& request, ServerSession& session) {
    if (request.is_watch()) return session.wait_for_end();
    if (request.parameter("limit") == "16") return session.respond(200, std::string(9 << 20, ' '));
    session.respond(200, list_json(100, {object_json("a", 7)}));
  });
  WatchOptions options = quick();
  options.page_size = 16;
  Lab lab(access_to(server), options);
  ASSERT_TRUE(lab.until_seen(2));
  EXPECT_THAT(lab.seen.lines, ElementsAre("added a 7", "synced"));
  EXPECT_EQ(server.requests()[1].parameter("limit"), "2");
}

TEST(Reflector, ComesBackWhenTheServerDoes) {
  Script script{.lists = {list(100, {object_json("a", 7)})}};
  std::optional<ScriptedServer> server;
  server.emplace(by(script));
  Lab lab(access_to(*server));
  const WatchHealth& health = lab.reflector.health();
  ASSERT_TRUE(lab.until([&] { return health.is_fresh(0ms); }));
  const std::uint16_t port = server->port();
  server->stop();
  ASSERT_TRUE(lab.until([&] { return lab.restarts("connect") >= 2; }));
  EXPECT_TRUE(health.broken_since());
  EXPECT_TRUE(health.is_fresh(1h));
  EXPECT_EQ(health.last_failure(),
            "cannot connect to http://127.0.0.1:" + std::to_string(port) + ": Connection refused");

  server.emplace(by(script), std::nullopt, port);
  ASSERT_TRUE(lab.until([&] { return health.is_fresh(0ms); }));
  EXPECT_THAT(asked(*server), ElementsAre("watch from 100"));
}

TEST(Reflector, ComesBackWhenTlsDoes) {
  const Authority authority;
  Script script{.lists = {list(100, {object_json("a", 7)})}};
  ScriptedServer server(by(script), Authority("other").issue("server", "IP:127.0.0.1"));
  ClusterAccess access = access_to(server);
  access.ca.text = authority.certificate();
  Lab lab(access);
  ASSERT_TRUE(lab.until([&] { return lab.restarts("tls") >= 1; }));
  EXPECT_FALSE(lab.reflector.health().is_synced());
  server.use(authority.issue("server", "IP:127.0.0.1"));
  ASSERT_TRUE(lab.until_seen(2));
}

// How long nothing was heard is what counts, not when that was noticed.
TEST(Reflector, AHungWatchIsDeadSinceItLastSpoke) {
  Script script{.lists = {list(100, {})},
                .watches = {watch(bookmark_json(101)), refuse(500, "InternalError")}};
  ScriptedServer server(by(script));
  WatchOptions options = quick();
  options.watch_least = options.watch_most = 0s;
  options.silence_grace = 300ms;
  options.backoff = {.base = 10s, .cap = 20s};
  Lab lab(access_to(server), options);
  const WatchHealth& health = lab.reflector.health();
  ASSERT_TRUE(lab.until([&] { return lab.restarts("silence") >= 1; }));
  ASSERT_TRUE(health.broken_since());
  EXPECT_GE(std::chrono::steady_clock::now() - *health.broken_since(), 300ms);
  EXPECT_FALSE(health.is_fresh(200ms));
}

TEST(Reflector, TakesAListOf30000Objects) {
  constexpr int kPages = 60;
  ScriptedServer server([&](const ServerRequest& request, ServerSession& session) {
    if (request.is_watch()) return session.wait_for_end();
    const std::string next = request.parameter("continue");
    const int page = next.empty() ? 0 : std::stoi(next);
    std::vector<std::string> items;
    for (int i = 0; i < 500; ++i) {
      const int number = page * 500 + i;
      items.push_back(
          object_json("thing-" + std::to_string(number), number + 1, tenant_label("t")));
    }
    session.respond(200,
                    list_json(50'000, items, page + 1 < kPages ? std::to_string(page + 1) : ""));
  });
  WatchOptions options = quick();
  options.page_size = 500;
  Lab lab(access_to(server), options);
  ASSERT_TRUE(lab.until([&] { return lab.reflector.health().is_synced(); }, 60s));
  EXPECT_EQ(lab.store.size(), 30'000u);
  EXPECT_EQ(lab.seen.lines.size(), 30'001u);
}

TEST(Reflector, DrawsTheTimeOfEachWatch) {
  Script script{.lists = {list(100, {})},
                .watches = std::vector<Script::Answer>(50, watch_that_ends(""))};
  ScriptedServer server(by(script));
  WatchOptions options = quick();
  options.watch_least = 50s;
  options.watch_most = 60s;
  options.backoff = {.base = 0ms, .cap = 0ms};
  Lab lab(access_to(server), options);
  ASSERT_TRUE(lab.until([&] { return server.requests().size() >= 51; }));
  std::set<int> times;
  for (const ServerRequest& request : server.requests()) {
    if (request.is_watch()) times.insert(std::stoi(request.parameter("timeoutSeconds")));
  }
  EXPECT_GE(*times.begin(), 50);
  EXPECT_LE(*times.rbegin(), 60);
  EXPECT_GT(times.size(), 3u);
}

}  // namespace
}  // namespace xila::kube
