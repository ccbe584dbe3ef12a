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

}  // namespace
}  // namespace xila::net
