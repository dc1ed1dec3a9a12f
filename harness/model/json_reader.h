#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace flce {

using Json = nlohmann::ordered_json;

/// Parses text; a syntax error is kData naming `origin` and where in the text.
inline Result<Json> ParseJson(std::string_view text, const std::string& origin) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Error{ErrorKind::kData, origin + ": not valid JSON at byte " + std::to_string(error.byte)};
  }
}

/// Reads members of a JSON object into C++ values. Absent and null members keep the default; the first member of a
/// wrong type is remembered as the error, with its path.
class JsonReader {
 public:
  JsonReader(const Json& value, std::string path) : value_(value), path_(std::move(path)) {
    if (!value.is_object() && !value.is_null()) Fail(path_, "an object");
  }

  template <typename T>
  void Read(const char* key, T& target) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    try {
      if constexpr (std::is_same_v<T, bool>) {
        if (!member->is_boolean()) return Fail(path_ + "." + key, "true or false");
      } else if constexpr (std::is_arithmetic_v<T>) {
        if (!member->is_number()) return Fail(path_ + "." + key, "a number");
      }
      target = member->get<T>();
    } catch (const Json::exception&) {
      Fail(path_ + "." + key, "of another type");
    }
  }

  template <typename T>
  void Read(const char* key, std::optional<T>& target) {
    T value{};
    if (Member(key) == nullptr) return;
    Read(key, value);
    if (!error_) target = std::move(value);
  }

  /// An object of values by name; a null value is as good as an absent one.
  template <typename T>
  void Read(const char* key, std::map<std::string, T>& target) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    JsonReader members(*member, path_ + "." + key);
    for (const auto& [name, value] : member->items())
      if (!value.is_null()) members.Read(name.c_str(), target[name]);
    if (members.error_ && !error_) error_ = std::move(members.error_);
  }

  /// A word of a closed set, through its Parse function.
  template <typename T>
  void ReadWord(const char* key, T& target, std::optional<T> (*parse)(std::string_view)) {
    std::string text;
    Read(key, text);
    if (Member(key) == nullptr || error_) return;
    if (const std::optional<T> word = parse(text)) {
      target = *word;
    } else {
      Fail(path_ + "." + key, "a known word, not '" + text + "'");
    }
  }

  /// Calls `read(element, path)` -> Status for each element of an array member.
  template <typename F>
  void ForEach(const char* key, F read) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    if (!member->is_array()) return Fail(path_ + "." + key, "an array");
    size_t index = 0;
    for (const Json& element : *member) {
      const Status status = read(element, path_ + "." + key + "[" + std::to_string(index++) + "]");
      if (!status && !error_) error_ = status.error();
    }
  }

  /// The member, or null when absent.
  const Json* Member(const char* key) const {
    if (!value_.is_object()) return nullptr;
    const auto it = value_.find(key);
    return it == value_.end() || it->is_null() ? nullptr : &*it;
  }
  const std::string& path() const { return path_; }
  void Fail(const std::string& where, const std::string& expected) {
    if (!error_) error_ = Error{ErrorKind::kData, where + ": expected " + expected};
  }
  Status status() const { return error_ ? Status(*error_) : Status(Done{}); }

 private:
  const Json& value_;
  std::string path_;
  std::optional<Error> error_;
};

}  // namespace flce
