// A validator for the part of JSON Schema that docs/report.schema.json uses. A keyword that it does not know
// is a failure: the schema must not promise what no test checks.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace forebay::test {

class SchemaValidator {
 public:
  explicit SchemaValidator(nlohmann::json schema) : root_(std::move(schema)) {}

  /// Every violation as "place: what"; empty where the document is valid.
  std::vector<std::string> check(const nlohmann::json& document) {
    failures_.clear();
    check(document, root_, "$");
    return failures_;
  }

 private:
  void fail(const std::string& place, const std::string& what) { failures_.push_back(place + ": " + what); }

  static bool has_type(const nlohmann::json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "integer" && value.is_number_integer()) ||
           (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean());
  }

  void check(const nlohmann::json& value, const nlohmann::json& schema, const std::string& place) {
    static const std::set<std::string> notes{"$schema", "$id", "$defs", "title", "description"};
    for (const auto& [keyword, rule] : schema.items()) {
      if (notes.contains(keyword)) continue;
      if (keyword == "$ref") {
        check(value, root_.at(nlohmann::json::json_pointer(rule.get<std::string>().substr(1))), place);
      } else if (keyword == "type") {
        if (!has_type(value, rule)) fail(place, "is not of type " + rule.get<std::string>());
      } else if (keyword == "const") {
        if (value != rule) fail(place, "is not " + rule.dump());
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          fail(place, "is none of " + rule.dump());
      } else if (keyword == "minimum") {
        if (!value.is_number() || value < rule) fail(place, "is below " + rule.dump());
      } else if (keyword == "required") {
        for (const auto& name : rule) {
          if (!value.contains(name)) fail(place, "lacks " + name.get<std::string>());
        }
      } else if (keyword == "properties") {
        if (!value.is_object()) continue;
        for (const auto& [name, member] : value.items()) {
          if (rule.contains(name)) check(member, rule[name], place + "." + name);
        }
      } else if (keyword == "additionalProperties") {
        if (!value.is_object() || rule != false) continue;
        for (const auto& [name, member] : value.items()) {
          if (!schema["properties"].contains(name)) fail(place, "has an unexpected " + name);
        }
      } else if (keyword == "items") {
        if (!value.is_array()) continue;
        for (std::size_t i = 0; i < value.size(); ++i)
          check(value[i], rule, place + "[" + std::to_string(i) + "]");
      } else {
        fail(place, "the schema uses " + keyword + ", which no test checks");
      }
    }
  }

  nlohmann::json root_;
  std::vector<std::string> failures_;
};

}  // namespace forebay::test
