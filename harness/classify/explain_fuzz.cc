// libFuzzer target of scripts/fuzz-explain: any bytes in pieces of any size must be explained without a crash, the same
// way as in one piece, and rendered.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/classify/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flce;
  static const auto* book = new Result<SignatureBook>(SignatureBook::Load(std::getenv("FLCE_SIGNATURES")));
  if (!book->ok() || size == 0) return 0;
  const size_t piece = 1 + data[0];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  LogExplainer whole(book->value()), pieces(book->value());
  whole.Feed(rest);
  while (!rest.empty()) {
    pieces.Feed(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  const LogExplanation one = whole.Finish(), many = pieces.Finish();
  // What is no text is told by the first bytes of the first piece, so only text is compared.
  if (one.unreadable.empty() && many.unreadable.empty() && (one.failures.size() != many.failures.size() || one.lines != many.lines)) std::abort();
  ExplanationText(book->value(), one);
  ExplanationJson(book->value(), one).dump();
  return 0;
}
