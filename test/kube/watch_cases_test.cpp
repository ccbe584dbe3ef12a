// Case 077 of test/fixtures/cases: an API server that forgets versions, in both of its ways, and
// one that sends bookmarks; played by the case's own server, of which only its log is looked at.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "fakes/child_process.hpp"
#include "kube_test_support.hpp"
#include "xila/kube/reflector.hpp"

namespace xila::kube {
namespace {

using codec::ObjectMeta;
using testing::ElementsAre;

std::uint16_t free_port() {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor probe(io, {boost::asio::ip::address_v4::loopback(), 0});
  return probe.local_endpoint().port();
}

bool accepts(std::uint16_t port) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect({boost::asio::ip::address_v4::loopback(), port}, error);
  return !error;
}

// The value of a field of one of the log's lines, as it is written there.
std::string field(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find("\"" + name + "\": ");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 4;
  return line.substr(value, line.find_first_of(",}", value) - value);
}

// The case's server in one of its modes, on a port that was free a moment ago.
class MockWatch {
 public:
  explicit MockWatch(const std::string& mode) {
    for (int tries = 0; tries < 10; ++tries) {
      port_ = free_port();
      child_.emplace(std::vector<std::string>{"python3", "-u",
                                              XILA_FIXTURES "/cases/_common/mock_watch.py", mode,
                                              "--port", std::to_string(port_)});
      const bool is_settled = eventually([&] { return child_->has_ended() || accepts(port_); });
      if (is_settled && !child_->has_ended()) break;
    }
    reader_ = std::thread([this] {
      for (std::string line = child_->read_line(); !line.empty(); line = child_->read_line()) {
        const std::lock_guard lock(mutex_);
        log_.push_back(line);
      }
    });
  }
  ~MockWatch() {
    child_->end();
    reader_.join();
  }

  ClusterAccess access() const {
    ClusterAccess access;
    access.server = {.tls = false, .host = "127.0.0.1", .port = port_};
    return access;
  }
  // The first requests, each as "list rv" or "watch rv bookmarks"; no more than there are.
  std::vector<std::string> requests(std::size_t count) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> seen;
    for (const std::string& line : log_) {
      if (seen.size() == count) break;
      seen.push_back(field(line, "watch") == "true"
                         ? "watch " + field(line, "rv") + " " + field(line, "bookmarks")
                         : "list " + field(line, "rv"));
    }
    return seen;
  }

 private:
  std::uint16_t port_ = 0;
  std::optional<test::ChildProcess> child_;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
  std::thread reader_;
};

// Each object's life, by uid, as an observer hears of it.
class Lives final : public Observer<ObjectMeta> {
 public:
  std::map<std::string, std::string> by_uid;

  void added(const std::string&, const Entry& entry) override { by_uid[entry.uid] += "added "; }
  void updated(const std::string&, const Entry&, const Entry& now) override {
    by_uid[now.uid] += "updated ";
  }
  void removed(const std::string&, const Entry& before) override {
    by_uid[before.uid] += "removed ";
  }
};

// Runs a reflector of the mode until its server has seen `requests`.
std::vector<std::string> play(const std::string& mode, std::size_t requests, Lives& lives) {
  MockWatch server(mode);
  boost::asio::io_context io(1);
  telemetry::Metrics metrics;
  Store<ObjectMeta> store;
  const auto transport = make_api_client(io.get_executor(), server.access()).value();
  Reflector<ObjectMeta> reflector(
      io.get_executor(), *transport, {codec::decode_metadata_page, codec::decode_metadata_event},
      store, metrics,
      {.resource = "pods", .path = "/api/v1/pods", .backoff = {.base = 10ms, .cap = 40ms}});
  reflector.observe(lives);
  boost::asio::co_spawn(io, reflector.run(), boost::asio::detached);
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (lives.by_uid.count("u-3") == 0 && std::chrono::steady_clock::now() < end) {
    io.run_one_for(5ms);
  }
  std::vector<std::string> seen;
  eventually([&] { return (seen = server.requests(requests)).size() == requests; });
  reflector.stop();
  transport->close();
  io.restart();
  io.run();
  return seen;
}

TEST(Case077, GoneAsAnAnswer) {
  Lives lives;
  EXPECT_THAT(play("gone-http", 4, lives), ElementsAre("list null", "watch \"100\" \"true\"",
                                                       "list null", "watch \"200\" \"true\""));
  EXPECT_THAT(lives.by_uid, ElementsAre(std::pair("u-1", "added "), std::pair("u-3", "added ")));
}

TEST(Case077, GoneInsideTheStream) {
  Lives lives;
  EXPECT_THAT(play("gone-stream", 4, lives), ElementsAre("list null", "watch \"100\" \"true\"",
                                                         "list null", "watch \"200\" \"true\""));
  // The relist shows that u-2, added by the first watch, is gone; u-1, which it shows unchanged, is
  // not reported twice.
  EXPECT_THAT(lives.by_uid,
              ElementsAre(std::pair("u-1", "added "), std::pair("u-2", "added removed "),
                          std::pair("u-3", "added ")));
}

TEST(Case077, BookmarksMoveTheVersionOn) {
  Lives lives;
  EXPECT_THAT(play("bookmark", 3, lives),
              ElementsAre("list null", "watch \"100\" \"true\"", "watch \"990\" \"true\""));
  EXPECT_THAT(lives.by_uid, ElementsAre(std::pair("u-1", "added "), std::pair("u-3", "added ")));
}

}  // namespace
}  // namespace xila::kube
