#include <algorithm>
#include <array>
#include <utility>

#include "base64.hpp"
#include "files.hpp"
#include "xila/base/text.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/yaml/document.hpp"

namespace xila::kube {
namespace {

using base::fail;
using base::quote;
using base::Result;

const yaml::Node* find(const yaml::Node& map, std::string_view key) {
  for (const yaml::Entry& entry : map.entries) {
    if (entry.key.text == key && entry.value.kind != yaml::Kind::null) return &entry.value;
  }
  return nullptr;
}

// Reads one kubeconfig: its texts with the place where something is wrong.
class Kubeconfig {
 public:
  Kubeconfig(std::filesystem::path path, const yaml::Node& root)
      : path_(std::move(path)), root_(root) {}

  Result<ClusterAccess> access() const {
    const Result<std::string> context_name = text(root_, "current-context");
    if (!context_name) return std::unexpected(context_name.error());
    if (context_name->empty()) {
      return wrong(root_, "has no current-context: kubectl config use-context NAME sets it");
    }
    const auto context = named("contexts", "context", *context_name);
    if (!context) return std::unexpected(context.error());
    const Result<std::string> cluster_name = text(**context, "cluster");
    if (!cluster_name) return std::unexpected(cluster_name.error());
    const Result<std::string> user_name = text(**context, "user");
    if (!user_name) return std::unexpected(user_name.error());

    ClusterAccess access;
    const auto cluster = named("clusters", "cluster", *cluster_name);
    if (!cluster) return std::unexpected(cluster.error());
    if (const auto read = read_cluster(**cluster, access); !read)
      return std::unexpected(read.error());
    if (user_name->empty()) return access;  // nobody in particular, as behind kubectl proxy
    const auto user = named("users", "user", *user_name);
    if (!user) return std::unexpected(user.error());
    if (const auto read = read_user(**user, access); !read) return std::unexpected(read.error());
    return access;
  }

 private:
  std::unexpected<base::Error> wrong(const yaml::Node& at, const std::string& what) const {
    return fail(path_.string() + ":" + std::to_string(at.mark.line) + ":" +
                std::to_string(at.mark.column) + ": " + what);
  }

  Result<std::string> text(const yaml::Node& map, std::string_view key) const {
    const yaml::Node* node = find(map, key);
    if (node == nullptr) return std::string();
    if (node->kind != yaml::Kind::scalar) return wrong(*node, std::string(key) + " must be a text");
    return node->text;
  }

  // The entry of that name in one of the three lists.
  Result<const yaml::Node*> named(std::string_view list, std::string_view what,
                                  const std::string& name) const {
    const yaml::Node* items = find(root_, list);
    if (items != nullptr) {
      for (const yaml::Node& item : items->items) {
        const yaml::Node* value = find(item, what);
        const yaml::Node* its_name = find(item, "name");
        if (its_name == nullptr || its_name->text != name || value == nullptr) continue;
        if (value->kind == yaml::Kind::mapping) return value;
        return wrong(*value, std::string(what) + " must be a map");
      }
    }
    return wrong(items == nullptr ? root_ : *items,
                 std::string(list) + " has no " + std::string(what) + " " + quote(name));
  }

  std::filesystem::path relative(const std::string& file) const {
    return file.empty() ? std::filesystem::path() : path_.parent_path() / file;
  }

  // `key` names a file, `key`-data holds the text in base64 and wins.
  Result<PemSource> pem(const yaml::Node& map, const std::string& key) const {
    const Result<std::string> data = text(map, key + "-data");
    if (!data) return std::unexpected(data.error());
    if (!data->empty()) {
      std::optional<std::string> decoded = decode_base64(*data);
      if (!decoded) return wrong(*find(map, key + "-data"), key + "-data is not base64");
      return PemSource{.text = std::move(*decoded)};
    }
    const Result<std::string> file = text(map, key);
    if (!file) return std::unexpected(file.error());
    return PemSource{.file = relative(*file)};
  }

  Result<void> read_cluster(const yaml::Node& cluster, ClusterAccess& access) const {
    const Result<std::string> server = text(cluster, "server");
    if (!server) return std::unexpected(server.error());
    const Result<net::Url> url = net::parse_url(*server);
    if (!url) return wrong(cluster, "server: " + url.error().message);
    access.server = url->origin;
    access.path_prefix = url->target.substr(0, url->target.find_last_not_of('/') + 1);
    if (access.path_prefix.find('?') != std::string::npos) {
      return wrong(cluster, "server must not have a query");
    }
    if (const yaml::Node* proxy = find(cluster, "proxy-url")) {
      return wrong(*proxy,
                   "proxy-url is not supported: give a server that can be reached directly");
    }
    const Result<std::string> server_name = text(cluster, "tls-server-name");
    if (!server_name) return std::unexpected(server_name.error());
    access.server.server_name = *server_name;
    const Result<std::string> insecure = text(cluster, "insecure-skip-tls-verify");
    if (!insecure) return std::unexpected(insecure.error());
    if (!insecure->empty() && *insecure != "true" && *insecure != "false") {
      return wrong(cluster, "insecure-skip-tls-verify must be true or false");
    }
    access.insecure_skip_verify = *insecure == "true";
    Result<PemSource> ca = pem(cluster, "certificate-authority");
    if (!ca) return std::unexpected(ca.error());
    access.ca = std::move(*ca);
    return {};
  }

  Result<void> read_user(const yaml::Node& user, ClusterAccess& access) const {
    static constexpr std::array kUnsupported = {
        "exec", "auth-provider", "username",  "password",
        "as",   "as-uid",        "as-groups", "as-user-extra"};
    for (const char* key : kUnsupported) {
      if (const yaml::Node* node = find(user, key)) {
        return wrong(*node, std::string(key) +
                                " is not supported: give a token, a tokenFile or a client "
                                "certificate (kubectl create token makes a token)");
      }
    }
    const Result<std::string> token = text(user, "token");
    if (!token) return std::unexpected(token.error());
    const Result<std::string> token_file = text(user, "tokenFile");
    if (!token_file) return std::unexpected(token_file.error());
    access.token = *token;
    access.token_file = relative(*token_file);
    Result<PemSource> certificate = pem(user, "client-certificate");
    if (!certificate) return std::unexpected(certificate.error());
    Result<PemSource> key = pem(user, "client-key");
    if (!key) return std::unexpected(key.error());
    if (certificate->empty() != key->empty()) {
      return wrong(user, "client-certificate and client-key belong together");
    }
    access.certificate = std::move(*certificate);
    access.key = std::move(*key);
    return {};
  }

  std::filesystem::path path_;
  const yaml::Node& root_;
};

}  // namespace

Result<ClusterAccess> kubeconfig_access(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto documents = yaml::parse(*text);
  if (!documents) {
    const yaml::Problem& problem = documents.error();
    return fail(path.string() + ":" + std::to_string(problem.mark.line) + ":" +
                std::to_string(problem.mark.column) + ": " + problem.message);
  }
  if (documents->size() != 1 || documents->front().kind != yaml::Kind::mapping) {
    return fail(path.string() + ": is no kubeconfig");
  }
  return Kubeconfig(path, documents->front()).access();
}

}  // namespace xila::kube
