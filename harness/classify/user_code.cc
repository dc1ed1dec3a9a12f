#include "harness/classify/user_code.h"

#include <re2/re2.h>

#include <algorithm>

namespace flce {
namespace {

using re2::StringPiece;

constexpr size_t kMaxUserFrames = 64;
constexpr std::string_view kUserCode = "from user code:";

bool IsLibrary(std::string_view file) {
  constexpr std::string_view kLibraries[] = {"torch/", "triton/", "functorch/", "harness/worker/", "python/", "inductor/", "<", "numpy/", "sympy/"};
  return std::any_of(std::begin(kLibraries), std::end(kLibraries), [&](std::string_view prefix) { return file.substr(0, prefix.size()) == prefix; });
}

void Add(std::vector<Frame>& frames, Frame frame) {
  if (IsLibrary(frame.file)) return;
  frames.erase(std::remove(frames.begin(), frames.end(), frame), frames.end());
  if (frames.size() >= kMaxUserFrames) frames.erase(frames.begin());
  frames.push_back(std::move(frame));
}

void AddFramesOf(std::string_view text, std::vector<Frame>& frames) {
  static const auto* pattern = new RE2(R"re(File "([^"\n]{1,1000})", line (\d{1,9}), in ([^\s,]{1,300}))re");
  StringPiece rest(text.data(), text.size());
  Frame frame;
  while (RE2::FindAndConsume(&rest, *pattern, &frame.file, &frame.line, &frame.function)) {
    frame.file = ShortFile(frame.file);
    Add(frames, frame);
  }
}

struct Owner {
  std::string_view file, name;
};
constexpr Owner kOwners[] = {
    {"liger_kernel/ops/fused_linear_cross_entropy.py", "Liger's fused linear cross entropy"},
    {"liger_kernel/ops/fused_linear_jsd.py", "Liger's fused linear JSD"},
    {"liger_kernel/ops/fused_linear_kl_div.py", "Liger's fused linear KL divergence"},
    {"liger_kernel/ops/fused_linear_scaled_cross_entropy.py", "Liger's fused linear scaled cross entropy"},
    {"liger_kernel/ops/cutedsl/", "Liger's CuTe kernels"},
    {"liger_kernel/", "another part of Liger"},
};

}  // namespace

std::string ShortFile(std::string_view file) {
  for (std::string_view marker : {"site-packages/", "dist-packages/", "site-packages\\"})
    if (const size_t at = file.rfind(marker); at != std::string_view::npos) return std::string(file.substr(at + marker.size()));
  if (const size_t at = file.rfind("/liger_kernel/"); at != std::string_view::npos) return std::string(file.substr(at + 1));
  static const auto* standard = new RE2(R"(.*/lib/python3\.\d+/(.*))");
  std::string rest;
  if (RE2::FullMatch(StringPiece(file.data(), file.size()), *standard, &rest)) return "python/" + rest;
  return std::string(file);
}

void AddWhatMessagesTell(ExceptionRecord& exception) {
  static const auto* target = new RE2(R"((?m)^\s*target: (\S{1,200}))");
  for (const ExceptionLink& link : exception.chain)
    if (exception.target.empty()) RE2::PartialMatch(link.message, *target, &exception.target);
  for (const Frame& frame : exception.chain.front().frames) Add(exception.user_frames, frame);
  for (const ExceptionLink& link : exception.chain) {
    const size_t at = link.message.find(kUserCode);
    if (at != std::string::npos) return AddFramesOf(std::string_view(link.message).substr(at), exception.user_frames);
  }
  for (const ExceptionLink& link : exception.chain) {
    const size_t before = exception.user_frames.size();
    AddFramesOf(link.message, exception.user_frames);
    if (exception.user_frames.size() > before) return;
  }
}

std::string CallerOf(const ExceptionRecord& exception) {
  for (auto frame = exception.user_frames.rbegin(); frame != exception.user_frames.rend(); ++frame)
    for (const Owner& owner : kOwners)
      if (frame->file.find(owner.file) != std::string::npos) return std::string(owner.name);
  return exception.user_frames.empty() ? "" : "the program's own code";
}

}  // namespace flce
