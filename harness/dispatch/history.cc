#include "harness/dispatch/history.h"

#include <sqlite3.h>

#include <functional>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS runs(
  id TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT NOT NULL, tool_version TEXT NOT NULL, argv TEXT NOT NULL, exit_code INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS cells(
  run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, cell TEXT NOT NULL, at TEXT NOT NULL, case_name TEXT NOT NULL, torch TEXT NOT NULL,
  liger TEXT NOT NULL, fix TEXT NOT NULL, capability TEXT NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY(run, cell)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cells_by_cell ON cells(cell, at);
)sql";

Error DatabaseError(sqlite3* db, const std::string& what) {
  const int code = sqlite3_errcode(db);
  std::string message = "cannot " + what + " the history: " + sqlite3_errmsg(db);
  if (code == SQLITE_BUSY) message += " (another program holds " + std::string(sqlite3_db_filename(db, "main")) + "; try again when it is done)";
  return {code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ErrorKind::kData : ErrorKind::kIo, message};
}

/// One prepared statement, bound in order.
class Statement {
 public:
  static Result<Statement> Prepare(sqlite3* db, const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, text.c_str(), -1, &statement, nullptr) != SQLITE_OK) return DatabaseError(db, "read");
    return Statement(db, statement);
  }
  Statement(Statement&& other) noexcept : db_(other.db_), statement_(std::exchange(other.statement_, nullptr)) {}
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& Bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& Bind(int number) {
    sqlite3_bind_int(statement_, ++bound_, number);
    return *this;
  }
  /// Runs it; `row` sees each row.
  Status Run(const std::function<Status(Statement&)>& row = nullptr) {
    for (;;) {
      const int code = sqlite3_step(statement_);
      if (code == SQLITE_DONE) break;
      if (code != SQLITE_ROW) return DatabaseError(db_, row ? "read" : "write");
      if (row) FLCE_TRY_DO(row(*this));
    }
    sqlite3_reset(statement_);
    bound_ = 0;
    return Done{};
  }
  std::string Text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }
  int Number(int column) const { return sqlite3_column_int(statement_, column); }

 private:
  Statement(sqlite3* db, sqlite3_stmt* statement) : db_(db), statement_(statement) {}
  sqlite3* db_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

Status Execute(sqlite3* db, const char* text, const char* what) {
  if (sqlite3_exec(db, text, nullptr, nullptr, nullptr) != SQLITE_OK) return DatabaseError(db, what);
  return Done{};
}

/// What of a record is worth keeping for years.
Json Slim(const CellRecord& cell) {
  Json json = ToJson(cell);
  for (const char* key : {"exception", "launches", "findings", "timings_ms"}) json.erase(key);
  if (json.contains("memory") && json["memory"].is_object()) json["memory"].erase("top_blocks");
  return json;
}

Result<CellRecord> RecordFrom(const std::string& text) {
  FLCE_TRY(const Json json, ParseJson(text, "history"));
  return CellRecordFromJson(json);
}

}  // namespace

void History::Closer::operator()(sqlite3* db) const { sqlite3_close(db); }
History::History(History&&) noexcept = default;
History::~History() = default;

Result<History> History::Open(const fs::path& file, std::chrono::milliseconds wait) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  History history(raw);
  if (code != SQLITE_OK)
    return Error{ErrorKind::kIo, "cannot open the history " + file.string() + ": " + (raw == nullptr ? "no memory" : sqlite3_errmsg(raw))};
  sqlite3_busy_timeout(raw, static_cast<int>(wait.count()));
  int format = 0;
  {
    FLCE_TRY(Statement version, Statement::Prepare(raw, "PRAGMA user_version"));
    FLCE_TRY_DO(version.Run([&](Statement& row) -> Status {
      format = row.Number(0);
      return Done{};
    }));
  }
  if (format > kHistoryFormat)
    return Error{ErrorKind::kData, file.string() + ": format " + std::to_string(format) + " is too new; this program reads " + std::to_string(kHistoryFormat)};
  if (format < kHistoryFormat) {
    // Another driver may be doing the same: the transaction lets one at a time, and every statement may be repeated. No
    // change to a write-ahead log here: SQLite makes it while it already reads, where it never waits but fails at once.
    FLCE_TRY_DO(Execute(raw, "BEGIN IMMEDIATE", "prepare"));
    FLCE_TRY_DO(Execute(raw, kSchema, "prepare"));
    FLCE_TRY_DO(Execute(raw, ("PRAGMA user_version=" + std::to_string(kHistoryFormat)).c_str(), "prepare"));
    FLCE_TRY_DO(Execute(raw, "COMMIT", "prepare"));
  }
  FLCE_TRY_DO(Execute(raw, "PRAGMA foreign_keys=ON", "prepare"));
  return history;
}

Status History::Record(const RunRecord& run) {
  sqlite3* db = db_.get();
  FLCE_TRY_DO(Execute(db, "BEGIN IMMEDIATE", "write"));
  const auto write = [&]() -> Status {
    FLCE_TRY(Statement drop, Statement::Prepare(db, "DELETE FROM runs WHERE id=?"));
    FLCE_TRY_DO(drop.Bind(run.id).Run());
    FLCE_TRY(Statement add_run, Statement::Prepare(db, "INSERT INTO runs VALUES(?,?,?,?,?,?)"));
    FLCE_TRY_DO(add_run.Bind(run.id).Bind(run.started).Bind(run.finished).Bind(run.tool_version).Bind(Json(run.argv).dump()).Bind(run.exit_code).Run());
    FLCE_TRY(Statement add_cell, Statement::Prepare(db, "INSERT OR REPLACE INTO cells VALUES(?,?,?,?,?,?,?,?,?,?)"));
    for (const CellRecord& cell : run.cells)
      FLCE_TRY_DO(add_cell.Bind(run.id)
                      .Bind(cell.id)
                      .Bind(run.started)
                      .Bind(cell.case_name)
                      .Bind(cell.torch)
                      .Bind(cell.liger)
                      .Bind(cell.fix)
                      .Bind(cell.capability)
                      .Bind(std::string(Text(cell.verdict.outcome)))
                      .Bind(Slim(cell).dump(-1, ' ', false, Json::error_handler_t::replace))
                      .Run());
    return Done{};
  };
  Status status = write();
  if (status) status = Execute(db, "COMMIT", "write");
  if (!status) (void)Execute(db, "ROLLBACK", "write");
  return status;
}

Result<std::vector<HistoryRun>> History::Runs() const {
  std::vector<HistoryRun> runs;
  FLCE_TRY(Statement select, Statement::Prepare(db_.get(),
                                                "SELECT id, started, finished, tool_version, argv, exit_code, (SELECT count(*) FROM cells WHERE run=id) "
                                                "FROM runs ORDER BY started DESC, id DESC"));
  FLCE_TRY_DO(select.Run([&](Statement& row) -> Status {
    FLCE_TRY(const Json argv, ParseJson(row.Text(4), "history"));
    runs.push_back({row.Text(0), row.Text(1), row.Text(2), row.Text(3), argv.get<std::vector<std::string>>(), row.Number(5), row.Number(6)});
    return Done{};
  }));
  return runs;
}

Result<std::vector<HistoryEntry>> History::Entries(const HistoryFilter& filter) const {
  std::string text = "SELECT run, at, record FROM cells WHERE 1";
  std::vector<std::string> values;
  for (const auto& [column, value] : {std::pair{"cell", &filter.cell}, {"case_name", &filter.case_name}, {"torch", &filter.torch},
                                      {"liger", &filter.liger}, {"fix", &filter.fix}, {"capability", &filter.capability}}) {
    if (value->empty()) continue;
    text += std::string(" AND ") + column + " GLOB ?";
    values.push_back(*value);
  }
  FLCE_TRY(Statement select, Statement::Prepare(db_.get(), text + " ORDER BY cell, at, run"));
  for (const std::string& value : values) select.Bind(value);
  std::vector<HistoryEntry> entries;
  FLCE_TRY_DO(select.Run([&](Statement& row) -> Status {
    FLCE_TRY(CellRecord record, RecordFrom(row.Text(2)));
    entries.push_back({row.Text(0), row.Text(1), std::move(record)});
    return Done{};
  }));
  return entries;
}

Result<std::vector<HistoryEntry>> History::Latest(const HistoryFilter& filter) const {
  FLCE_TRY(std::vector<HistoryEntry> all, Entries(filter));
  std::vector<HistoryEntry> latest;
  for (size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || all[i + 1].record.id != all[i].record.id) latest.push_back(std::move(all[i]));
  return latest;
}

Result<std::vector<CellRecord>> History::CellsOf(const std::string& run) const {
  FLCE_TRY(const std::vector<HistoryRun> runs, Runs());
  std::string id = run;
  if (run == "last" || run.rfind("last~", 0) == 0) {
    const size_t back = run == "last" ? 0 : static_cast<size_t>(std::max(0, std::atoi(run.c_str() + 5)));
    if (back >= runs.size()) return Error{ErrorKind::kNotFound, "no run '" + run + "': the history holds " + std::to_string(runs.size())};
    id = runs[back].id;
  }
  std::vector<std::string> known;
  bool found = false;
  for (const HistoryRun& candidate : runs) {
    found |= candidate.id == id;
    if (known.size() < 5) known.push_back(candidate.id);
  }
  if (!found) return Error{ErrorKind::kNotFound, known.empty() ? "no run '" + run + "': the history is empty" : UnknownName("run", run, known)};
  FLCE_TRY(Statement select, Statement::Prepare(db_.get(), "SELECT record FROM cells WHERE run=? ORDER BY cell"));
  select.Bind(id);
  std::vector<CellRecord> cells;
  FLCE_TRY_DO(select.Run([&](Statement& row) -> Status {
    FLCE_TRY(CellRecord record, RecordFrom(row.Text(0)));
    cells.push_back(std::move(record));
    return Done{};
  }));
  return cells;
}

}  // namespace flce
