#include <chrono>
#include <future>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "connection.hpp"
#include "record_client.hpp"
#include "stream.hpp"
#include "tls_server.hpp"

namespace xila::net {
namespace {

using test::body_of;
using test::for_localhost;
using test::material_of;
using test::post;
using test::RecordClient;
using test::TlsServer;
using xila::test::Authority;

Response echo(const Request& request) {
  return Response{.body = std::string(request.body)};
}

// Both versions, for their records and handshakes differ.
class TlsRecords : public testing::TestWithParam<int> {
 protected:
  RecordClient client() { return {server_.port(), authority_.certificate(), GetParam()}; }

  const Authority authority_;
  TlsServer server_{*make_tls_identity(material_of(for_localhost(authority_))), echo};
};

INSTANTIATE_TEST_SUITE_P(, TlsRecords, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](const auto& made) {
                           return made.param == TLS1_2_VERSION ? "Tls12" : "Tls13";
                         });

TEST_P(TlsRecords, RequestsThatCameTogetherAreAllAnswered) {
  RecordClient client = this->client();
  client.put(post("/a", "first"));
  client.put(post("/a", "second") + post("/a", "third"));
  client.put(post("/a", "fourth"));
  client.send();
  for (const char* body : {"first", "second", "third", "fourth"}) {
    EXPECT_EQ(body_of(client.answer()), body);
  }
}

TEST_P(TlsRecords, ARequestMayComeInRecordsOfOneByte) {
  RecordClient client = this->client();
  for (const char byte : post("/a", "hello")) {
    client.put({&byte, 1});
    client.send();
  }
  EXPECT_EQ(body_of(client.answer()), "hello");
}

TEST_P(TlsRecords, ARecordMayComeInPieces) {
  RecordClient client = this->client();
  client.put(post("/a", std::string(40'000, 'x')));
  client.send(1000);
  EXPECT_EQ(body_of(client.answer()).size(), 40'000U);
}

TEST_P(TlsRecords, LargeBodiesGoBothWays) {
  RecordClient client = this->client();
  for (const std::size_t size : {6U << 20, 100U, 65'536U, 65'537U, 16'384U, 1U << 20}) {
    const std::string body(size, 'x');
    client.put(post("/a", body));
    client.send();
    EXPECT_EQ(body_of(client.answer()), body) << size;
  }
}

// Each record ends in the middle of a field, so that the parser never has a large part of the head.
TEST_P(TlsRecords, HeadsAndTrailersAreLimitedHoweverTheyAreCutUp) {
  struct Case {
    std::string begin;
    int status;
  };
  const Case cases[] = {
      {"GET /a HTTP/1.1\r\nA", 431},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA", 400},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.begin);
    RecordClient client = this->client();
    client.put(c.begin);
    for (int i = 0; i < 4; ++i) client.put(": " + std::string(8000, 'x') + "\r\nA");
    client.put(": b\r\n\r\n");
    client.send();
    EXPECT_EQ(test::status_of(client.answer()), c.status);
  }
}

TEST_P(TlsRecords, HalfARecordIsTheBeginningOfARequest) {
  TlsServer server(*make_tls_identity(material_of(for_localhost(authority_))), echo,
                   {.header = std::chrono::seconds(0)});
  RecordClient client(server.port(), authority_.certificate(), GetParam());
  client.put(post("/a", "x"));
  client.send_half();
  EXPECT_EQ(client.answer(), "");
  server.server().stop(std::chrono::seconds(5));
  EXPECT_EQ(server.metrics().dropped_connections.value("test", "header_timeout"), 1);
}

TEST_P(TlsRecords, AStopWaitsForTheOtherHalfOfARecord) {
  RecordClient client = this->client();
  client.put(post("/a", "first"));
  client.send();
  EXPECT_EQ(body_of(client.answer()), "first");
  client.put(post("/a", "in two halves"));
  client.send_half();
  auto stopped = std::async(std::launch::async,
                            [&] { return server_.server().stop(std::chrono::seconds(20)); });
  // Long enough for many looks at what idles; the stop itself cannot be seen from here.
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  client.send();
  EXPECT_EQ(body_of(client.answer()), "in two halves");
  EXPECT_EQ(stopped.get(), 0U);
}

TEST_P(TlsRecords, APeerThatVanishesCostsNobodyElse) {
  for (int i = 0; i < 4; ++i) {
    RecordClient client = this->client();
    client.put(post("/a", std::string(1 << 20, 'x')));
    client.send();
    client.vanish();
  }
  RecordClient other = client();
  other.put(post("/a", "still there"));
  other.send();
  EXPECT_EQ(body_of(other.answer()), "still there");
}

TEST_P(TlsRecords, AGoodbyeIsReturned) {
  RecordClient client = this->client();
  client.put(post("/a", "x", "Connection: close\r\n"));
  client.put_goodbye();
  client.send();
  EXPECT_EQ(body_of(client.answer()), "x");
  EXPECT_TRUE(client.hears_goodbye());
}

TEST(TlsServer, TakesNewKeysInTheMiddleOfAConnection) {
  const Authority authority;
  const TlsServer server(*make_tls_identity(material_of(for_localhost(authority))), echo);
  RecordClient client(server.port(), authority.certificate());
  for (const char* body : {"old keys", "new keys", "newer keys"}) {
    client.put(post("/a", body));
    client.put_key_update(SSL_KEY_UPDATE_REQUESTED);
    client.send();
    EXPECT_EQ(body_of(client.answer()), body);
  }
}

// A server's end without a server, so that a test takes each step itself.
TEST(TlsStream, AStepEndsThoughThePeerSendsRecordsWithoutDataWithoutEnd) {
  const Authority authority;
  const TlsIdentity identity = *make_tls_identity(material_of(for_localhost(authority)));
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = acceptor.local_endpoint().port();
  auto connected = std::async(std::launch::async, [&] {
    return std::make_unique<RecordClient>(port, authority.certificate());
  });
  tcp::socket socket = acceptor.accept();
  socket.native_non_blocking(true);
  TlsStream stream(std::move(socket), *identity.context->native_handle());
  boost::asio::co_spawn(io, stream.handshake(), boost::asio::detached);
  io.run();
  const auto client = connected.get();

  for (int i = 0; i < 7'000; ++i) client->put_key_update(SSL_KEY_UPDATE_NOT_REQUESTED);
  client->put("at last");
  auto sent = std::async(std::launch::async, [&] { client->send(); });
  const int many = 180'000;  // bytes, more than one step takes
  setsockopt(stream.socket().native_handle(), SOL_SOCKET, SO_RCVLOWAT, &many, sizeof many);
  stream.socket().wait(tcp::socket::wait_read);

  char room[100];
  boost::system::error_code error;
  ASSERT_EQ(stream.try_read(boost::asio::buffer(room), error), 0U);
  EXPECT_EQ(error, boost::asio::error::would_block);
  EXPECT_EQ(stream.wanted(), std::nullopt) << "it is others' turn";

  const int any = 1;
  setsockopt(stream.socket().native_handle(), SOL_SOCKET, SO_RCVLOWAT, &any, sizeof any);
  std::size_t size = 0;
  while ((size = stream.try_read(boost::asio::buffer(room), error)) == 0) {
    ASSERT_EQ(error, boost::asio::error::would_block);
    if (stream.wanted()) stream.socket().wait(*stream.wanted());
  }
  EXPECT_EQ(std::string_view(room, size), "at last");
}

TEST(TlsServer, EndsAConnectionOnWhichOnlyKeysCome) {
  const Authority authority;
  TlsServer server(*make_tls_identity(material_of(for_localhost(authority))), echo);
  RecordClient client(server.port(), authority.certificate());
  for (int i = 0; i < 15'000; ++i) client.put_key_update(SSL_KEY_UPDATE_NOT_REQUESTED);
  client.put(post("/a", "too late"));
  client.send();
  EXPECT_EQ(client.answer(), "");
}

}  // namespace
}  // namespace xila::net
