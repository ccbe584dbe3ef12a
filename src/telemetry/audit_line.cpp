#include "audit_line.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "json_text.hpp"
#include "xila/base/text.hpp"

namespace xila::telemetry {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::size_t kMaxNameBytes = 512;      // the longest name that Kubernetes takes has 253
constexpr std::size_t kMaxMessageBytes = 4608;  // policy's own limit, and the count of what it cut
constexpr std::size_t kMaxViolationMessageBytes = 1024;
// From here on violations are only counted. The texts around them, escaped six-fold, stay below
// this too, and one violation more is at most 15 KiB.
constexpr std::size_t kViolationsEndBytes = std::size_t{56} << 10;
constexpr std::size_t kUncut = std::string_view::npos;

// `text`, with the end cut off and "..." in its place where it is longer than `limit` bytes.
std::string cut(std::string text, std::size_t limit = kMaxNameBytes) {
  if (text.size() <= limit) return text;
  const std::string_view kept = base::prefix_at_character(text, limit);
  std::string shortened;
  shortened.reserve(kept.size() + 3);  // not what appending would grow it to
  shortened.append(kept).append("...");
  return shortened;
}

policy::Violations cut(policy::Violations violations) {
  if (violations.size() > kMaxAuditedViolations) {
    violations.resize(kMaxAuditedViolations);
    violations.shrink_to_fit();
  }
  for (policy::Violation& violation : violations) {
    violation.check = cut(std::move(violation.check));
    violation.field = cut(std::move(violation.field));
    violation.part = cut(std::move(violation.part));
    violation.message = cut(std::move(violation.message), kMaxViolationMessageBytes);
  }
  return violations;
}

// Writes the members of a JSON object.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  void text(std::string_view key, std::string_view value) {
    name(key);
    append_json_text(out_, value, kUncut);
  }
  void text_or_null(std::string_view key, std::string_view value) {
    if (value.empty()) return raw(key, "null");
    text(key, value);
  }
  void raw(std::string_view key, std::string_view json) {
    name(key);
    out_ += json;
  }
  void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
  void real(std::string_view key, double value) {
    name(key);
    append_json_number(out_, value);
  }
  // For a member whose value the caller appends.
  void name(std::string_view key) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_.append("\"").append(key).append("\":");
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool is_first_ = true;
};

// RFC 3339, UTC, microseconds.
std::string to_text(std::chrono::system_clock::time_point time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::microseconds>(time - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

void append_checks(std::string& out, std::string_view ids) {
  out += '[';
  while (!ids.empty()) {
    const std::size_t end = ids.find(',');
    append_json_text(out, ids.substr(0, end), kUncut);
    ids.remove_prefix(end == std::string_view::npos ? ids.size() : end + 1);
    if (!ids.empty()) out += ',';
  }
  out += ']';
}

// Returns how many it left out.
std::size_t append_violations(std::string& out, std::size_t line_begin,
                              const policy::Violations& violations) {
  out += '[';
  std::size_t written = 0;
  for (const policy::Violation& violation : violations) {
    if (out.size() - line_begin >= kViolationsEndBytes) break;
    if (written++ > 0) out += ',';
    Members members(out);
    members.text("check", violation.check);
    members.text("field", violation.field);
    if (!violation.part.empty()) members.text("part", violation.part);
    members.text("message", violation.message);
    members.end();
  }
  out += ']';
  return violations.size() - written;
}

}  // namespace

AuditEntry to_entry(AuditRecord record, std::chrono::system_clock::time_point time) {
  policy::Review& review = record.review;
  policy::Decision& decision = record.decision;
  AuditEntry entry;
  entry.time = time;
  entry.uid = cut(std::move(review.uid));
  entry.operation = review.subject.operation;
  entry.resource = cut(std::move(review.subject.resource));
  entry.dry_run = review.subject.dry_run;
  entry.space = cut(std::move(review.subject.space));
  entry.name = cut(std::move(review.subject.name));
  entry.user = cut(std::move(review.subject.user));
  const auto& pod = review.object ? review.object : review.old_object;
  if (pod) {
    entry.generate_name = cut(pod->generate_name);
    if (const policy::OwnerReference* owner = policy::controller_of(*pod)) {
      entry.owner_kind = cut(owner->kind);
      entry.owner_name = cut(owner->name);
    }
  }
  entry.checks = policy::check_ids(decision);
  entry.profile = cut(std::move(decision.profile));
  entry.mode = decision.mode;
  entry.tenant = cut(std::move(decision.tenant));
  entry.outcome = decision.outcome;
  const std::size_t found = decision.violations.size();
  entry.violations = cut(std::move(decision.violations));
  entry.violations_omitted = found - entry.violations.size();
  entry.message = cut(std::move(record.message), kMaxMessageBytes);
  entry.peer = cut(std::move(record.peer));
  entry.client_verified = record.client_verified;
  entry.duration_seconds = record.duration_seconds;
  return entry;
}

std::size_t bytes_of(const AuditEntry& entry) {
  std::size_t bytes = sizeof entry;
  for (const std::string* text :
       {&entry.uid, &entry.resource, &entry.space, &entry.name, &entry.generate_name,
        &entry.owner_kind, &entry.owner_name, &entry.user, &entry.profile, &entry.tenant,
        &entry.checks, &entry.message, &entry.peer}) {
    bytes += text->capacity();
  }
  for (const policy::Violation& violation : entry.violations) {
    bytes += sizeof violation + violation.check.capacity() + violation.field.capacity() +
             violation.part.capacity() + violation.message.capacity();
  }
  return bytes;
}

void append_line(std::string& out, const AuditEntry& entry) {
  const std::size_t begin = out.size();
  Members line(out);
  line.raw("schemaVersion", std::to_string(kSchemaVersion));
  line.text("time", to_text(entry.time));
  line.text("uid", entry.uid);
  line.text("operation", policy::to_text(entry.operation));
  line.text("resource", entry.resource);
  line.boolean("dryRun", entry.dry_run);
  line.text("namespace", entry.space);
  line.text("name", entry.name);
  if (!entry.generate_name.empty()) line.text("generateName", entry.generate_name);
  if (entry.owner_kind.empty()) {
    line.raw("owner", "null");
  } else {
    line.name("owner");
    Members owner(out);
    owner.text("kind", entry.owner_kind);
    owner.text("name", entry.owner_name);
    owner.end();
  }
  line.text("user", entry.user);
  line.text("profile", entry.profile);
  line.text("mode", policy::to_text(entry.mode));
  line.text_or_null("tenant", entry.tenant);
  line.text("decision", policy::to_text(entry.outcome));
  line.boolean("allowed", policy::is_allowed(entry.outcome));
  line.name("checks");
  append_checks(out, entry.checks);
  line.name("violations");
  const std::size_t cut_off = append_violations(out, begin, entry.violations);
  line.raw("violationsOmitted", std::to_string(entry.violations_omitted + cut_off));
  line.text("message", entry.message);
  line.text("peer", entry.peer);
  line.boolean("clientVerified", entry.client_verified);
  line.real("durationSeconds", entry.duration_seconds);
  line.end();
  out += '\n';
}

}  // namespace xila::telemetry
