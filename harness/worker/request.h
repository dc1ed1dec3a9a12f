#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace flce::worker {

/// The part of a worker request that is needed before Python runs; the rest is the business of the Python side, which
/// gets `text` unchanged.
struct Request {
  std::string text;                  ///< the whole request, valid JSON
  std::string cell_id;
  std::filesystem::path output_dir;  ///< absolute, exists
  std::filesystem::path python;      ///< absolute path of the environment's interpreter
  std::filesystem::path package_dir; ///< the entry of sys_path that holds flce_worker
  double deadline_s = 0;             ///< 0: none
};

/// Version of the request format that this worker reads.
constexpr int kRequestFormat = 1;

/// Checks types and paths; the error names the field and what is wrong with it.
Result<Request> ParseRequest(std::string_view text);
Result<Request> ReadRequest(const std::filesystem::path& file);

}  // namespace flce::worker
