#include "documents.hpp"

#include <string>

#include <gtest/gtest.h>

namespace xila::manifest {
namespace {

// The documents as JSON, one a line, and then the problems.
std::string parsed(std::string_view text) {
  const Documents documents = parse_documents(text);
  std::string shown;
  for (const Value& value : documents.values) shown += to_json(value) + "\n";
  for (const yaml::Problem& problem : documents.problems) {
    shown += std::to_string(problem.mark.line) + ":" + std::to_string(problem.mark.column) + ": " +
             problem.message + "\n";
  }
  return shown;
}

TEST(Documents, AreSplitAsKubectlSplitsThem) {
  struct Case {
    const char* name;
    std::string text;
    std::string result;
  };
  const Case cases[] = {
      {"none", "", ""},
      {"comments only", "# a\n---\n# b\n", ""},
      {"one", "a: b\n", "{\"a\":\"b\"}\n"},
      {"several", "---\na: b\n--- # second\nc: d\n---\n", "{\"a\":\"b\"}\n{\"c\":\"d\"}\n"},
      {"on the separator's line", "--- {a: b}\n--- c\n", "{\"a\":\"b\"}\n\"c\"\n"},
      {"a directive", "%YAML 1.2\n---\na: b\n", "{\"a\":\"b\"}\n"},
      {"four dashes are text", "a: b\n----\n", "{\"a\":\"b\",\"----\":null}\n"},
      {"an end mark", "a: b\n...\n---\nc: d\n", "{\"a\":\"b\"}\n{\"c\":\"d\"}\n"},
      {"Windows", "a: b\r\n---\r\nc: d\r\n", "{\"a\":\"b\"}\n{\"c\":\"d\"}\n"},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "a: b\n",
       "{\"a\":\"b\"}\n"},
      {"JSON values in a row", "{\"a\":1}\n{\"b\":[2]}{\"c\":null}",
       "{\"a\":1}\n{\"b\":[2]}\n{\"c\":null}\n"},
      {"JSON between separators", "{\"a\":1}\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}\n"},
      {"flow style that is no JSON", "{a: b, c: [d]}\n", "{\"a\":\"b\",\"c\":[\"d\"]}\n"},
      {"text behind the end", "a: b\n...\nc: d\n",
       "{\"a\":\"b\"}\n{\"c\":\"d\"}\n3:1: text after the end of the document; separate documents "
       "by ---\n"},
      {"one bad document among good ones", "a: b\n---\nc: [\n---\nd: e\n",
       "{\"a\":\"b\"}\n{\"d\":\"e\"}\n4:1: end of sequence flow not found\n"},
      {"bad JSON", "\n\n{\"a\":1}\n{\"b\" 2}\n", "4:6: not valid JSON: expected :\n"},
      {"a control character", "a: b\n---\nc: \x04\n", "3:4: control character 0x04\n"},
      {"not UTF-8", "a: \xFF\n", "1:4: not UTF-8: byte 0xff\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parsed(c.text), c.result);
  }
}

TEST(Documents, JsonIsReadAsJson) {
  struct Case {
    std::string text;
    std::string result;
  };
  const Case cases[] = {
      {R"({"a":"\u0041\n\"\\\/\ud83d\ude00\u00e9\u20ac\u0000"})",
       "{\"a\":\"A\\u000a\\\"\\\\/\xF0\x9F\x98\x80\xC3\xA9\xE2\x82\xAC\\u0000\"}\n"},
      {R"([1.50, -0, 1e400, 12345678901234567890123, true, false, null, "yes"])",
       "[1.50,-0,1e400,12345678901234567890123,true,false,null,\"yes\"]\n"},
      {R"({"a":1,"a":2})", "{\"a\":1,\"a\":2}\n"},
      {"{}", "{}\n"},
      {" [ ] ", "[]\n"},
      {"{\t\"a\"\t:\r\n1}", "{\"a\":1}\n"},
      {R"(["\ud83d"])", "1:9: not valid JSON: half of a surrogate pair\n"},
      {R"(["\ude00\ud83d"])", "1:9: not valid JSON: half of a surrogate pair\n"},
      {R"(["\ud83d\u0041"])", "1:15: not valid JSON: half of a surrogate pair\n"},
      {R"(["\u00g0"])", "1:7: not valid JSON: expected four hex digits\n"},
      {"[\"a\x01\"]", "1:4: control character 0x01\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(parsed(c.text), c.result);
  }
}

TEST(Documents, AliasesAndMergeKeysAreWrittenOut) {
  struct Case {
    const char* name;
    std::string text;
    std::string result;
  };
  const Case cases[] = {
      {"alias", "a: &x {b: 1}\nc: [*x, *x]\n",
       R"({"a":{"b":1},"c":[{"b":1},{"b":1}]})"
       "\n"},
      {"alias of an alias", "a: &x 1\nb: &y [*x]\nc: *y\n",
       R"({"a":1,"b":[1],"c":[1]})"
       "\n"},
      {"alias as a key", "a: &x k\n*x : 1\n",
       R"({"a":"k","k":1})"
       "\n"},
      {"redefined anchor", "a: &x 1\nb: &x 2\nc: *x\n",
       R"({"a":1,"b":2,"c":2})"
       "\n"},
      {"merge", "a: &x {p: 1, q: 2}\nb: {<<: *x, p: 3}\n",
       R"({"a":{"p":1,"q":2},"b":{"p":3,"q":2}})"
       "\n"},
      {"merge of a list", "b: {<<: [{p: 1}, {p: 2, q: 3}]}\n",
       R"({"b":{"p":1,"q":3}})"
       "\n"},
      {"merge in a merge", "b: {<<: {<<: {p: 1}, q: 2}}\n",
       R"({"b":{"q":2,"p":1}})"
       "\n"},
      {"a quoted << is a key", "\"<<\": {p: 1}\n",
       R"({"<<":{"p":1}})"
       "\n"},
      {"keys of other types", "1: a\ntrue: b\n0x10: c\n1.50: d\n",
       R"({"1":"a","true":"b","16":"c","1.5":"d"})"
       "\n"},
      {"inside itself", "a: &x [*x]\n", "1:8: an alias inside its own anchor\n"},
      {"inside itself by a merge", "a: &x {<<: *x}\n", "1:12: an alias inside its own anchor\n"},
      {"another document's anchor", "a: &x 1\n---\nb: *x\n",
       "{\"a\":1}\n3:4: the referenced anchor is not defined\n"},
      {"merge of a scalar", "<<: 5\n", "1:5: a merge key wants a mapping, or a list of them\n"},
      {"merge of a list of scalars", "<<: [5]\n",
       "1:6: a merge key wants a mapping, or a list of them\n"},
      {"two merge keys", "<<: {a: 1}\n<<: {a: 2}\n", "2:1: key << is repeated\n"},
      {"merge that readers disagree about", "a: 1\n<<: {a: 2}\n",
       "2:1: merges \"a\", which is written above it; put << first\n"},
      {"null as a key", "~: a\n", "1:1: null as a key\n"},
      {"list as a key", "? [a]\n: b\n", "1:3: a list or mapping as a key\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parsed(c.text), c.result);
  }
}

TEST(Documents, NestedAliasesCannotFillTheMemory) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int k = 0; k < 9; ++k) text += ", " + alias;
    text += "]\n";
  }
  EXPECT_EQ(parsed(text), "1:19: aliases stand for more than 200000 values\n");
}

TEST(Documents, DeepNestingIsRefused) {
  EXPECT_EQ(parsed(std::string(100'000, '[')),
            "1:202: not valid JSON: nested more than 200 levels deep\n");
  std::string objects;
  for (int i = 0; i < 20'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parsed(objects), "1:1006: not valid JSON: nested more than 200 levels deep\n");
  std::string aliases = "a0: &a0 [x]\n";
  for (int i = 1; i < 300; ++i) {
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
               std::to_string(i - 1) + "]\n";
  }
  EXPECT_EQ(parsed(aliases), "1:10: nested more than 200 levels deep\n");
}

TEST(Locate, FindsTheFieldOrTheNearestAroundIt) {
  const Documents documents = parse_documents(
      "---\n"
      "metadata:\n"
      "  labels: {a.b/c: x}\n"
      "spec:\n"
      "  containers:\n"
      "  - name: a\n"
      "  - name: b\n"
      "    securityContext:\n"
      "      privileged: true\n");
  const Value& pod = documents.values.at(0);
  struct Case {
    std::string_view field;
    yaml::Mark mark;
  };
  const Case cases[] = {
      {"", {2, 1}},
      {"spec", {4, 1}},
      {"spec.nodeName", {4, 1}},
      {"metadata.labels[a.b/c]", {3, 12}},
      {"metadata.labels[z]", {3, 3}},
      {"spec.containers[1]", {7, 5}},
      {"spec.containers[1].securityContext.privileged", {9, 7}},
      {"spec.containers[0].securityContext.privileged", {6, 5}},
      {"spec.containers[7].name", {5, 3}},
      {"spec.containers[", {5, 3}},
      {"status.x", {2, 1}},
      {"[0]", {2, 1}},
  };
  for (const Case& c : cases) EXPECT_EQ(locate(pod, c.field), c.mark) << c.field;
}

}  // namespace
}  // namespace xila::manifest
