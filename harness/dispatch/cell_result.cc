#include "harness/dispatch/cell_result.h"

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr uint64_t kTail = 16 << 10;
constexpr uint64_t kLargestObservation = 256u << 20;

/// What is known of a cell without a word from its worker.
Observation Blank(const CellJob& job) {
  Observation observation;
  observation.cell_id = job.request.cell_id;
  observation.device_kind = job.request.device.kind;
  observation.capability = job.request.device.capability;
  if (const Result<Json> document = ParseJson(job.request.case_document, "case"); document && document->is_object())
    observation.case_name = document->value("name", "");
  return observation;
}

/// The stages begun, from a file that a kill may have cut anywhere.
void ReadProgress(const fs::path& file, Observation& observation) {
  const std::string text = ReadTail(file, 1 << 20);
  for (const std::string_view line : Lines(text)) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("stage") || !json["stage"].is_string()) continue;
    if (const std::optional<Stage> stage = ParseStage(json["stage"].get<std::string>())) observation.stages.push_back(*stage);
  }
  if (!observation.stages.empty()) observation.stage = observation.stages.back();
}

}  // namespace

ProcessEnd EndOf(const ProcessResult& result, const fs::path& stderr_file) {
  ProcessEnd end;
  if (const auto* exited = std::get_if<Exited>(&result.state)) {
    end.kind = ProcessEnd::Kind::kExited;
    end.code = exited->code;
  } else if (const auto* signaled = std::get_if<Signaled>(&result.state)) {
    end.kind = ProcessEnd::Kind::kSignaled;
    end.code = signaled->signal;
  } else if (std::holds_alternative<TimedOut>(result.state)) {
    end.kind = ProcessEnd::Kind::kTimedOut;
  } else {
    end.kind = ProcessEnd::Kind::kSignaled;
    end.code = 15;
  }
  end.seconds = result.seconds;
  end.max_rss_bytes = result.max_rss_bytes;
  end.stderr_tail = ToValidUtf8(StripAnsi(ReadTail(stderr_file, kTail)));
  return end;
}

Observation CollectObservation(const CellJob& job, const ProcessEnd& end) {
  const CellFiles files(job.request.output_dir);
  Observation observation = Blank(job);
  std::string problem;
  if (Result<std::string> text = ReadFile(files.observation, kLargestObservation)) {
    Result<Json> json = ParseJson(*text, "observation.json");
    Result<Observation> read = json ? ObservationFromJson(*json) : Result<Observation>(json.error());
    if (read) {
      observation = std::move(*read);
    } else {
      problem = read.error().message;
    }
  } else if (text.error().kind != ErrorKind::kNotFound) {
    problem = text.error().message;
  }
  if (observation.stages.empty()) ReadProgress(files.progress, observation);
  observation.cell_id = job.request.cell_id;
  observation.end = end;
  if (!problem.empty()) {
    observation.error = "what the worker wrote cannot be read: " + problem;
    observation.end.detail += (observation.end.detail.empty() ? "" : "; ") + problem;
  }
  return observation;
}

}  // namespace flce
