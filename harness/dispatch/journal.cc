#include "harness/dispatch/journal.h"

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr const char* kFileName = "journal.ndjson";

Json HeaderJson(const JournalHeader& header) {
  return {{"kind", "run"},          {"format", kJournalFormat},         {"run", header.run_id}, {"started", header.started},
          {"argv", header.argv},    {"tool_version", header.tool_version}, {"hashes", header.hashes}};
}

Result<JournalHeader> HeaderFrom(const Json& json, const std::string& origin) {
  JournalHeader header;
  int format = 0;
  JsonReader reader(json, origin);
  reader.Read("format", format);
  reader.Read("run", header.run_id);
  reader.Read("started", header.started);
  reader.Read("argv", header.argv);
  reader.Read("tool_version", header.tool_version);
  reader.Read("hashes", header.hashes);
  FLCE_TRY_DO(reader.status());
  if (format != kJournalFormat)
    return Error{ErrorKind::kData, origin + ": format " + std::to_string(format) + " is too " + (format > kJournalFormat ? "new" : "old") +
                                       "; this program reads " + std::to_string(kJournalFormat)};
  return header;
}

Result<JournalEntry> EntryFrom(const Json& json) {
  JournalEntry entry;
  JsonReader reader(json, "cell");
  reader.Read("cell", entry.key.cell_id);
  reader.Read("inputs", entry.key.inputs);
  FLCE_TRY_DO(reader.status());
  const Json* record = reader.Member("record");
  if (record == nullptr || entry.key.cell_id.empty()) return Error{ErrorKind::kData, "cell: no record"};
  FLCE_TRY(entry.record, CellRecordFromJson(*record));
  return entry;
}

Result<FileLock> LockRun(const fs::path& run_folder) {
  FLCE_TRY(std::optional<FileLock> lock, FileLock::TryAcquire(run_folder / "journal.lock"));
  if (!lock)
    return Error{ErrorKind::kUsage, "run " + run_folder.filename().string() + " is being written by another flce-repro; wait for it, or start a new run"};
  return std::move(*lock);
}

}  // namespace

const JournalEntry* JournalContent::Find(const std::string& cell_id) const {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->key.cell_id == cell_id) return &*entry;
  return nullptr;
}

Result<Journal> Journal::Create(const fs::path& run_folder, const JournalHeader& header) {
  FLCE_TRY_DO(MakeDirectories(run_folder));
  FLCE_TRY(FileLock lock, LockRun(run_folder));
  Journal journal(run_folder / kFileName, std::move(lock));
  std::error_code code;
  if (fs::is_regular_file(journal.file_, code) && fs::file_size(journal.file_, code) > 0)
    return Error{ErrorKind::kUsage, "run " + header.run_id + " exists already; go on with --resume " + header.run_id};
  FLCE_TRY_DO(AppendLine(journal.file_, HeaderJson(header).dump()));
  return journal;
}

Result<Journal> Journal::Resume(const fs::path& run_folder, const std::vector<std::string>& argv, const std::string& at) {
  std::error_code code;
  if (!fs::exists(run_folder / kFileName, code))
    return Error{ErrorKind::kNotFound, "no run " + run_folder.filename().string() + " in " + run_folder.parent_path().string()};
  FLCE_TRY(FileLock lock, LockRun(run_folder));
  Journal journal(run_folder / kFileName, std::move(lock));
  FLCE_TRY_DO(journal.Write(Json{{"kind", "resumed"}, {"at", at}, {"argv", argv}}.dump()));
  return journal;
}

Result<JournalContent> Journal::Read(const fs::path& run_folder) {
  const fs::path file = run_folder / kFileName;
  Result<std::string> text = ReadFile(file);
  if (!text && text.error().kind == ErrorKind::kNotFound)
    return Error{ErrorKind::kNotFound, "no run " + run_folder.filename().string() + " in " + run_folder.parent_path().string()};
  if (!text) return text.error();
  JournalContent content;
  bool has_header = false;
  for (const std::string_view line : Lines(*text)) {
    if (line.empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    const std::string kind = json.is_object() && json.contains("kind") && json["kind"].is_string() ? json["kind"].get<std::string>() : "";
    if (kind.empty()) {
      ++content.damaged_lines;
    } else if (kind == "run") {
      FLCE_TRY(content.header, HeaderFrom(json, file.string()));
      has_header = true;
    } else if (kind == "cell") {
      Result<JournalEntry> entry = EntryFrom(json);
      if (entry) {
        content.entries.push_back(std::move(*entry));
      } else {
        ++content.damaged_lines;
      }
      content.exit_code.reset();
    } else if (kind == "resumed") {
      content.exit_code.reset();
    } else if (kind == "finished" && json.contains("exit_code") && json["exit_code"].is_number_integer()) {
      content.exit_code = json["exit_code"].get<int>();
    }
  }
  if (!has_header) return Error{ErrorKind::kData, file.string() + ": no journal of a run (its first line is missing or damaged)"};
  return content;
}

Status Journal::Write(std::string line) {
  pending_.push_back(std::move(line));
  while (!pending_.empty()) {
    const Status status = AppendLine(file_, pending_.front());
    if (!status)
      return Error{ErrorKind::kIo, status.error().message + "; " + std::to_string(written_) + " finished cells are kept. Free some space, then go on with --resume " +
                                       file_.parent_path().filename().string()};
    pending_.erase(pending_.begin());
  }
  return Done{};
}

Status Journal::Append(const CellKey& key, const CellRecord& record) {
  Json inputs = Json::object();
  for (const auto& [name, hash] : key.inputs) inputs[name] = hash;
  const Json line = {{"kind", "cell"}, {"cell", key.cell_id}, {"inputs", std::move(inputs)}, {"record", ToJson(record)}};
  FLCE_TRY_DO(Write(line.dump(-1, ' ', false, Json::error_handler_t::replace)));
  ++written_;
  return Done{};
}

Status Journal::Finish(int exit_code, const std::string& at) {
  return Write(Json{{"kind", "finished"}, {"exit_code", exit_code}, {"at", at}}.dump());
}

}  // namespace flce
