#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "selftest_reviews.hpp"
#include "serving.hpp"
#include "xila/net/client.hpp"

namespace xila::cli {
namespace {

namespace asio = boost::asio;
using base::Result;

struct SelftestOptions {
  std::string url;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string connect;
  std::string server_name;
  std::chrono::milliseconds timeout{10'000};
  SelftestSubject subject;
};

constexpr std::size_t kAnswerBytes = 1 << 20;

constexpr const char* kExplanation =
    "Posts three reviews (dry runs) to a running server: a Pod that crosses nothing, the same Pod "
    "pinned to a node, privileged and in the node's network, and a deletion. Exit code 0 when each "
    "gets its right answer, 1 when one does not, 2 on bad usage.\n\n"
    "The bad Pod must be denied for node-pin, privileged and host-namespace (on a profile in mode "
    "warn or audit: allowed, with these recorded). The good Pod must not be denied for these; "
    "without --namespace a denial for tenant, and without --scheduler one for scheduler, is right "
    "as well, for the test cannot know them.";

Result<std::string> read(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || text.empty()) {
    return base::fail(path + ": " + (errno == 0 ? "is empty" : std::strerror(errno)));
  }
  return text;
}

Result<net::ClientTls> read_tls(const SelftestOptions& options) {
  const Result<std::string> ca = read(options.ca_file);
  if (!ca) return std::unexpected(ca.error());
  const Result<std::string> certificate = read(options.certificate_file);
  if (!certificate) return std::unexpected(certificate.error());
  const Result<std::string> key = read(options.key_file);
  if (!key) return std::unexpected(key.error());
  return net::client_tls({.ca = *ca, .certificate = *certificate, .key = *key});
}

Result<net::Url> read_url(const SelftestOptions& options) {
  Result<net::Url> url = net::parse_url(options.url);
  if (!url) return url;
  if (!url->origin.tls) return base::fail("--url must begin with https://");
  if (url->target == "/") url->target = "/validate";
  url->origin.server_name = options.server_name;
  if (!options.connect.empty()) {
    const auto address = net::parse_address(options.connect);
    if (!address) return std::unexpected(address.error());
    url->origin.connect_host = address->first;
    url->origin.connect_port = address->second;
  }
  return url;
}

std::string new_uid() {
  std::random_device random;
  std::string uid = "selftest-";
  for (int i = 0; i < 4; ++i) uid += std::to_string(random());
  return uid;
}

net::ClientResult<net::ClientResponse> post(net::HttpClient& client, asio::io_context& io,
                                            const std::string& target, std::string body,
                                            std::chrono::milliseconds timeout) {
  net::ClientRequest request{.method = "POST",
                             .target = target,
                             .headers = {{"Content-Type", "application/json"},
                                         {"Accept", "application/json"},
                                         {"User-Agent", "xila-guard-selftest"}},
                             .body = std::move(body)};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::optional<net::ClientResult<net::ClientResponse>> answer;
  asio::co_spawn(io, client.send(std::move(request), deadline, kAnswerBytes),
                 [&](std::exception_ptr failure, net::ClientResult<net::ClientResponse> result) {
                   if (failure) std::rethrow_exception(failure);
                   answer = std::move(result);
                 });
  io.restart();
  io.run();
  return std::move(*answer);
}

int selftest(const SelftestOptions& options) {
  const Result<net::Url> url = read_url(options);
  const Result<net::ClientTls> tls = read_tls(options);
  if (!url || !tls) {
    std::fprintf(stderr, "xila-guard: %s\n", (url ? tls.error() : url.error()).message.c_str());
    return kExitUsage;
  }
  asio::io_context io(1);
  net::HttpClient client(io.get_executor(), url->origin, *tls);
  bool all_right = true;
  for (const SelftestReview review :
       {SelftestReview::good, SelftestReview::bad, SelftestReview::removal}) {
    const std::string uid = new_uid();
    const auto answer = post(client, io, url->target, selftest_review(review, options.subject, uid),
                             options.timeout);
    const Result<std::string> verdict =
        answer ? judge_selftest(review, options.subject, uid, answer->status, answer->body)
               : base::fail(answer.error().message);
    std::printf("%-6s %-12s %s\n", verdict ? "ok" : "WRONG", to_text(review).c_str(),
                (verdict ? *verdict : verdict.error().message).c_str());
    all_right = all_right && verdict;
    if (!answer) break;  // the others would fail alike
  }
  return all_right ? kExitOk : kExitFailed;
}

}  // namespace

Run declare_selftest(CLI::App& app) {
  const auto options = std::make_shared<SelftestOptions>();
  app.footer(std::string(kExplanation) + "\n\n" + app.get_footer());
  app.add_option("--url", options->url,
                 "The server, as https://HOST[:PORT][/PATH]; without a path /validate")
      ->type_name("URL")
      ->required();
  app.add_option("--ca-file", options->ca_file, "CAs of the server's certificate (PEM)")
      ->type_name("FILE")
      ->required();
  app.add_option("--connect", options->connect, "Connect here instead of to the URL's host")
      ->type_name("IP:PORT");
  app.add_option("--server-name", options->server_name,
                 "Name that the certificate must have, instead of the URL's host")
      ->type_name("NAME");
  app.add_option("--client-cert-file", options->certificate_file,
                 "Client certificate (PEM), for a server with --client-ca-file")
      ->type_name("FILE");
  app.add_option("--client-key-file", options->key_file, "Its private key (PEM)")
      ->type_name("FILE");
  app.add_option("--namespace", options->subject.space, "A namespace that belongs to a tenant")
      ->type_name("NAME");
  app.add_option("--scheduler", options->subject.scheduler, "A scheduler that the server accepts")
      ->type_name("NAME");
  add_duration(app, "--timeout", options->timeout, "For each review");
  return [options] { return selftest(*options); };
}

}  // namespace xila::cli
