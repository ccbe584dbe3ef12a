#include "xila/net/tls.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

#include "fakes/certificates.hpp"
#include "raw_client.hpp"
#include "tls_server.hpp"

namespace xila::net {
namespace {

namespace ssl = boost::asio::ssl;
using test::for_localhost;
using test::material_of;
using test::TlsServer;
using xila::test::Authority;
using xila::test::PemPair;

TEST(TlsIdentity, SaysWhatIsUnusable) {
  const Authority authority;
  const PemPair good = for_localhost(authority);
  const PemPair other = for_localhost(authority);
  const struct {
    const char* name;
    TlsMaterial material;
    const char* message;
  } cases[] = {
      {"no certificate", {"", good.key, {}}, "certificate: no start line"},
      {"text", {"hello", good.key, {}}, "certificate: no start line"},
      {"no key",
       {good.certificate, "", {}},
       "private key: unsupported (DECODER routines); expected the certificate's own key as "
       "unencrypted PEM"},
      {"key of another",
       {good.certificate, other.key, {}},
       "private key: key values mismatch (x509 certificate routines); expected the certificate's "
       "own key as unencrypted PEM"},
      {"client CA is no PEM",
       {good.certificate, good.key, "hello"},
       "client CA: no start line (PEM routines)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto identity = make_tls_identity(c.material);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().message, c.message);
  }
}

TEST(TlsIdentity, TellsTheLeafsNameAndTimes) {
  const Authority authority;
  const auto now = std::chrono::system_clock::now();
  const auto identity = make_tls_identity(material_of(for_localhost(authority, "guard")));
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->subject, "CN=guard");
  EXPECT_NEAR(std::chrono::duration<double>(identity->not_after - now).count(), 24 * 3600, 5);
  EXPECT_NEAR(std::chrono::duration<double>(now - identity->not_before).count(), 3600, 5);
  EXPECT_FALSE(identity->asks_for_client_certificate);
}

TEST(TlsFiles, NamesTheFileThatCannotBeRead) {
  const auto material = read_tls_files({"/nonexistent/tls.crt", "/nonexistent/tls.key", {}});
  ASSERT_FALSE(material);
  EXPECT_EQ(material.error().message, "/nonexistent/tls.crt: No such file or directory");
}

// What a client sees of one handshake and one request.
struct Visit {
  bool connected = false;
  std::string subject;
  std::string protocol;
  std::string answer;
};

struct ClientForm {
  std::string trusted;
  std::optional<TlsMaterial> identity;
  int max_version = TLS1_3_VERSION;
};

Visit visit(std::uint16_t port, const ClientForm& form) {
  ssl::context context(ssl::context::tls_client);
  context.add_certificate_authority(boost::asio::buffer(form.trusted));
  context.set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_max_proto_version(context.native_handle(), form.max_version);
  if (form.identity) {
    context.use_certificate_chain(boost::asio::buffer(form.identity->certificate_chain));
    context.use_private_key(boost::asio::buffer(form.identity->private_key), ssl::context::pem);
  }
  boost::asio::io_context io;
  ssl::stream<boost::asio::ip::tcp::socket> stream(io, context);
  stream.next_layer().connect({boost::asio::ip::address_v4::loopback(), port});
  boost::system::error_code error;
  stream.handshake(ssl::stream_base::client, error);
  Visit seen;
  if (error) return seen;
  boost::asio::write(
      stream, boost::asio::buffer(test::post("/a", "hello", "Connection: close\r\n")), error);
  boost::asio::read(stream, boost::asio::dynamic_buffer(seen.answer), error);
  seen.connected = !seen.answer.empty();
  seen.protocol = SSL_get_version(stream.native_handle());
  const std::unique_ptr<X509, decltype(&X509_free)> leaf(
      SSL_get1_peer_certificate(stream.native_handle()), X509_free);
  char name[256];
  X509_NAME_get_text_by_NID(X509_get_subject_name(leaf.get()), NID_commonName, name, sizeof name);
  seen.subject = name;
  return seen;
}

Response tell_peer(const Request& request) {
  return Response{.body = request.peer.client_verified ? "verified" : "anyone"};
}

TEST(TlsServer, SpeaksTls12And13AndNothingOlder) {
  const Authority authority;
  const TlsServer server(*make_tls_identity(material_of(for_localhost(authority))), tell_peer);
  EXPECT_EQ(visit(server.port(), {authority.certificate()}).protocol, "TLSv1.3");
  EXPECT_EQ(visit(server.port(), {authority.certificate(), {}, TLS1_2_VERSION}).protocol,
            "TLSv1.2");
  EXPECT_FALSE(visit(server.port(), {authority.certificate(), {}, TLS1_1_VERSION}).connected);
}

TEST(TlsServer, ShowsANewIdentityToNewHandshakes) {
  const Authority old_authority("old-ca");
  const Authority new_authority("new-ca");
  TlsServer server(*make_tls_identity(material_of(for_localhost(old_authority, "old"))), tell_peer);
  EXPECT_EQ(visit(server.port(), {old_authority.certificate()}).subject, "old");
  server.server().use(*make_tls_identity(material_of(for_localhost(new_authority, "new"))));
  EXPECT_EQ(visit(server.port(), {new_authority.certificate()}).subject, "new");
  EXPECT_FALSE(visit(server.port(), {old_authority.certificate()}).connected);
}

TEST(TlsServer, WithAClientCaTakesOnlyItsClients) {
  const Authority authority;
  const Authority client_authority("client-ca");
  TlsMaterial material = material_of(for_localhost(authority));
  material.client_ca = client_authority.certificate();
  TlsServer server(*make_tls_identity(material), tell_peer);

  const std::string trusted = authority.certificate();
  const TlsMaterial client = material_of(client_authority.issue("apiserver", ""));
  const TlsMaterial stranger = material_of(authority.issue("apiserver", ""));
  EXPECT_EQ(test::body_of(visit(server.port(), {trusted, client}).answer), "verified");
  EXPECT_FALSE(visit(server.port(), {trusted}).connected);
  EXPECT_FALSE(visit(server.port(), {trusted, stranger}).connected);
  // A peer can know of its failure before the server has counted it.
  server.server().stop(std::chrono::seconds(5));
  EXPECT_EQ(server.metrics().dropped_connections.value("test", "handshake_failed"), 2);
}

TEST(TlsServer, WithoutAClientCaKnowsNobody) {
  const Authority authority;
  const TlsServer server(*make_tls_identity(material_of(for_localhost(authority))), tell_peer);
  EXPECT_EQ(test::body_of(visit(server.port(), {authority.certificate()}).answer), "anyone");
}

TEST(TlsServer, OutlivesPeersThatSpeakNoTls) {
  const Authority authority;
  const TlsServer server(*make_tls_identity(material_of(for_localhost(authority))), tell_peer);
  for (const char* bytes :
       {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "\x16\x03\x01\xff\xff garbage"}) {
    test::RawClient client(server.port());
    client.send(bytes);
  }
  EXPECT_TRUE(visit(server.port(), {authority.certificate()}).connected);
}

}  // namespace
}  // namespace xila::net
