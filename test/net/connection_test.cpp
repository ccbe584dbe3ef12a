#include "connection.hpp"

#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>

namespace xila::net {
namespace {

// Two ends of a connection over loopback.
struct Ends {
  Ends() {
    tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    client.connect(acceptor.local_endpoint());
    acceptor.accept(server);
  }
  // Until it has arrived.
  void send_to_server(std::string_view text) {
    boost::asio::write(client, boost::asio::buffer(text));
    server.wait(tcp::socket::wait_read);
  }

  boost::asio::io_context io;
  tcp::socket client{io};
  tcp::socket server{io};
};

TEST(Connections, StoppingClosesWhatIdlesAndNotWhatHasARequestWaiting) {
  struct Case {
    const char* name;
    Phase phase;
    const char* sent;
    bool stays;
  };
  const Case cases[] = {
      {"idle", Phase::idle, "", false},
      {"idle, and a request has come", Phase::idle, "POST", true},
      {"in the middle of a request", Phase::body, "", true},
      {"being answered", Phase::answer, "", true},
      {"reading its answer", Phase::send, "", true},
      {"refused, and the rest of its body is skipped", Phase::skip, "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Ends ends;
    if (*c.sent != '\0') ends.send_to_server(c.sent);
    Connection connection{.socket = &ends.server, .phase = c.phase, .has_asked = true};
    Connections connections;
    connections.add(connection);
    EXPECT_EQ(connections.close_idle(Patience::with_work_only), c.stays ? 1U : 0U);
    EXPECT_EQ(ends.server.is_open(), c.stays);
  }
}

TEST(Connections, TheOneThatIsMissedLeastGivesItsPlace) {
  using namespace std::chrono_literals;
  struct Case {
    const char* name;
    Phase phase;
    bool has_asked;
    std::chrono::milliseconds since;  // ago
    bool is_evicted;
  };
  const Case cases[] = {
      {"never shook hands", Phase::handshake, false, 0s, true},
      {"never asked", Phase::idle, false, 0s, true},
      {"idle", Phase::idle, true, 0s, true},
      {"in its head", Phase::header, true, 500ms, false},
      {"stopped in its head", Phase::header, true, 2s, true},
      {"in its body", Phase::body, true, 500ms, false},
      {"stopped in its body", Phase::body, true, 2s, true},
      {"being answered", Phase::answer, true, 30s, false},
      {"reads its answer", Phase::send, true, 500ms, false},
      {"does not read its answer", Phase::send, true, 2s, true},
      {"has its refusal, sends its body", Phase::skip, true, 500ms, false},
      {"has its refusal, stopped in its body", Phase::skip, true, 2s, true},
      {"closing", Phase::closing, true, 0s, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Ends ends;
    const SteadyTime now = std::chrono::steady_clock::now();
    Connection connection{
        .socket = &ends.server, .phase = c.phase, .since = now - c.since, .has_asked = c.has_asked};
    Connections connections;
    connections.add(connection);
    EXPECT_EQ(connections.evict_one(now), c.is_evicted);
    EXPECT_EQ(ends.server.is_open(), !c.is_evicted);
  }
}

TEST(Connections, AnIdleOneWhoseRequestHasComeKeepsItsPlaceWhileThereAreOthers) {
  using namespace std::chrono_literals;
  const SteadyTime now = std::chrono::steady_clock::now();
  Ends asking_ends;
  asking_ends.send_to_server("POST");
  Ends idle_ends;
  Connection asking{.socket = &asking_ends.server, .phase = Phase::idle, .since = now - 9s};
  Connection idle{.socket = &idle_ends.server, .phase = Phase::idle, .since = now - 1s};
  Connections connections;
  connections.add(asking);
  connections.add(idle);
  EXPECT_TRUE(connections.evict_one(now));
  EXPECT_TRUE(asking_ends.server.is_open());
  EXPECT_FALSE(idle_ends.server.is_open());
}

}  // namespace
}  // namespace xila::net
