#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "kube_test_support.hpp"
#include "xila/kube/transport.hpp"

namespace xila::kube {
namespace {

using test::Authority;
using testing::HasSubstr;

struct Client {
  explicit Client(ClusterAccess access, ApiClientOptions options = {})
      : transport(make_api_client(io.get_executor(), std::move(access), options).value()) {}

  ApiResult<std::string> get(const std::string& target) {
    ApiRequest request;
    request.target = target;
    return run(io, transport->send(std::move(request), in(20s)));
  }
  ApiResult<std::unique_ptr<LineStream>> open(const std::string& target) {
    ApiRequest request;
    request.target = target;
    return run(io, transport->open(std::move(request), in(20s)));
  }

  boost::asio::io_context io{1};
  std::unique_ptr<Transport> transport;
};

TEST(ApiClient, AsksAsItself) {
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "{}"); });
  ClusterAccess access = access_to(server);
  access.path_prefix = "/k8s/c-1";
  access.token = "abc";
  Client client(access, {.user_agent = "xila-guard/1.0"});
  EXPECT_EQ(client.get("/api").value(), "{}");
  const ServerRequest seen = server.requests().front();
  EXPECT_EQ(seen.target, "/k8s/c-1/api");
  EXPECT_EQ(seen.header("authorization"), "Bearer abc");
  EXPECT_EQ(seen.header("user-agent"), "xila-guard/1.0");
  EXPECT_EQ(seen.header("accept"), "application/json");
  EXPECT_EQ(seen.header("accept-encoding"), "");
}

TEST(ApiClient, SaysWhyTheServerRefuses) {
  struct Case {
    int status;
    std::string headers;
    std::string body;
    std::string reason;
    std::string message;
    std::optional<std::chrono::seconds> retry_after;
  };
  const Case cases[] = {
      {403, "", status_json(403, "Forbidden", "namespaces is forbidden"), "Forbidden",
       "the API server answered 403: namespaces is forbidden", std::nullopt},
      {429, "Retry-After: 3\r\n", status_json(429, "TooManyRequests", "slow down"),
       "TooManyRequests", "the API server answered 429: slow down", 3s},
      {503, "Retry-After: soon\r\n", "<html>", "", "the API server answered 503", std::nullopt},
      {302, "Location: https://elsewhere/\r\n", "", "", "the API server answered 302",
       std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.status);
    ScriptedServer server([&](const ServerRequest&, ServerSession& session) {
      session.respond(c.status, c.body, c.headers);
    });
    Client client(access_to(server));
    const auto sent = client.get("/");
    const auto opened = client.open("/");
    for (const ApiError& error : {sent.error(), opened.error()}) {
      EXPECT_EQ(error.what, ApiFailure::status);
      EXPECT_EQ(error.status, c.status);
      EXPECT_EQ(error.reason, c.reason);
      EXPECT_EQ(error.message, c.message);
      EXPECT_EQ(error.retry_after, c.retry_after);
    }
  }
}

// A server that takes one token, which the test renews.
struct TokenServer {
  std::mutex mutex;
  std::string token;
  ScriptedServer server{[this](const ServerRequest& request, ServerSession& session) {
    const std::lock_guard lock(mutex);
    const bool is_known = request.header("authorization") == "Bearer " + token;
    session.respond(is_known ? 200 : 401, "ok");
  }};

  void expect(std::string next) {
    const std::lock_guard lock(mutex);
    token = std::move(next);
  }
};

TEST(ApiClient, ReadsTheTokenAgainOnA401) {
  const TemporaryFolder folder;
  TokenServer api;
  api.expect("one");
  ClusterAccess access = access_to(api.server);
  access.token_file = folder.write("token", "one\n");
  Client client(access);
  EXPECT_EQ(client.get("/").value(), "ok");

  api.expect("two");
  folder.write("token", "two\n");
  EXPECT_EQ(client.get("/").value(), "ok");
  EXPECT_EQ(api.server.requests().size(), 3u);
  EXPECT_TRUE(client.open("/"));

  api.expect("three");  // the file still says two: refused once, not again and again
  EXPECT_EQ(client.get("/").error().status, 401);
  EXPECT_EQ(api.server.requests().size(), 5u);
  folder.write("token", "three");
  EXPECT_TRUE(client.open("/"));
}

TEST(ApiClient, ReadsTheTokenAgainWhenItIsOld) {
  const TemporaryFolder folder;
  ScriptedServer server([](const ServerRequest& request, ServerSession& session) {
    session.respond(200, request.header("authorization"));
  });
  ClusterAccess access = access_to(server);
  access.token_file = folder.write("token", "one");
  Client fresh(access, {.file_age = 1h});
  Client old(access, {.file_age = 0ms});
  folder.write("token", "two");
  EXPECT_EQ(fresh.get("/").value(), "Bearer one");
  EXPECT_EQ(old.get("/").value(), "Bearer two");
  folder.write("token", "");  // a rotation that is not atomic: the last good one stays
  EXPECT_EQ(old.get("/").value(), "Bearer two");
}

TEST(ApiClient, ReadsTheCaAgainWhenTheServersCertificateIsNew) {
  const TemporaryFolder folder;
  const Authority first;
  const Authority second("second-ca");
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) {
        session.respond(200, "ok");
        session.cut();
      },
      first.issue("server", "IP:127.0.0.1"));
  ClusterAccess access = access_to(server);
  access.ca.file = folder.write("ca.crt", first.certificate());
  Client client(access);
  EXPECT_EQ(client.get("/").value(), "ok");

  server.use(second.issue("server", "IP:127.0.0.1"));
  EXPECT_EQ(client.get("/").error().what, ApiFailure::tls);
  folder.write("ca.crt", second.certificate());
  EXPECT_EQ(client.get("/").value(), "ok");
  EXPECT_TRUE(client.open("/"));
}

TEST(ApiClient, SaysWhichCredentialsCannotBeUsed) {
  const TemporaryFolder folder;
  boost::asio::io_context io;
  const auto error_of = [&](const ClusterAccess& access) {
    return make_api_client(io.get_executor(), access).error().message;
  };
  const auto none = folder.path() / "none";
  EXPECT_EQ(error_of({.token_file = none}), none.string() + ": No such file or directory");
  EXPECT_EQ(error_of({.ca = {.file = none}}), none.string() + ": No such file or directory");
  const auto empty = folder.write("empty", "\n");
  EXPECT_EQ(error_of({.token_file = empty}), empty.string() + ": is empty");
  EXPECT_EQ(error_of({.token = "a\nb"}), "the token has blanks or control characters");
  EXPECT_THAT(error_of({.ca = {.text = "junk"}}), HasSubstr("the CA is no PEM certificate"));
}

TEST(LineStream, CutsWhereTheLinesEnd) {
  ScriptedServer server([](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    session.chunk("one\ntw");
    session.chunk("o\n\nthree\n");
    session.end_stream();
  });
  Client client(access_to(server));
  const auto stream = client.open("/").value();
  for (const char* line : {"one", "two", "", "three"}) {
    const auto read = run(client.io, stream->read_line(in(20s)));
    ASSERT_TRUE(read && *read);
    EXPECT_EQ(**read, line);
  }
  EXPECT_EQ(run(client.io, stream->read_line(in(20s))).value(), std::nullopt);
}

TEST(LineStream, DistinguishesHowItEnds) {
  struct Case {
    const char* name;
    std::function<void(ServerSession&)> end;
    ApiFailure what;
    const char* message;
  };
  const Case cases[] = {
      {"whole answer, half a line",
       [](ServerSession& session) {
         session.chunk("hal");
         session.end_stream();
       },
       ApiFailure::broken, "the watch ended in the middle of a line"},
      {"half an answer", [](ServerSession& session) { session.cut(); }, ApiFailure::broken,
       "the server ended it"},
      {"reset", [](ServerSession& session) { session.reset(); }, ApiFailure::broken, "reset"},
      {"silence", [](ServerSession& session) { session.wait_for_end(); }, ApiFailure::timeout,
       "did not answer within"},
      {"a line over the limit",
       [](ServerSession& session) {
         for (int i = 0; i < 100 && !session.is_over(); ++i) {
           session.chunk(std::string(64 << 10, 'x'));
         }
       },
       ApiFailure::too_large, "a watch line is longer than 4194304 bytes"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ScriptedServer server([&](const ServerRequest&, ServerSession& session) {
      session.begin_stream();
      session.chunk("one\n");
      c.end(session);
    });
    Client client(access_to(server));
    const auto stream = client.open("/").value();
    ASSERT_TRUE(run(client.io, stream->read_line(in(20s))));
    const auto end =
        run(client.io, stream->read_line(in(c.what == ApiFailure::timeout ? 50ms : 20s)));
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().what, c.what);
    EXPECT_THAT(end.error().message, HasSubstr(c.message));
  }
}

TEST(ApiClient, ClosingItEndsWhatIsUnderWay) {
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.wait_for_end(); });
  Client client(access_to(server));
  std::thread closer([&] {
    server.wait_for_requests(1);
    boost::asio::post(client.io, [&] { client.transport->close(); });
  });
  EXPECT_EQ(client.get("/").error().what, ApiFailure::broken);
  closer.join();
}

}  // namespace
}  // namespace xila::kube
