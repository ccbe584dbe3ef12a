#pragma once

#include <simdjson.h>

#include <optional>
#include <string>

namespace xila::codec {

// The path of the first key that stands twice in its object, in any object of the document. Readers
// differ in which of the two they take, so such a document could mean one thing here and another
// elsewhere. `document` holds one object, at most kMaxDepth levels deep.
std::optional<std::string> find_duplicate_key(const simdjson::dom::document& document);

}  // namespace xila::codec
