#pragma once

#include <string>

#include "xila/net/http.hpp"

namespace xila::net {

struct ResponseForm {
  bool keep_alive = true;
  bool without_body = false;  // the answer to HEAD
  bool http_1_0 = false;
};

// Head and body of an answer in one text, so that it leaves in one TLS record: a serializer that
// hands the parts on as a buffer sequence makes a record, and a system call, of each.
void write_response(const Response& response, const ResponseForm& form, std::string& out);

}  // namespace xila::net
