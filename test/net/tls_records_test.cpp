#include <string>

#include <gtest/gtest.h>

#include "record_client.hpp"
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
    client.put_key_update();
    client.send();
    EXPECT_EQ(body_of(client.answer()), body);
  }
}

}  // namespace
}  // namespace xila::net
