#pragma once

#include <filesystem>
#include <string>

#include "xila/base/result.hpp"

namespace xila::kube {

// A file of credentials or configuration, whole. Error: path and reason.
base::Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace xila::kube
