#include "xila/kube/tenant_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include <boost/asio/use_future.hpp>

#include "kube_test_support.hpp"

namespace xila::kube {
namespace {

using policy::TenantResolution;

// An API server that has namespaces: lists them, watches them, answers for single ones.
class FakeCluster {
 public:
  ~FakeCluster() { release(); }

  // A change that watches see.
  void set(const std::string& name, const std::string& labels) {
    const std::lock_guard lock(mutex_);
    const bool is_new = !namespaces_.contains(name);
    const std::string object = object_json(name, ++version_, labels);
    namespaces_[name] = object;
    events_.emplace_back(version_, event_json(is_new ? "ADDED" : "MODIFIED", object));
    changed_.notify_all();
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const std::string object = object_json(name, ++version_);
    namespaces_.erase(name);
    events_.emplace_back(version_, event_json("DELETED", object));
    changed_.notify_all();
  }
  // A change that watches have not been told of yet.
  void set_unseen(const std::string& name, const std::string& labels) {
    const std::lock_guard lock(mutex_);
    namespaces_[name] = object_json(name, ++version_, labels);
  }
  // Lists and watches are refused; GETs go on.
  void refuse_watches() {
    const std::lock_guard lock(mutex_);
    refuses_watches_ = true;
    changed_.notify_all();
  }
  // GETs of single namespaces are answered so, or wait.
  void fail_gets(int status, std::string body) {
    const std::lock_guard lock(mutex_);
    get_failure_ = {status, std::move(body)};
  }
  void hold_gets() {
    const std::lock_guard lock(mutex_);
    holds_gets_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    holds_gets_ = false;
    is_over_ = true;
    changed_.notify_all();
  }
  std::size_t gets() const {
    std::size_t count = 0;
    for (const ServerRequest& request : server.requests()) {
      count += request.path.starts_with("/api/v1/namespaces/") ? 1 : 0;
    }
    return count;
  }

 private:
  void answer(const ServerRequest& request, ServerSession& session) {
    std::unique_lock lock(mutex_);
    if (request.path != "/api/v1/namespaces") {
      return get(request.path.substr(std::string_view("/api/v1/namespaces/").size()), session,
                 lock);
    }
    if (refuses_watches_) {
      lock.unlock();
      return session.respond(503, status_json(503, "ServiceUnavailable", "down"));
    }
    if (!request.is_watch()) {
      std::vector<std::string> items;
      for (const auto& [name, object] : namespaces_) items.push_back(object);
      return session.respond(200, list_json(version_, items));
    }
    watch(std::stoi(request.parameter("resourceVersion")), session, lock);
  }

  void get(const std::string& name, ServerSession& session, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return !holds_gets_; });
    const auto failure = get_failure_;
    const auto found = namespaces_.find(name);
    const bool is_there = found != namespaces_.end();
    const std::string object = is_there ? found->second : "";
    lock.unlock();
    if (failure.first != 0) return session.respond(failure.first, failure.second);
    if (is_there) return session.respond(200, object);
    session.respond(404, status_json(404, "NotFound", "namespaces not found"));
  }

  void watch(int from, ServerSession& session, std::unique_lock<std::mutex>& lock) {
    session.begin_stream();
    while (!session.is_over() && !is_over_) {
      if (refuses_watches_) return session.cut();
      for (const auto& [version, event] : events_) {
        if (version <= from) continue;
        session.chunk(event);
        from = version;
      }
      changed_.wait(lock);
    }
    session.cut();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int version_ = 100;
  std::map<std::string, std::string> namespaces_;
  std::vector<std::pair<int, std::string>> events_;
  std::pair<int, std::string> get_failure_;
  bool refuses_watches_ = false;
  bool holds_gets_ = false;
  bool is_over_ = false;

 public:
  // Last: its threads use all of the above.
  ScriptedServer server{
      [this](const ServerRequest& request, ServerSession& session) { answer(request, session); }};
};

struct Lab {
  explicit Lab(ClusterAccess access, TenantDirectoryOptions options = {}) {
    options.watch.backoff = {.base = 5ms, .cap = 20ms};
    directory = TenantDirectory::make(
                    [&](const boost::asio::any_io_executor& executor) {
                      return make_api_client(executor, access);
                    },
                    options, metrics)
                    .value();
    directory->start();
  }
  explicit Lab(FakeCluster& cluster, TenantDirectoryOptions options = {})
      : Lab(access_to(cluster.server), options) {
    const bool is_ready = eventually([&] { return !directory->not_ready_because(); });
    EXPECT_TRUE(is_ready);
  }
  ~Lab() { directory->stop(); }

  TenantResolution ask(const std::string& space, std::chrono::milliseconds time = 20s) {
    boost::asio::io_context& io = context();
    return run(io, directory->resolve(space, rulebook, in(time)));
  }
  // One for whoever asks, which outlives the directory's thread.
  boost::asio::io_context& context() {
    const std::lock_guard lock(mutex);
    return contexts.emplace_back();
  }
  double lookups(const char* result) { return metrics.tenant_lookups.value(result); }

  telemetry::Metrics metrics;
  policy::Rulebook rulebook;
  std::mutex mutex;
  std::deque<boost::asio::io_context> contexts;
  std::unique_ptr<TenantDirectory> directory;
};

TEST(TenantDirectory, AnswersFromTheCache) {
  FakeCluster cluster;
  cluster.set("team-a", tenant_label("alpha"));
  cluster.set("bare", "");
  cluster.set("empty", tenant_label(""));
  cluster.set("odd", tenant_label("no/value"));
  Lab lab(cluster);
  struct Case {
    const char* space;
    TenantResolution answer;
  };
  const Case cases[] = {
      {"team-a", TenantResolution::resolved("alpha")},
      {"bare", TenantResolution::unresolved("it has no label guard.xila.us/tenant")},
      {"empty", TenantResolution::unresolved("its label guard.xila.us/tenant is empty")},
      {"odd", TenantResolution::unresolved("its label guard.xila.us/tenant has no valid value")},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(lab.directory->known(c.space, lab.rulebook), c.answer) << c.space;
    EXPECT_EQ(lab.ask(c.space), c.answer) << c.space;
  }
  EXPECT_EQ(lab.directory->known("unheard-of", lab.rulebook), std::nullopt);
  EXPECT_EQ(cluster.gets(), 0u);
  EXPECT_EQ(lab.lookups("cache"), 8);
}

TEST(TenantDirectory, TheStaticMapComesFirstAndNeedsNoCluster) {
  FakeCluster cluster;
  cluster.set("ml-infra", tenant_label("other"));
  Lab lab(cluster);
  lab.rulebook.static_tenants = {{"ml-infra", "platform"}};
  EXPECT_EQ(lab.ask("ml-infra"), TenantResolution::resolved("platform"));

  ClusterAccess nowhere;
  nowhere.server = {.tls = false, .host = "127.0.0.1", .port = 1};
  Lab alone(nowhere);
  alone.rulebook.static_tenants = {{"ml-infra", "platform"}};
  EXPECT_EQ(alone.ask("ml-infra"), TenantResolution::resolved("platform"));
  EXPECT_EQ(alone.lookups("static"), 1);
}

TEST(TenantDirectory, AReloadMayNameAnotherLabel) {
  FakeCluster cluster;
  cluster.set("team-a", tenant_label("alpha") + R"(,"team":"blue")");
  Lab lab(cluster);
  lab.rulebook.tenant_label = "team";
  EXPECT_EQ(lab.ask("team-a"), TenantResolution::resolved("blue"));
}

TEST(TenantDirectory, FollowsEveryChangeOfANamespace) {
  FakeCluster cluster;
  Lab lab(cluster);
  const auto becomes = [&](const TenantResolution& answer) {
    return eventually([&] { return lab.ask("team-a") == answer; }, 2s);
  };
  cluster.set("team-a", "");
  EXPECT_TRUE(becomes(TenantResolution::unresolved("it has no label guard.xila.us/tenant")));
  cluster.set("team-a", tenant_label("alpha"));
  EXPECT_TRUE(becomes(TenantResolution::resolved("alpha")));
  cluster.set("team-a", tenant_label("beta"));
  EXPECT_TRUE(becomes(TenantResolution::resolved("beta")));
  cluster.set("team-a", "");
  EXPECT_TRUE(becomes(TenantResolution::unresolved("it has no label guard.xila.us/tenant")));
  cluster.remove("team-a");
  EXPECT_TRUE(becomes(TenantResolution::unresolved("it does not exist")));
  cluster.set("team-a", tenant_label("gamma"));
  EXPECT_TRUE(becomes(TenantResolution::resolved("gamma")));
}

TEST(TenantDirectory, AsksLiveForWhatTheCacheDoesNotKnowYet) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.set_unseen("newborn", tenant_label("alpha"));
  EXPECT_EQ(lab.ask("newborn"), TenantResolution::resolved("alpha"));
  EXPECT_EQ(lab.ask("missing"), TenantResolution::unresolved("it does not exist"));
  EXPECT_EQ(lab.lookups("live"), 2);
  const ServerRequest get = cluster.server.requests().back();
  EXPECT_EQ(get.target, "/api/v1/namespaces/missing");
  EXPECT_EQ(get.header("accept"), kGetMetadata);
  // The answer is not kept: only the watch knows the order of things.
  EXPECT_EQ(lab.directory->known("newborn", lab.rulebook), std::nullopt);
}

TEST(TenantDirectory, NeverMakesAUrlOfWhatIsNoName) {
  FakeCluster cluster;
  Lab lab(cluster);
  for (const char* name : {"", "..", "a/b", "../secrets", "a?b", "A", "a b", "a.b"}) {
    EXPECT_EQ(lab.ask(name), TenantResolution::unresolved("that is no name of a namespace"))
        << name;
  }
  EXPECT_EQ(cluster.gets(), 0u);
}

TEST(TenantDirectory, AFailedLookUpSaysThatItIsOne) {
  struct Case {
    int status;
    std::string body;
    const char* why;
  };
  const Case cases[] = {
      {500, status_json(500, "InternalError", "etcd"), "the API server answered 500 InternalError"},
      {403, status_json(403, "Forbidden", "system:serviceaccount:x cannot get"),
       "the API server answered 403 Forbidden"},
      {503, "<html>", "the API server answered 503"},
      {404, "", ""},
      {200, object_json("another", 7, tenant_label("a")),
       "the API server answered for another namespace"},
      {200, "{}", "the API server's answer cannot be read: metadata is absent"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.status);
    FakeCluster cluster;
    cluster.fail_gets(c.status, c.body);
    Lab lab(cluster);
    const TenantResolution expected = *c.why == '\0'
                                          ? TenantResolution::unresolved("it does not exist")
                                          : TenantResolution::lookup_failed(c.why);
    EXPECT_EQ(lab.ask("team-a"), expected);
  }
}

TEST(TenantDirectory, AnswersInsideTheDeadline) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.hold_gets();
  const auto begun = std::chrono::steady_clock::now();
  const TenantResolution answer = lab.ask("slow", 300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 300ms);
  EXPECT_EQ(answer, TenantResolution::lookup_failed("the API server did not answer in time"));
  EXPECT_EQ(lab.ask("slow", -1s), TenantResolution::lookup_failed("there is no time left"));
}

// Asks for several namespaces at once, from one thread, as the webhook's do.
std::vector<TenantResolution> ask_all(Lab& lab, const std::vector<std::string>& spaces,
                                      std::chrono::milliseconds time = 20s) {
  boost::asio::io_context& io = lab.context();
  std::vector<std::future<TenantResolution>> answers;
  for (const std::string& space : spaces) {
    answers.push_back(boost::asio::co_spawn(
        io, lab.directory->resolve(space, lab.rulebook, in(time)), boost::asio::use_future));
  }
  io.run();
  std::vector<TenantResolution> all;
  for (auto& answer : answers) all.push_back(answer.get());
  return all;
}

TEST(TenantDirectory, QuestionsForOneNamespaceShareOneRequest) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.set_unseen("newborn", tenant_label("alpha"));
  cluster.set_unseen("last", tenant_label("alpha"));
  cluster.hold_gets();
  std::vector<std::string> spaces(100, "newborn");
  spaces.push_back("last");  // once this one is under way, all others wait
  auto asking = std::async(std::launch::async, [&] { return ask_all(lab, spaces); });
  ASSERT_TRUE(eventually([&] { return cluster.gets() == 2; }));
  EXPECT_EQ(lab.metrics.tenant_lookups_in_flight.value(), 2);
  cluster.release();
  const auto answers = asking.get();
  EXPECT_THAT(answers, testing::Each(TenantResolution::resolved("alpha")));
  EXPECT_EQ(cluster.gets(), 2u);
  EXPECT_EQ(lab.lookups("live"), 2);
  EXPECT_EQ(lab.lookups("shared"), 99);
  EXPECT_EQ(lab.metrics.tenant_lookups_in_flight.value(), 0);
}

TEST(TenantDirectory, HasAtMost32RequestsUnderWay) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.hold_gets();
  std::vector<std::string> spaces;
  for (int i = 0; i < 33; ++i) spaces.push_back("space-" + std::to_string(i));
  for (const std::string& space : spaces) cluster.set_unseen(space, tenant_label("alpha"));
  auto asking = std::async(std::launch::async, [&] { return ask_all(lab, spaces); });
  ASSERT_TRUE(eventually([&] { return cluster.gets() == 32 && lab.lookups("overloaded") == 1; }));
  EXPECT_EQ(lab.metrics.tenant_lookups_in_flight.value(), 32);
  cluster.release();
  const auto answers = asking.get();
  EXPECT_EQ(std::ranges::count(answers, TenantResolution::resolved("alpha")), 32);
  EXPECT_EQ(std::ranges::count(
                answers, TenantResolution::lookup_failed("32 live look-ups are under way already")),
            1);
  EXPECT_EQ(lab.ask("space-32"), TenantResolution::resolved("alpha"));
}

// A question that joins an older request does not take its "no" for an answer.
TEST(TenantDirectory, ANoIsNeverOlderThanTheQuestion) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.fail_gets(404, "");
  cluster.hold_gets();
  auto first = std::async(std::launch::async, [&] { return lab.ask("newborn"); });
  ASSERT_TRUE(eventually([&] { return cluster.gets() == 1; }));
  auto second = std::async(std::launch::async, [&] { return lab.ask("newborn"); });
  // The second one waits as well once it has come to the directory's thread.
  ASSERT_FALSE(eventually([&] { return cluster.gets() == 2; }, 100ms));
  cluster.release();
  EXPECT_EQ(first.get(), TenantResolution::unresolved("it does not exist"));
  EXPECT_EQ(second.get(), TenantResolution::unresolved("it does not exist"));
  EXPECT_EQ(cluster.gets(), 2u);
}

// The label went while the answer was on its way: what the watch brought meanwhile counts.
TEST(TenantDirectory, ANewerWatchEventBeatsAnOlderLiveAnswer) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.set_unseen("team-a", tenant_label("alpha"));
  cluster.fail_gets(200, object_json("team-a", 101, tenant_label("alpha")));
  cluster.hold_gets();
  auto asking = std::async(std::launch::async, [&] { return lab.ask("team-a"); });
  ASSERT_TRUE(eventually([&] { return cluster.gets() == 1; }));
  cluster.set("team-a", "");
  ASSERT_TRUE(eventually([&] { return lab.directory->known("team-a", lab.rulebook).has_value(); }));
  cluster.release();
  EXPECT_EQ(asking.get(), TenantResolution::unresolved("it has no label guard.xila.us/tenant"));
}

TEST(TenantDirectory, IsNotReadyBeforeItIsSyncedAndAsksLiveMeanwhile) {
  FakeCluster cluster;
  cluster.set("team-a", tenant_label("alpha"));
  cluster.refuse_watches();
  Lab lab(access_to(cluster.server));
  ASSERT_TRUE(eventually([&] {
    return lab.directory->not_ready_because() ==
           "the namespaces are not synced yet: the API server answered 503: down";
  }));
  EXPECT_EQ(lab.directory->known("team-a", lab.rulebook), std::nullopt);
  EXPECT_EQ(lab.ask("team-a"), TenantResolution::resolved("alpha"));
  EXPECT_EQ(lab.lookups("live"), 1);
}

TEST(TenantDirectory, AsksLiveWhileTheWatchIsBrokenForTooLong) {
  FakeCluster cluster;
  cluster.set("team-a", tenant_label("alpha"));
  Lab lab(cluster, {.staleness_limit = 300ms});
  EXPECT_TRUE(lab.directory->known("team-a", lab.rulebook));
  cluster.refuse_watches();
  cluster.set_unseen("team-a", "");
  ASSERT_TRUE(eventually([&] { return lab.directory->not_ready_because().has_value(); }));
  EXPECT_THAT(*lab.directory->not_ready_because(),
              testing::StartsWith("the watch of namespaces has been broken for "));
  EXPECT_EQ(lab.directory->known("team-a", lab.rulebook), std::nullopt);
  EXPECT_EQ(lab.ask("team-a"),
            TenantResolution::unresolved("it has no label guard.xila.us/tenant"));
}

TEST(TenantDirectory, StopsWhileQuestionsAreOpen) {
  FakeCluster cluster;
  Lab lab(cluster);
  cluster.hold_gets();
  auto asking = std::async(std::launch::async, [&] { return lab.ask("team-a"); });
  ASSERT_TRUE(eventually([&] { return cluster.gets() == 1; }));
  lab.directory->stop();
  EXPECT_EQ(asking.get().kind, TenantResolution::Kind::lookup_failed);
  EXPECT_EQ(lab.ask("team-a"), TenantResolution::lookup_failed("the server is shutting down"));
}

// Many threads ask while namespaces change: for ThreadSanitizer, and for answers that never were.
TEST(TenantDirectory, AnswersManyThreadsWhileNamespacesChange) {
  FakeCluster cluster;
  cluster.set("team-a", tenant_label("t0"));
  Lab lab(cluster);
  std::atomic<bool> is_over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&, i] {
      const std::string other = "other-" + std::to_string(i);
      while (!is_over) {
        const TenantResolution answer = lab.ask("team-a");
        const bool is_good =
            answer.kind == TenantResolution::Kind::resolved && answer.text[0] == 't';
        wrong += is_good ? 0 : 1;
        wrong += lab.ask(other) == TenantResolution::unresolved("it does not exist") ? 0 : 1;
      }
    });
  }
  for (int i = 1; i <= 200; ++i) {
    cluster.set("team-a", tenant_label("t" + std::to_string(i)));
    cluster.set("churn-" + std::to_string(i), tenant_label("t"));
  }
  EXPECT_TRUE(eventually([&] { return lab.ask("team-a") == TenantResolution::resolved("t200"); }));
  is_over = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace xila::kube
