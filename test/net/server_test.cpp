#include "xila/net/server.hpp"

#include <atomic>
#include <deque>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "raw_client.hpp"

namespace xila::net {
namespace {

using namespace std::chrono_literals;
using boost::asio::awaitable;
using test::body_of;
using test::post;
using test::RawClient;
using test::says_close;
using test::status_of;

awaitable<Response> echo(const Request& request) {
  co_return Response{.body = request.method + " " + request.path + "?" + request.query + " " +
                             std::string(request.body)};
}

std::optional<Response> refuse_forbidden_path(const RequestHead& head) {
  if (head.path == "/forbidden") return Response{.status = 404, .body = "no such path\n"};
  return std::nullopt;
}

// A server over plain TCP on a free port.
class Fixture {
 public:
  explicit Fixture(Limits limits = {}, decltype(Service::answer) answer = echo,
                   unsigned threads = 2)
      : service_{refuse_forbidden_path, std::move(answer)},
        server_({.listener = "test", .address = "127.0.0.1", .threads = threads, .limits = limits},
                service_, metrics_),
        port_(server_.start().value()) {}

  RawClient client() { return RawClient(port_); }
  Server& server() { return server_; }
  std::uint16_t port() const { return port_; }
  telemetry::Metrics& metrics() { return metrics_; }

 private:
  telemetry::Metrics metrics_;
  Service service_;
  Server server_;
  std::uint16_t port_;
};

TEST(Server, AnswersManyRequestsOnOneConnection) {
  Fixture fixture;
  RawClient client = fixture.client();
  for (int i = 0; i < 50; ++i) {
    const std::string body(static_cast<std::size_t>(i) * 997, 'x');
    client.send(post("/a?timeout=10s", body));
    EXPECT_EQ(body_of(client.answer()), "POST /a?timeout=10s " + body);
  }
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send(post("/1", "a") + post("/2", "b") + post("/3", "c"));
  EXPECT_EQ(body_of(client.answer()), "POST /1? a");
  EXPECT_EQ(body_of(client.answer()), "POST /2? b");
  EXPECT_EQ(body_of(client.answer()), "POST /3? c");
}

TEST(Server, ReadsBodiesThatComeInPieces) {
  Fixture fixture;
  RawClient client = fixture.client();
  const std::string request = post("/a", "0123456789");
  for (const char c : request) client.send(std::string_view(&c, 1));
  EXPECT_EQ(body_of(client.answer()), "POST /a? 0123456789");
}

TEST(Server, ReadsChunkedBodies) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("4;ext=1\r\ndefg\r\n0\r\n\r\n");
  EXPECT_EQ(body_of(client.answer()), "POST /a? abcdefg");
  client.send(post("/b", "next"));
  EXPECT_EQ(body_of(client.answer()), "POST /b? next");
}

TEST(Server, TakesBodiesUpToTheLimitAndGivesTheirMemoryBack) {
  Fixture fixture({.body_bytes = 6 << 20, .total_body_bytes = 7 << 20});
  RawClient client = fixture.client();
  for (int i = 0; i < 4; ++i) {
    const std::string body(6 << 20, 'x');
    client.send(post("/a", body));
    EXPECT_EQ(body_of(client.answer()).size(), body.size() + 9);
  }
}

TEST(Server, RefusesALargeBodyFromItsLengthAlone) {
  Fixture fixture({.body_bytes = 1000});
  RawClient client = fixture.client();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
  const std::string answer = client.answer();
  EXPECT_EQ(status_of(answer), 413);
  EXPECT_EQ(body_of(answer), "request body over the limit of 1000 bytes\n");
  EXPECT_TRUE(says_close(answer));
}

TEST(Server, RefusesAChunkedBodyOnceItIsTooLarge) {
  Fixture fixture({.body_bytes = 1000});
  RawClient client = fixture.client();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send("3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\nx\r\n");
  EXPECT_EQ(status_of(client.answer()), 413);
}

TEST(Server, RefusesBodiesPastTheMemoryOfAll) {
  std::promise<void> entered;
  std::atomic<bool> released{false};
  const auto wait = [&](const Request&) -> awaitable<Response> {
    entered.set_value();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (!released.load()) {
      timer.expires_after(1ms);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    Response response;
    co_return response;
  };
  Fixture fixture({.total_body_bytes = 1500, .uncounted_body_bytes = 0}, wait);
  RawClient first = fixture.client();
  first.send(post("/a", std::string(1000, 'x')));
  entered.get_future().wait();

  RawClient second = fixture.client();
  second.send(post("/b", std::string(1000, 'x')));
  const std::string answer = second.answer();
  released = true;
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_EQ(answer.find("Retry-After"), std::string::npos);
  EXPECT_EQ(status_of(first.answer()), 200);
}

TEST(Server, AnswersBadRequestsInWords) {
  const struct {
    const char* name;
    std::string bytes;
    int status;
  } cases[] = {
      {"no HTTP", "hello there\r\n\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"two lengths", "POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400},
      {"length and chunked",
       "POST /a HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"length is no number", "POST /a HTTP/1.1\r\nContent-Length: 1x\r\n\r\nx", 400},
      {"negative length", "POST /a HTTP/1.1\r\nContent-Length: -1\r\n\r\nx", 400},
      {"a transfer coding without an end", "POST /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nx",
       400},
      {"chunked, but not last",
       "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400},
      {"length and another coding",
       "POST /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: gzip\r\n\r\nx", 400},
      {"broken chunk", "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx", 400},
      {"long head", "POST /a HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
      {"unwanted path", post("/forbidden", "x"), 404},
  };
  Fixture fixture;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    RawClient client = fixture.client();
    client.send(c.bytes);
    EXPECT_EQ(status_of(client.answer()), c.status);
  }
}

TEST(Server, KeepsTheConnectionAfterARefusedSmallBody) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send(post("/forbidden", std::string(10'000, 'x')));
  EXPECT_EQ(status_of(client.answer()), 404);
  client.send(post("/a", "next"));
  EXPECT_EQ(body_of(client.answer()), "POST /a? next");
}

TEST(Server, SaysContinueToThoseWhoWaitForIt) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(client.answer()), 100);
  client.send("abc");
  EXPECT_EQ(body_of(client.answer()), "POST /a? abc");
}

TEST(Server, ClosesWhenAskedTo) {
  Fixture fixture;
  const std::pair<std::string, bool> cases[] = {
      {post("/a", "x", "Connection: close\r\n"), true},
      {"POST /a HTTP/1.0\r\nContent-Length: 1\r\n\r\nx", true},
      {"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", false},
      {post("/a", "x"), false},
  };
  for (const auto& [request, closes] : cases) {
    SCOPED_TRACE(request);
    RawClient client = fixture.client();
    client.send(request);
    const std::string answer = client.answer();
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(says_close(answer), closes);
    if (closes) {
      EXPECT_TRUE(client.is_closed());
    }
  }
}

// A head that was not understood does not take anything from the one before it.
TEST(Server, RefusesABadHeadInFullWhateverCameBefore) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n");
  EXPECT_TRUE(client.rest().ends_with("\r\n\r\nnot an HTTP/1.1 request\n"));
}

// RFC 9110, section 15.2.
TEST(Server, DoesNotTellAnHttp10ClientToContinue) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send("POST /a HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  client.send("x");
  EXPECT_EQ(status_of(client.answer()), 200);
}

TEST(Server, AnswersHeadWithoutABody) {
  Fixture fixture;
  RawClient client = fixture.client();
  client.send(
      "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nHEAD /b HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n");
  EXPECT_TRUE(client.is_closed());
}

TEST(Server, EndsConnectionsThatTakeTooLong) {
  const struct {
    const char* name;
    Limits limits;
    std::string bytes;
    const char* reason;
  } cases[] = {
      {"says nothing", {.idle = 0s}, "", "idle_timeout"},
      {"half a head", {.header = 0s}, "POST /a HTTP/1.1\r\nHos", "header_timeout"},
      {"half a body",
       {.body = 0s},
       "POST /a HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc",
       "body_timeout"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Fixture fixture(c.limits);
    RawClient client = fixture.client();
    client.send(c.bytes);
    EXPECT_TRUE(client.is_closed());
    fixture.server().stop(1s);
    EXPECT_EQ(fixture.metrics().dropped_connections.value("test", c.reason), 1);
  }
}

TEST(Server, MakesRoomForNewConnectionsFromIdleOnes) {
  Fixture fixture({.connections = 4}, echo, 1);
  std::deque<RawClient> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back(fixture.port());
    clients.back().send(post("/a", "x"));
    EXPECT_EQ(status_of(clients.back().answer()), 200);
  }
  EXPECT_EQ(fixture.metrics().dropped_connections.value("test", "evicted"), 8);
}

TEST(Server, ClosesOldConnectionsWithAnAnswer) {
  Fixture fixture({.age = 0s});
  RawClient client = fixture.client();
  client.send(post("/a", "x"));
  EXPECT_TRUE(says_close(client.answer()));
}

TEST(Server, RefusesChunkLinesWithoutEnd) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string endless(100'000, 'a');
  for (const std::string& line : {"5;" + endless, "0\r\nA: " + endless, endless}) {
    SCOPED_TRACE(line.substr(0, 10));
    Fixture fixture;
    RawClient client = fixture.client();
    client.send(head + line);
    const std::string answer = client.answer();
    EXPECT_EQ(status_of(answer), 400);
    EXPECT_TRUE(says_close(answer));
  }
}

TEST(Server, AnswersWhatIsInFlightBeforeItStops) {
  std::promise<void> entered;
  const auto slow = [&](const Request& request) -> awaitable<Response> {
    entered.set_value();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 200ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    Response response{.body = std::string(request.body)};
    co_return response;
  };
  Fixture fixture({}, slow);
  RawClient client = fixture.client();
  client.send(post("/a", "in flight"));
  entered.get_future().wait();
  EXPECT_EQ(fixture.server().stop(10s), 0u);
  const std::string answer = client.answer();
  EXPECT_EQ(body_of(answer), "in flight");
  EXPECT_TRUE(says_close(answer));
}

TEST(Server, TakesNewConnectionsWhileItDrains) {
  Fixture fixture;
  fixture.server().drain();
  RawClient client = fixture.client();
  client.send(post("/a", "x"));
  const std::string answer = client.answer();
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(says_close(answer));
}

TEST(Server, StopsWhileClientsHoldIdleConnections) {
  Fixture fixture;
  RawClient idle = fixture.client();
  idle.send(post("/a", "x"));
  EXPECT_EQ(status_of(idle.answer()), 200);
  EXPECT_EQ(fixture.server().stop(10s), 0u);
  EXPECT_TRUE(idle.is_closed());
}

TEST(Server, SaysWhyItCannotListen) {
  telemetry::Metrics metrics;
  const Service service{refuse_forbidden_path, echo};
  Server wrong({.listener = "test", .address = "nowhere"}, service, metrics);
  EXPECT_EQ(wrong.start().error().message, "\"nowhere\" is not an IP address");

  Fixture first;
  Server second({.listener = "test", .address = "127.0.0.1", .port = first.port()}, service,
                metrics);
  EXPECT_EQ(
      second.start().error().message,
      "cannot listen on 127.0.0.1:" + std::to_string(first.port()) + ": Address already in use");
}

// One thread is held until both have sent all of theirs, then takes what came first first.
TEST(Server, WhoIsRefusedAThousandTimesInARowKeepsNobodyWaiting) {
  std::promise<void> entered;
  std::promise<void> go_on;
  std::atomic<int> refused{0};
  std::atomic<int> refused_before{-1};
  telemetry::Metrics metrics;
  const Service service{[&](const RequestHead& head) -> std::optional<Response> {
                          if (head.path != "/refused") return std::nullopt;
                          ++refused;
                          return Response{.status = 404};
                        },
                        [&](const Request& request) {
                          if (request.path == "/hold") {
                            entered.set_value();
                            go_on.get_future().wait();
                          } else {
                            refused_before = refused.load();
                          }
                          return Response{};
                        }};
  Server server({.listener = "test", .address = "127.0.0.1"}, service, metrics);
  const std::uint16_t port = server.start().value();
  RawClient holder(port);
  RawClient flood(port);
  RawClient other(port);
  for (RawClient* client : {&flood, &other}) {  // both are accepted before the thread is held
    client->send(post("/first", ""));
    EXPECT_EQ(status_of(client->answer()), 200);
  }
  holder.send(post("/hold", ""));
  entered.get_future().wait();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "GET /refused HTTP/1.1\r\n\r\n";
  flood.send(many);
  other.send(post("/other", ""));
  go_on.set_value();
  EXPECT_EQ(status_of(other.answer()), 200);
  EXPECT_LT(refused_before, 100);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(status_of(flood.answer()), 404);
}

TEST(Server, AnswersManyConnectionsAtOnce) {
  Fixture fixture({}, echo, 2);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int c = 0; c < 10; ++c) {
        RawClient client = fixture.client();
        for (int i = 0; i < 20; ++i) {
          const std::string body = std::to_string(t * 1000 + c * 20 + i);
          client.send(post("/a", body));
          right += body_of(client.answer()) == "POST /a? " + body ? 1 : 0;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 10 * 20);
}

}  // namespace
}  // namespace xila::net
