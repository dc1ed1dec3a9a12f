#include "harness/model/failure.h"

#include <algorithm>

namespace flce {
namespace {

struct FamilyRow {
  Family value;
  std::string_view text;
};
constexpr FamilyRow kFamilies[] = {
    {Family::kTier1, "tier1"},
    {Family::kTier2, "tier2"},
    {Family::kSibling, "sibling"},
    {Family::kEager, "eager"},
    {Family::kEnvironment, "environment"},
    {Family::kOutOfMemory, "out_of_memory"},
    {Family::kUnsupported, "unsupported"},
    {Family::kOtherCompile, "other_compile"},
};

}  // namespace

bool SameFile(std::string_view path, std::string_view file) {
  if (path.size() < file.size() || path.substr(path.size() - file.size()) != file) return false;
  return path.size() == file.size() || path[path.size() - file.size() - 1] == '/';
}

bool PassesThrough(const ExceptionRecord& exception, std::string_view file) {
  const auto is_file = [&](const Frame& frame) { return SameFile(frame.file, file); };
  if (std::any_of(exception.user_frames.begin(), exception.user_frames.end(), is_file)) return true;
  return std::any_of(exception.chain.begin(), exception.chain.end(), [&](const ExceptionLink& link) {
    return std::any_of(link.frames.begin(), link.frames.end(), is_file);
  });
}

std::string_view Text(Family value) {
  for (const FamilyRow& row : kFamilies)
    if (row.value == value) return row.text;
  return "";
}

std::optional<Family> ParseFamily(std::string_view text) {
  for (const FamilyRow& row : kFamilies)
    if (row.text == text) return row.value;
  return std::nullopt;
}

}  // namespace flce
