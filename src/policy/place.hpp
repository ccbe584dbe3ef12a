#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "xila/policy/pod.hpp"

// How a Pod's parts are named in fields and messages.
namespace xila::policy {

// "spec.initContainers[0]".
std::string path_of(const Container& container);
// "spec.volumes[2]".
std::string path_of(const Volume& volume);

// The path and the name in quotes: spec.initContainers[0] "setup".
std::string named(const Container& container);
std::string named(const Volume& volume);

// A Kubernetes name as it is; in quotes and short where it holds anything that no such name may.
std::string name_text(std::string_view name);

// `"a", "b" and 3 more`: at most `limit` of the texts, each quoted and short.
std::string quoted_list(const std::vector<std::string_view>& texts, std::size_t limit);

}  // namespace xila::policy
