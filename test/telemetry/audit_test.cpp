#include "xila/telemetry/audit.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "audit_line.hpp"
#include "telemetry/captured_stderr.hpp"

namespace xila::telemetry {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

// A folder of the test's own, gone with it.
class AuditLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "audit-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::vector<json> lines_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }
  std::filesystem::path file(const char* name = "audit.jsonl") const { return folder_ / name; }

  std::filesystem::path folder_;
  Metrics metrics_;
};

AuditRecord denial(const std::string& uid) {
  AuditRecord record;
  record.review.uid = uid;
  record.review.subject = {
      .space = "team-a", .name = "train-*", .user = "alice", .resource = "pods"};
  record.review.object = policy::Pod{.generate_name = "train-"};
  record.review.object->owners = {{.kind = "Node", .name = "n"},
                                  {.kind = "Job", .name = "train", .controller = true}};
  record.decision = {.outcome = policy::Outcome::denied,
                     .profile = "volcano",
                     .tenant = "team-a",
                     .violations = {{"node-pin", "spec.nodeName", "", "pins a node"},
                                    {"privileged", "spec.containers[0]", "main", "is privileged"}}};
  record.message = "Pod team-a/train-* crosses the boundary";
  record.peer = "10.0.0.7:41822";
  record.client_verified = true;
  record.duration_seconds = 0.25;
  return record;
}

TEST_F(AuditLogTest, WritesEveryDecisionAsOneLine) {
  {
    const auto log = AuditLog::open(file(), metrics_).value();
    log->record(denial("u-1"));
    AuditRecord allowed;
    allowed.review.uid = "u-2";
    allowed.review.subject = {.operation = policy::Operation::remove, .dry_run = true};
    allowed.decision.outcome = policy::Outcome::allowed;
    log->record(std::move(allowed));
  }
  auto lines = lines_of(file());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0].at("time").get<std::string>(), testing::MatchesRegex(".*T.*[.][0-9]{6}Z"));
  lines[0].erase("time");
  EXPECT_EQ(lines[0], json::parse(R"({
    "schemaVersion": 1, "uid": "u-1", "operation": "CREATE", "resource": "pods", "dryRun": false,
    "namespace": "team-a", "name": "train-*", "generateName": "train-",
    "owner": {"kind": "Job", "name": "train"}, "user": "alice", "profile": "volcano",
    "mode": "enforce", "tenant": "team-a", "decision": "denied", "allowed": false,
    "checks": ["node-pin", "privileged"],
    "violations": [
      {"check": "node-pin", "field": "spec.nodeName", "message": "pins a node"},
      {"check": "privileged", "field": "spec.containers[0]", "part": "main", "message": "is privileged"}],
    "violationsOmitted": 0, "message": "Pod team-a/train-* crosses the boundary",
    "peer": "10.0.0.7:41822", "clientVerified": true, "durationSeconds": 0.25})"));
  EXPECT_EQ(lines[1].at("decision"), "allowed");
  EXPECT_EQ(lines[1].at("operation"), "DELETE");
  EXPECT_EQ(lines[1].at("allowed"), true);
  EXPECT_EQ(lines[1].at("dryRun"), true);
  EXPECT_EQ(lines[1].at("owner"), nullptr);
  EXPECT_EQ(lines[1].at("tenant"), nullptr);
  EXPECT_EQ(lines[1].at("checks"), json::array());
  EXPECT_FALSE(lines[1].contains("generateName"));
  EXPECT_EQ(metrics_.audit_dropped.value(), 0);
}

TEST_F(AuditLogTest, AppendsToWhatIsThere) {
  std::ofstream(file()) << "{\"old\":true}\n";
  AuditLog::open(file(), metrics_).value()->record(denial("u-1"));
  EXPECT_THAT(lines_of(file()), SizeIs(2));
}

TEST_F(AuditLogTest, IsReadableByItsOwnerAlone) {
  AuditLog::open(file(), metrics_).value();
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077U, 0U);
}

TEST_F(AuditLogTest, SaysWhyItCannotBeOpened) {
  const auto missing = folder_ / "missing" / "audit.jsonl";
  EXPECT_EQ(AuditLog::open(missing, metrics_).error().message,
            "cannot open audit log \"" + missing.native() + "\": No such file or directory");
  EXPECT_EQ(AuditLog::open(folder_, metrics_).error().message,
            "cannot open audit log \"" + folder_.native() + "\": Is a directory");
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(AuditLog::open(file("fifo"), metrics_));  // nobody reads: an error, not a wait
}

TEST_F(AuditLogTest, RotatesWithoutLoss) {
  {
    const auto log = AuditLog::open(file(), metrics_).value();
    for (int i = 0; i < 1000; ++i) {
      if (i == 500) {
        std::filesystem::rename(file(), file("audit.jsonl.1"));
        log->reopen();
      }
      log->record(denial(std::to_string(i)));
    }
  }
  auto lines = lines_of(file("audit.jsonl.1"));
  for (json& line : lines_of(file())) lines.push_back(std::move(line));
  ASSERT_THAT(lines, SizeIs(1000));
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i]["uid"], std::to_string(i));
  EXPECT_GE(lines_of(file()).size(), 500U);
  EXPECT_EQ(metrics_.reloads.value("audit_log", "taken_over"), 1);
}

TEST_F(AuditLogTest, KeepsTheOldFileWhereItCannotReopen) {
  const auto inner = folder_ / "inner";
  std::filesystem::create_directory(inner);
  {
    const auto log = AuditLog::open(inner / "a", metrics_).value();
    std::filesystem::rename(inner, folder_ / "moved");
    log->reopen();
    log->record(denial("u-1"));
  }
  EXPECT_THAT(lines_of(folder_ / "moved" / "a"), SizeIs(1));
  EXPECT_EQ(metrics_.reloads.value("audit_log", "refused"), 1);
}

TEST_F(AuditLogTest, AFullDiskLosesLinesAndNothingElse) {
  const auto lines = logged(LogFormat::text, LogLevel::info, [this] {
    const auto log = AuditLog::open("/dev/full", metrics_).value();
    for (int i = 0; i < 50; ++i) log->record(denial("u"));
  });
  EXPECT_EQ(metrics_.audit_dropped.value(), 50);
  ASSERT_THAT(lines, SizeIs(1));  // at most once a minute
  EXPECT_THAT(lines[0], HasSubstr("warn  audit_lines_dropped lines="));
  EXPECT_THAT(lines[0], HasSubstr("reason=\"No space left on device\""));
}

TEST_F(AuditLogTest, WritesFromManyThreads) {
  {
    const auto log = AuditLog::open(file(), metrics_, 100'000).value();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 1000; ++i) log->record(denial("u"));
      });
    }
  }
  EXPECT_THAT(lines_of(file()), SizeIs(4000));
}

// A FIFO whose reader stands still until told.
class StuckReader {
 public:
  explicit StuckReader(const std::filesystem::path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    end_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    EXPECT_GE(end_, 0);
  }
  ~StuckReader() { ::close(end_); }
  int end() const { return end_; }

 private:
  int end_ = -1;
};

TEST_F(AuditLogTest, DropsWhatDoesNotFitTheQueue) {
  const StuckReader reader(file("fifo"));
  auto log = AuditLog::open(file("fifo"), metrics_, 10).value();
  // The pipe holds 64 KiB, so of these the most must go.
  for (int i = 0; i < 5000; ++i) log->record(denial("u"));
  EXPECT_GT(metrics_.audit_dropped.value(), 4000);

  const auto begin = std::chrono::steady_clock::now();
  log.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_GT(metrics_.audit_dropped.value(), 4800);
}

TEST_F(AuditLogTest, CountsEachLineAsReadOrDropped) {
  const StuckReader reader(file("fifo"));
  constexpr int kLines = 3000;
  {
    const auto log = AuditLog::open(file("fifo"), metrics_, 100'000).value();
    for (int i = 0; i < kLines; ++i) log->record(denial("u"));
  }
  std::string read;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(reader.end(), part, sizeof part)) > 0;) {
    read.append(part, static_cast<std::size_t>(n));
  }
  const auto whole = static_cast<double>(std::ranges::count(read, '\n'));
  EXPECT_GT(whole, 0);
  // On a machine so slow that the thread is left behind, what it was writing may count twice.
  EXPECT_GE(whole + metrics_.audit_dropped.value(), kLines);
  EXPECT_LT(whole + metrics_.audit_dropped.value(), kLines + 200);
}

// The one descriptor that we may not make non-blocking, since others share it. In a child process:
// the thread that stands in write(2) is left behind.
[[noreturn]] void audit_to_a_stdout_that_nobody_reads() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(1);
  auto metrics = std::make_unique<Metrics>();
  auto log = AuditLog::open("-", *metrics).value();
  for (int i = 0; i < 1000; ++i) log->record(denial("u"));
  const auto begin = std::chrono::steady_clock::now();
  log.reset();
  const bool is_bounded = std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);
  const bool is_counted = metrics->audit_dropped.value() > 500;
  metrics.reset();
  // Now the thread goes on, and must not touch what is gone.
  char part[4096];
  for (int i = 0; i < 100; ++i) {
    if (::read(ends[0], part, sizeof part) <= 0) break;
  }
  // ThreadSanitizer's own _exit() writes stdout out first, and must not wait for a reader either.
  ::signal(SIGPIPE, SIG_IGN);
  ::close(ends[0]);
  ::_exit(is_bounded && is_counted ? 0 : 2);
}

TEST(AuditLogDeathTest, AStdoutThatNobodyReadsDoesNotHoldUpTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(audit_to_a_stdout_that_nobody_reads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace xila::telemetry
