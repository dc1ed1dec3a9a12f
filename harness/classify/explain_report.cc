#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/classify/explain.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShown = 8, kLongestLine = 200;

std::string Row(const char* label, const std::string& text) {
  std::string name = label;
  name.resize(13, ' ');
  return text.empty() ? "" : "  " + name + ToValidUtf8(text) + "\n";
}

std::string FirstLineOf(const ExplainedFailure& failure) {
  const ExceptionLink& link = failure.exception.chain.front();
  if (link.type.empty()) return "(the log ends before it says what was raised)";
  const std::string line = FirstLine(link.message);
  return Truncate(link.type + (line.empty() ? "" : ": " + line), kLongestLine);
}

std::string Where(const ExplainedFailure& failure) {
  std::string text = "line " + std::to_string(failure.first_line);
  if (failure.count > 1) text += ", " + std::to_string(failure.count) + " times";
  if (!failure.streams.empty()) text += " (" + Join(failure.streams, ", ") + ")";
  if (failure.cut) text += ", cut off by the end of the log";
  return text;
}

std::string CalledFrom(const ExplainedFailure& failure) {
  if (failure.exception.user_frames.empty()) return failure.caller;
  const Frame& frame = failure.exception.user_frames.back();
  return failure.caller + ", " + frame.file + ":" + std::to_string(frame.line) + " in " + frame.function;
}

std::string MissText(const NearMiss& miss) {
  return "looks like " + miss.signature + (miss.forbidden ? ", but has what excludes it: " : ", but lacks: ") + miss.clause;
}

std::string KnownText(const SignatureBook& book, const ExplainedFailure& failure) {
  const Match& match = *failure.match;
  std::string text = match.title + "\n" + Row("signature", match.signature) + Row("found", Where(failure)) +
                     Row("failure", FirstLineOf(failure)) + Row("called by", CalledFrom(failure));
  const char* label = "because";
  for (const std::string& evidence : match.evidence) {
    text += Row(label, Truncate(evidence, kLongestLine));
    label = "";
  }
  const Signature* signature = book.Find(match.signature);
  if (signature != nullptr) {
    text += Row("known since", signature->known);
    text += Row("surprise", match.version_surprise);
    text += Row("what to do", signature->what_to_do);
    for (const Confusable& other : signature->confusable_with) text += Row("is not", other.with + ": " + other.why_not);
    text += Row("see", Join(signature->links, " "));
  }
  return text;
}

std::string UnknownText(const ExplainedFailure& failure) {
  std::string text = std::string(failure.cut ? "A failure that the log cuts off" : "A failure of no known signature") + "\n" + Row("found", Where(failure)) +
                     Row("failure", FirstLineOf(failure)) + Row("called by", CalledFrom(failure)) +
                     Row("fingerprint", failure.fingerprint.id + "  " + failure.fingerprint.text);
  for (const NearMiss& miss : failure.near_misses) text += Row("nearest", MissText(miss));
  return text;
}

Json JsonOf(const SignatureBook& book, const ExplainedFailure& failure) {
  Json json = {{"signature", failure.match ? Json(failure.match->signature) : Json(nullptr)},
               {"title", failure.match ? Json(failure.match->title) : Json(nullptr)},
               {"family", failure.match ? Json(Text(failure.match->family)) : Json(nullptr)},
               {"first_line", failure.first_line},
               {"count", failure.count},
               {"streams", failure.streams},
               {"cut", failure.cut},
               {"caller", failure.caller.empty() ? Json(nullptr) : Json(failure.caller)},
               {"fingerprint", failure.fingerprint.id},
               {"evidence", failure.match ? Json(failure.match->evidence) : Json::array()}};
  if (const Signature* signature = failure.match ? book.Find(failure.match->signature) : nullptr) {
    Json others = Json::array();
    for (const Confusable& other : signature->confusable_with) others.push_back({{"with", other.with}, {"why_not", other.why_not}});
    json["known"] = signature->known;
    json["what_to_do"] = signature->what_to_do;
    json["confusable_with"] = std::move(others);
    json["links"] = signature->links;
    if (!failure.match->version_surprise.empty()) json["version_surprise"] = failure.match->version_surprise;
  }
  Json misses = Json::array();
  for (const NearMiss& miss : failure.near_misses)
    misses.push_back({{"signature", miss.signature}, {"clause", miss.clause}, {"forbidden", miss.forbidden}});
  json["near_misses"] = std::move(misses);
  json["exception"] = ToJson(failure.exception);
  return json;
}

/// Logs hold bytes of any kind; a report is UTF-8.
void MakeValid(Json& json) {
  if (json.is_string()) {
    json = ToValidUtf8(json.get<std::string>());
  } else if (json.is_structured()) {
    for (Json& element : json) MakeValid(element);
  }
}

}  // namespace

std::string ExplanationText(const SignatureBook& book, const LogExplanation& explanation) {
  if (!explanation.unreadable.empty()) return "This cannot be read: " + explanation.unreadable + ".\n";
  if (explanation.failures.empty())
    return "No failure found in " + std::to_string(explanation.lines) + " lines (" + HumanBytes(explanation.bytes) +
           "): no traceback and no exception line.\n";
  std::string text;
  size_t shown = 0;
  for (const ExplainedFailure& failure : explanation.failures) {
    if (shown == kShown) break;
    if (shown++ > 0) text += "\n";
    text += failure.match ? KnownText(book, failure) : UnknownText(failure);
  }
  const uint64_t further = explanation.failures.size() - shown + explanation.further;
  if (further > 0) text += "\n" + std::to_string(further) + " further failures; --json has " + (explanation.further > 0 ? "the first of them" : "them all") + ".\n";
  return text;
}

Json ExplanationJson(const SignatureBook& book, const LogExplanation& explanation) {
  Json failures = Json::array();
  for (const ExplainedFailure& failure : explanation.failures) failures.push_back(JsonOf(book, failure));
  Json json = {{"schema_version", "1.0"},
               {"bytes", explanation.bytes},
               {"lines", explanation.lines},
               {"torch", explanation.torch.empty() ? Json(nullptr) : Json(explanation.torch)},
               {"unreadable", explanation.unreadable.empty() ? Json(nullptr) : Json(explanation.unreadable)},
               {"exit_code", static_cast<int>(ExitOf(explanation))},
               {"failures", std::move(failures)},
               {"further", explanation.further}};
  MakeValid(json);
  return json;
}

}  // namespace flce
