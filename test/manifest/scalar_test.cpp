#include "scalar.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace xila::manifest {
namespace {

std::string show(const std::expected<Value, std::string>& value) {
  if (!value) return "error: " + value.error();
  switch (value->type) {
    case Type::null:
      return "null";
    case Type::string:
      return "'" + value->text + "'";
    default:
      return value->text;
  }
}

// Each was tried with kubectl 1.32, as `kubectl annotate --local -o json`.
TEST(Resolve, PlainScalarsMeanWhatTheyMeanToKubectl) {
  struct Case {
    std::string_view text;
    std::string value;
  };
  const Case cases[] = {
      {"yes", "true"},
      {"y", "true"},
      {"On", "true"},
      {"TRUE", "true"},
      {"no", "false"},
      {"N", "false"},
      {"OFF", "false"},
      {"tRUE", "'tRUE'"},
      {"~", "null"},
      {"", "null"},
      {"Null", "null"},
      {"nULL", "'nULL'"},
      {"0", "0"},
      {"-0", "0"},
      {"+1", "1"},
      {"1_000", "1000"},
      {"0777", "511"},
      {"0o17", "15"},
      {"08", "8"},
      {"0b11", "3"},
      {"-0b1", "-1"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"0x_1", "1"},
      {"0xg", "'0xg'"},
      {"0x", "'0x'"},
      {"0b2", "'0b2'"},
      {"0o8", "'0o8'"},
      {"_1", "'_1'"},
      {"-", "'-'"},
      {"--1", "'--1'"},
      {".", "'.'"},
      {"1.0", "1"},
      {"1.", "1"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"+.5", "0.5"},
      {".1_0", "0.1"},
      {"._5", "'._5'"},
      {".1_", "'.1_'"},
      {"1e3", "1000"},
      {"1.5e-7", "1.5e-07"},
      {"1e21", "1e+21"},
      {"1e400", "'1e400'"},
      {"1e-400", "0"},
      {"1e", "'1e'"},
      {"1.2.3", "'1.2.3'"},
      {"1:30", "'1:30'"},
      {"2020-01-01", "'2020-01-01'"},
      {"12345678901234567890", "12345678901234567890"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"99999999999999999999999", "1e+23"},
      {"=", "'='"},
      {"<<", "'<<'"},
      {"volcano", "'volcano'"},
      {".inf", "error: .inf is a number that JSON does not have"},
      {"-.Inf", "error: -.Inf is a number that JSON does not have"},
      {".NaN", "error: .NaN is a number that JSON does not have"},
  };
  for (const Case& c : cases) EXPECT_EQ(show(resolve(c.text, true, "")), c.value) << c.text;
}

TEST(Resolve, QuotesAndTagsDecideWhereTheyStand) {
  struct Case {
    std::string_view text;
    std::string_view tag;
    std::string value;
  };
  const Case cases[] = {
      {"yes", "", "'yes'"},
      {"5", "!", "'5'"},
      {"5", "!mine", "'5'"},
      {"5", "tag:yaml.org,2002:str", "'5'"},
      {"5", "tag:yaml.org,2002:int", "5"},
      {"0777", "tag:yaml.org,2002:int", "511"},
      {"5", "tag:yaml.org,2002:float", "5"},
      {"y", "tag:yaml.org,2002:bool", "true"},
      {"~", "tag:yaml.org,2002:null", "null"},
      {"x", "tag:yaml.org,2002:int", "error: \"x\" is no !!int"},
      {"1.5", "tag:yaml.org,2002:int", "error: \"1.5\" is no !!int"},
      {"1", "tag:yaml.org,2002:bool", "error: \"1\" is no !!bool"},
      {"x", "tag:yaml.org,2002:null", "error: \"x\" is no !!null"},
      {"aGk=", "tag:yaml.org,2002:binary", "error: the tag !!binary is not supported"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(show(resolve(c.text, false, c.tag)), c.value) << c.text << ' ' << c.tag;
}

}  // namespace
}  // namespace xila::manifest
