#include "harness/classify/stage.h"

#include <algorithm>
#include <string_view>

namespace flce {
namespace {

struct Place {
  std::string_view prefix;
  Stage stage;
};

// Innermost frame first; the first row that fits decides. torch/_inductor/graph.py runs both lowering and code
// generation, so it decides only when nothing deeper does.
constexpr Place kPlaces[] = {
    {"torch/_decomp/", Stage::kDecomposition},
    {"torch/_refs/", Stage::kDecomposition},
    {"torch/_inductor/decomposition.py", Stage::kDecomposition},
    {"torch/_inductor/codegen/", Stage::kCodegen},
    {"torch/_inductor/scheduler.py", Stage::kCodegen},
    {"torch/_inductor/select_algorithm.py", Stage::kCodegen},
    {"torch/_inductor/async_compile.py", Stage::kCodegen},
    {"torch/_inductor/codecache.py", Stage::kCodegen},
    {"torch/_inductor/runtime/", Stage::kCodegen},
    {"triton/", Stage::kCodegen},
    {"torch/_inductor/lowering.py", Stage::kLowering},
    {"torch/_inductor/kernel/", Stage::kLowering},
    {"torch/_inductor/ir.py", Stage::kLowering},
    {"torch/_inductor/graph.py", Stage::kLowering},
};

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// "/usr/lib/python3/site-packages/torch/x.py" and "torch/x.py" are the same place.
std::string_view Relative(std::string_view file) {
  for (std::string_view marker : {"site-packages/", "dist-packages/"})
    if (const size_t at = file.rfind(marker); at != std::string_view::npos) return file.substr(at + marker.size());
  return file;
}

std::optional<Stage> StageOfFrames(const ExceptionLink& link) {
  for (auto frame = link.frames.rbegin(); frame != link.frames.rend(); ++frame)
    for (const Place& place : kPlaces)
      if (StartsWith(Relative(frame->file), place.prefix)) return place.stage;
  return std::nullopt;
}

bool IsCompileTime(const ExceptionLink& link) {
  const auto inside = [](const Frame& frame) {
    const std::string_view file = Relative(frame.file);
    return StartsWith(file, "torch/_dynamo/") || StartsWith(file, "torch/_inductor/") || StartsWith(file, "torch/_functorch/_aot");
  };
  return StartsWith(link.type, "torch._dynamo.") || StartsWith(link.type, "torch._inductor.") ||
         std::any_of(link.frames.begin(), link.frames.end(), inside);
}

}  // namespace

std::optional<Stage> AttributeStage(const ExceptionRecord& exception) {
  const std::vector<ExceptionLink>& chain = exception.chain;
  if (std::none_of(chain.begin(), chain.end(), IsCompileTime)) return std::nullopt;
  // A decomposition runs inside Dynamo's fake tensors or inside lowering; wherever it was entered from, it is what failed.
  for (const ExceptionLink& link : chain)
    if (StageOfFrames(link) == Stage::kDecomposition) return Stage::kDecomposition;
  for (const ExceptionLink& link : chain)
    if (EndsWith(link.type, ".LoweringException")) return Stage::kLowering;
  for (auto link = chain.rbegin(); link != chain.rend(); ++link)
    if (const std::optional<Stage> stage = StageOfFrames(*link)) return stage;
  for (const ExceptionLink& link : chain)
    if (StartsWith(link.type, "torch._dynamo.")) return Stage::kDynamo;
  return std::nullopt;
}

}  // namespace flce
