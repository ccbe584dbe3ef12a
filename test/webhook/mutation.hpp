#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace xila::webhook {

// Changes to a body, each from a seed: what a broken or hostile client might send in a review's
// stead.
class Mutator {
 public:
  using Json = nlohmann::ordered_json;

  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(const std::string& body) {
    std::string changed = below(2) == 0 ? mutate_text(body) : mutate_values(body);
    // Two faults may hide each other.
    return below(4) == 0 ? mutate_text(changed) : changed;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string mutate_text(std::string text) {
    if (text.empty()) return text;
    const std::size_t at = below(text.size());
    switch (below(8)) {
      case 0:
        return text.substr(0, at);
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        return text;
      case 2:
        return text.erase(at, 1 + below(40));
      case 3:
        return text.insert(at, text.substr(below(text.size()), 1 + below(40)));
      case 4:
        return text.insert(at, 1,
                           pick<char>({'\0', '"', '\\', '{', '}', ',', ':', ' ', '\xff', '\n'}));
      case 5:
        return escape_a_letter(std::move(text), at);
      case 6:
        return text + pick<std::string>({"}", " ", "null", std::string(1, '\0'), "{}", "\n\n"});
      default:
        return replace_a_word(std::move(text));
    }
  }

  // "nodeName" may be written "\u006eodeName": the same key.
  static std::string escape_a_letter(std::string text, std::size_t at) {
    while (at < text.size() && !(text[at] >= 'a' && text[at] <= 'z')) ++at;
    if (at == text.size()) return text;
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto letter = static_cast<unsigned char>(text[at]);
    return text.replace(at, 1,
                        std::string("\\u00") + kDigits[letter >> 4U] + kDigits[letter & 15U]);
  }

  std::string replace_a_word(std::string text) {
    static const std::vector<std::pair<std::string, std::string>> kWords = {
        {"nodeName", "NodeName"},
        {"CREATE", "DELETE"},
        {"CREATE", "UPDATE"},
        {"true", "false"},
        {"true", "\"true\""},
        {"\"pods\"", "\"nodes\""},
        {"\"spec\"", "\"Spec\""},
        {"\"object\"", "\"obj\""},
        {"team-a", "team-b"},
        {"volcano", "Volcano"},
        {"volcano", "volcano\\u0000"},
        {"hostPath", "emptyDir"},
        {"UPDATE", "CREATE"},
        {"oldObject", "object"},
        {"privileged", "privileged "},
        {"null", "{}"},
        {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"},
        {"containers", "initContainers"}};
    const auto& [from, to] = kWords[below(kWords.size())];
    const std::size_t at = text.find(from, below(text.size()));
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  // Another value, no value, or a second value for a key, anywhere in the document.
  std::string mutate_values(const std::string& body) {
    Json document = Json::parse(body, nullptr, false);
    if (document.is_discarded()) return mutate_text(body);
    std::vector<Json*> objects;
    collect(document, objects);
    // Most of a review decides nothing, so half of the changes go to what does.
    const Json::json_pointer spec("/request/object/spec");
    if (below(2) == 0 && document.contains(spec)) {
      objects = {&document["request"], &document[spec]};
      if (below(2) == 0) collect(document[spec], objects);
    }
    Json& object = *objects[below(objects.size())];
    if (object.empty()) return mutate_text(body);
    auto member = object.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(below(object.size())));
    switch (below(6)) {
      case 4:
      case 5:
        set_what_decides(document);
        return document.dump();
      case 0:
        object.erase(member);
        return document.dump();
      case 1:
        member.value() = other_value();
        return document.dump();
      default:
        return with_a_second_value(document, object, member.key());
    }
  }

  // A field that a check reads, there or not, gets any value.
  void set_what_decides(Json& document) {
    static const std::vector<std::string> kFields = {
        "/spec/nodeName",
        "/spec/schedulerName",
        "/spec/hostNetwork",
        "/spec/hostPID",
        "/spec/hostIPC",
        "/spec/volumes/0/hostPath",
        "/spec/volumes",
        "/spec/containers",
        "/spec/initContainers",
        "/spec/ephemeralContainers",
        "/spec/securityContext",
        "/spec/securityContext/windowsOptions/hostProcess",
        "/metadata/labels",
        "/metadata",
        "/spec/containers/0/securityContext",
        "/spec/containers/0/securityContext/privileged",
        "/spec/containers/0/securityContext/windowsOptions",
        "/spec/containers/0/name",
        "/spec"};
    const std::string object = below(4) == 0 ? "/request/oldObject" : "/request/object";
    const Json::json_pointer field(object + kFields[below(kFields.size())]);
    try {
      document[field] = other_value();
    } catch (const Json::exception&) {  // the way there is blocked by another type
    }
  }

  static void collect(Json& value, std::vector<Json*>& objects) {
    if (value.is_object()) objects.push_back(&value);
    if (value.is_structured()) {
      for (Json& member : value) collect(member, objects);
    }
  }

  Json other_value() {
    static const std::array<Json, 14> kValues = {Json(nullptr),
                                                 Json(true),
                                                 Json(false),
                                                 Json(""),
                                                 Json("x"),
                                                 Json(0),
                                                 Json(1),
                                                 Json(-1.5),
                                                 Json::array(),
                                                 Json::object(),
                                                 Json::array({Json::object()}),
                                                 Json("true"),
                                                 Json("volcano"),
                                                 Json::array({nullptr})};
    return kValues[below(kValues.size())];
  }

  // A marker key, then its text turned into the first key: a JSON value itself cannot hold a key
  // twice.
  std::string with_a_second_value(Json& document, Json& object, std::string key) {
    object["\x01"] = other_value();
    std::string text = document.dump();
    const std::string marker = R"("\u0001":)";
    const std::size_t at = text.find(marker);
    return text.replace(at, marker.size(), Json(key).dump() + ":");
  }

  template <class T>
  T pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

  std::mt19937 random_;
};

}  // namespace xila::webhook
