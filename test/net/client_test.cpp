#include "xila/net/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "fakes/scripted_server.hpp"

namespace xila::net {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::Authority;
using test::PemPair;
using test::ScriptedServer;
using test::ServerRequest;
using test::ServerSession;
using testing::HasSubstr;

constexpr std::size_t kLimit = 1 << 20;

Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// Runs one coroutine to its end, on this thread.
template <class T>
T run(asio::io_context& io, asio::awaitable<T> work) {
  std::optional<T> result;
  asio::co_spawn(io, std::move(work), [&](std::exception_ptr failure, T value) {
    if (failure) std::rethrow_exception(failure);
    result = std::move(value);
  });
  io.restart();
  while (!result && io.run_one() > 0) continue;
  return std::move(*result);
}

Origin origin_of(const ScriptedServer& server) {
  return parse_url(server.url()).value().origin;
}

ClientTls trusting(const Authority& authority) {
  return client_tls({.ca = authority.certificate()}).value();
}

struct Client {
  explicit Client(const ScriptedServer& server, ClientTls tls = nullptr)
      : http(io.get_executor(), origin_of(server), std::move(tls)) {}

  ClientResult<ClientResponse> get(const std::string& target,
                                   std::chrono::milliseconds time = 20s) {
    ClientRequest request;
    request.target = target;
    return run(io, http.send(std::move(request), in(time), kLimit));
  }

  asio::io_context io{1};
  HttpClient http;
};

TEST(Url, IsReadWhole) {
  const auto url = parse_url("https://kube.example:6443/prefix?x=1");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->origin, (Origin{.host = "kube.example", .port = 6443}));
  EXPECT_EQ(url->target, "/prefix?x=1");

  const auto v6 = parse_url("http://[fd00::1]");
  ASSERT_TRUE(v6) << v6.error().message;
  EXPECT_EQ(v6->origin, (Origin{.tls = false, .host = "fd00::1", .port = 80}));
  EXPECT_EQ(v6->target, "/");
  EXPECT_EQ(to_text(v6->origin), "http://[fd00::1]:80");
}

TEST(Url, SaysWhyItIsNone) {
  struct Case {
    const char* url;
    const char* error;
  };
  const Case cases[] = {
      {"kube.example:6443", "URL \"kube.example:6443\" does not begin with https:// or http://"},
      {"https://", "URL \"https://\" names no host"},
      {"https://a:0/", "URL \"https://a:0/\" has no valid port"},
      {"https://a:65536", "URL \"https://a:65536\" has no valid port"},
      {"https://u:p@a", "URL \"https://u:p@a\" has no valid port"},
      {"https://fd00::1", "URL \"https://fd00::1\" has no valid port"},
      {"https://[fd00::1", "URL \"https://[fd00::1\" has no ] after its IPv6 address"},
      {"https://a/#b", "URL \"https://a/#b\" has a fragment"},
      {"https://a/b c", "URL \"https://a/b c\" has blanks or control characters"},
  };
  for (const Case& c : cases) {
    const auto url = parse_url(c.url);
    ASSERT_FALSE(url) << c.url;
    EXPECT_EQ(url.error().message, c.error);
  }
}

TEST(Address, NeedsHostAndPort) {
  EXPECT_EQ(parse_address("10.0.0.1:443").value(),
            std::pair(std::string("10.0.0.1"), std::uint16_t{443}));
  EXPECT_EQ(parse_address("[::1]:8443").value(),
            std::pair(std::string("::1"), std::uint16_t{8443}));
  EXPECT_EQ(parse_address("10.0.0.1").error().message, "address \"10.0.0.1\" has no port");
}

TEST(HttpClient, KeepsItsConnectionBetweenRequests) {
  ScriptedServer server([](const ServerRequest& request, ServerSession& session) {
    session.respond(request.path == "/missing" ? 404 : 200, request.method + " " + request.target,
                    "Retry-After: 7\r\n");
  });
  Client client(server);
  const auto first = client.get("/a?b=c");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body, "GET /a?b=c");
  ASSERT_NE(find_header(first->headers, "retry-after"), nullptr);
  EXPECT_EQ(*find_header(first->headers, "retry-after"), "7");
  EXPECT_EQ(client.get("/missing").value().status, 404);

  ClientRequest post;
  post.method = "POST";
  post.target = "/p";
  post.headers = {{"Content-Type", "application/json"}};
  post.body = "{}";
  EXPECT_EQ(run(client.io, client.http.send(std::move(post), in(20s), kLimit)).value().body,
            "POST /p");
  EXPECT_EQ(server.connections(), 1u);
  const ServerRequest last = server.requests().back();
  EXPECT_EQ(last.body, "{}");
  EXPECT_EQ(last.header("content-length"), "2");
  EXPECT_EQ(last.header("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(HttpClient, SendsOnceMoreWhereAnIdleConnectionHadEnded) {
  ScriptedServer server([](const ServerRequest&, ServerSession& session) {
    session.respond(200, "ok");
    session.cut();
  });
  Client client(server);
  EXPECT_EQ(client.get("/1").value().body, "ok");
  EXPECT_EQ(client.get("/2").value().body, "ok");
  EXPECT_EQ(server.connections(), 2u);
}

TEST(HttpClient, DoesNotRepeatARequestThatANewConnectionLost) {
  ScriptedServer server([](const ServerRequest&, ServerSession& session) { session.cut(); });
  Client client(server);
  const auto answer = client.get("/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, ClientFailure::broken);
  EXPECT_EQ(answer.error().message,
            "the connection to " + server.url() + " broke: the server ended it");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, DistinguishesWhatGoesWrong) {
  struct Case {
    const char* name;
    const char* answer;
    ClientFailure what;
    const char* message;
  };
  const Case cases[] = {
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", ClientFailure::broken, "what came is not HTTP"},
      {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", ClientFailure::broken,
       "the server ended it"},
      {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
       ClientFailure::broken, "the server ended it"},
      {"announced too large", "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n",
       ClientFailure::too_large, "is larger than 1048576 bytes"},
      {"absurdly large", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
       ClientFailure::too_large, "announces too much"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ScriptedServer server([&](const ServerRequest&, ServerSession& session) {
      session.send(c.answer);
      session.cut();
    });
    const auto answer = Client(server).get("/");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what, c.what) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(c.message));
  }
}

TEST(HttpClient, EndsAChunkedAnswerOverTheLimit) {
  ScriptedServer server([](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    for (int i = 0; i < 40 && !session.is_over(); ++i) session.chunk(std::string(64 << 10, 'x'));
  });
  const auto answer = Client(server).get("/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, ClientFailure::too_large) << answer.error().message;
}

TEST(HttpClient, KeepsItsDeadline) {
  ScriptedServer silent(
      [](const ServerRequest&, ServerSession& session) { session.wait_for_end(); });
  const auto begun = std::chrono::steady_clock::now();
  const auto answer = Client(silent).get("/", 100ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, ClientFailure::timeout);
  EXPECT_THAT(answer.error().message, testing::ContainsRegex("did not answer within [0-9]+ ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST(HttpClient, NamesTheServerThatRefuses) {
  std::optional<ScriptedServer> server;
  server.emplace([](const ServerRequest&, ServerSession&) {});
  Client client(*server);
  const std::string url = server->url();
  server.reset();
  const auto answer = client.get("/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, ClientFailure::connect);
  EXPECT_EQ(answer.error().message, "cannot connect to " + url + ": Connection refused");
}

TEST(HttpClient, RefusesToSendALineBreak) {
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, ""); });
  Client client(server);
  EXPECT_FALSE(client.get("/a HTTP/1.1\r\nX: y"));
  ClientRequest request;
  request.headers = {{"Authorization", "Bearer a\r\nX: y"}};
  EXPECT_FALSE(run(client.io, client.http.send(std::move(request), in(20s), kLimit)));
  EXPECT_TRUE(server.requests().empty());
}

TEST(Tls, VerifiesWhoTheServerIs) {
  const Authority authority;
  const Authority stranger("another-ca");
  struct Case {
    const char* name;
    const char* names;        // of the server's certificate
    const char* server_name;  // that the client wants
    bool trusted;
    const char* error;  // "" = works
  };
  const Case cases[] = {
      {"address", "IP:127.0.0.1", "", true, ""},
      {"name", "DNS:kubernetes.default.svc", "kubernetes.default.svc", true, ""},
      {"other address", "IP:127.0.0.2", "", true, "IP address mismatch"},
      {"other name", "DNS:elsewhere", "kubernetes.default.svc", true, "hostname mismatch"},
      {"name instead of address", "DNS:localhost", "", true, "IP address mismatch"},
      {"unknown CA", "IP:127.0.0.1", "", false, "unable to get local issuer certificate"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ScriptedServer server(
        [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); },
        authority.issue("server", c.names));
    Origin origin = origin_of(server);
    origin.server_name = c.server_name;
    asio::io_context io(1);
    HttpClient http(io.get_executor(), origin, trusting(c.trusted ? authority : stranger));
    const auto answer = run(io, http.send(ClientRequest(), in(20s), kLimit));
    if (*c.error == '\0') {
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(answer->body, "ok");
    } else {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().what, ClientFailure::tls);
      EXPECT_EQ(answer.error().message,
                "no TLS with " + server.url() + ": its certificate is not accepted: " + c.error);
    }
  }
}

TEST(Tls, ShowsTheClientsCertificate) {
  const Authority authority;
  const PemPair client_identity = authority.issue("client", "");
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); },
      authority.issue("server", "IP:127.0.0.1"));
  server.require_client_certificate(authority.certificate());
  const auto tls = client_tls({.ca = authority.certificate(),
                               .certificate = client_identity.certificate,
                               .key = client_identity.key});
  ASSERT_TRUE(tls) << tls.error().message;
  EXPECT_EQ(Client(server, *tls).get("/").value().body, "ok");
  EXPECT_FALSE(Client(server, trusting(authority)).get("/"));
}

// As other Kubernetes clients do: some clusters' CA file holds an intermediate alone.
TEST(Tls, TakesAnIntermediateForAnAnchor) {
  const Authority root("root-ca");
  const Authority intermediate("cluster-ca", root);
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); },
      intermediate.issue("server", "IP:127.0.0.1"));
  EXPECT_EQ(Client(server, trusting(intermediate)).get("/").value().body, "ok");
  EXPECT_FALSE(Client(server, trusting(root)).get("/"));  // the chain to it is not shown
}

TEST(Tls, ACommonNameIsNoName) {
  const Authority authority;
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); },
      authority.issue("localhost", ""));
  Origin origin = origin_of(server);
  origin.server_name = "localhost";
  asio::io_context io(1);
  HttpClient http(io.get_executor(), origin, trusting(authority));
  const auto answer = run(io, http.send(ClientRequest(), in(20s), kLimit));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, ClientFailure::tls);
}

TEST(Tls, MaySkipVerification) {
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); },
      Authority().issue("server", "DNS:elsewhere"));
  EXPECT_EQ(
      Client(server, client_tls({.insecure_skip_verify = true}).value()).get("/").value().body,
      "ok");
}

TEST(Tls, SaysWhichPartIsUnusable) {
  const Authority authority;
  const PemPair one = authority.issue("one", "");
  const PemPair two = authority.issue("two", "");
  EXPECT_THAT(client_tls({.ca = "junk"}).error().message,
              HasSubstr("the CA is no PEM certificate"));
  EXPECT_THAT(client_tls({.certificate = "junk", .key = one.key}).error().message,
              HasSubstr("the client certificate is no PEM certificate"));
  EXPECT_THAT(client_tls({.certificate = one.certificate, .key = two.key}).error().message,
              HasSubstr("the client key does not fit"));
}

TEST(ClientConnection, BringsAStreamAsItArrives) {
  std::promise<void> first_seen;
  ScriptedServer server([&](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    session.chunk("one\n");
    first_seen.get_future().wait();
    session.chunk("two\n");
    session.end_stream();
  });
  asio::io_context io(1);
  ClientConnection connection(io.get_executor(), origin_of(server), nullptr);
  ASSERT_EQ(run(io, connection.open(ClientRequest(), in(20s))).value().status, 200);
  std::string body;
  EXPECT_EQ(run(io, connection.read_some(body, in(20s))).value(), 4u);
  EXPECT_EQ(body, "one\n");
  first_seen.set_value();
  EXPECT_EQ(run(io, connection.read_some(body, in(20s))).value(), 4u);
  EXPECT_EQ(run(io, connection.read_some(body, in(20s))).value(), 0u);
  EXPECT_EQ(body, "one\ntwo\n");
  EXPECT_TRUE(connection.is_reusable());
}

TEST(ClientConnection, ClosingItEndsWhoWaits) {
  ScriptedServer server([](const ServerRequest&, ServerSession& session) {
    session.begin_stream();
    session.wait_for_end();
  });
  asio::io_context io(1);
  ClientConnection connection(io.get_executor(), origin_of(server), nullptr);
  ASSERT_TRUE(run(io, connection.open(ClientRequest(), in(20s))));
  std::string body;
  asio::post(io, [&] { connection.close(); });
  const auto read = run(io, connection.read_some(body, Deadline::max()));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, ClientFailure::broken);
  EXPECT_FALSE(connection.is_reusable());
}

TEST(ClientConnection, LooksUpNames) {
  ScriptedServer server(
      [](const ServerRequest&, ServerSession& session) { session.respond(200, "ok"); });
  asio::io_context io(1);
  Origin origin = origin_of(server);
  origin.host = "localhost";
  origin.connect_host = "";
  HttpClient http(io.get_executor(), origin, nullptr);
  EXPECT_EQ(run(io, http.send(ClientRequest(), in(20s), kLimit)).value().body, "ok");
  origin.host = "does-not-exist.invalid";
  HttpClient nowhere(io.get_executor(), origin, nullptr);
  const auto answer = run(io, nowhere.send(ClientRequest(), in(20s), kLimit));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("host \"does-not-exist.invalid\""));
}

}  // namespace
}  // namespace xila::net
