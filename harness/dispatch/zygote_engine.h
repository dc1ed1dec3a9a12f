#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/dispatch/engine.h"
#include "harness/dispatch/local_engine.h"
#include "harness/dispatch/zygote.h"

namespace flce {

struct ZygoteOptions {
  int jobs = 1;          ///< cells at once
  int zygotes = 2;       ///< zygotes alive at once: one beyond what runs lets the next one import meanwhile
  fs::path scratch;      ///< folder for the zygotes' own files
  double start_s = 300;  ///< to import and report ready
  double grace_s = 30;   ///< beyond a cell's deadline, until its silent zygote is given up
};

/// Cells as forks of warm processes, one zygote for each set of cells that share an environment, Liger and fix. Falls
/// back to a fresh process for what a zygote cannot do: a real GPU, an environment that does not import, a cell whose
/// zygote died twice. Verdicts are those of fresh processes.
class ZygoteEngine final : public Engine {
 public:
  /// Two hosts, since a host hands out each end once: one for the zygotes, one for cells in fresh processes.
  ZygoteEngine(ProcessHost& zygotes, ProcessHost& cells, ZygoteOptions options, Clock& clock = SystemClock());
  ~ZygoteEngine() override;

  void Submit(CellJob job) override;
  size_t Unfinished() const override;
  size_t Running() const override;
  std::vector<CellResult> Wait(double wait_s) override;

  /// What happened to zygotes, for the log: starts, deaths, falls back to cold.
  struct Statistics {
    int started = 0, died = 0, cold_cells = 0;
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  struct Waiting {
    CellJob job;
    std::string key;
    int losses = 0;  // zygotes that died under it
  };
  struct InFlight {
    Waiting cell;
    double give_up_at = 0;
  };
  struct Live {
    Zygote zygote;
    bool ready = false;
    double ready_by = 0;
    std::map<std::string, InFlight> cells;
    std::set<std::string> warmed;  // profiles of devices that a cell has come back from
  };

  void Fill(std::vector<CellResult>& ended);
  void FillOnce(bool spread, std::vector<CellResult>& ended);
  static bool IsWarming(const Live& live, const std::string& device);
  bool StartZygote(const std::string& key, const CellJob& like);
  bool MakeRoom();
  void SendCell(Live& live, Waiting cell, std::vector<CellResult>& ended);
  void RunCold(Waiting cell);
  void Read(const std::string& key, std::vector<CellResult>& ended);
  void Handle(const std::string& key, Live& live, const std::string& line, std::vector<CellResult>& ended);
  void Bury(const std::string& key);
  void CheckDeadlines();
  void GiveBackAll(std::vector<CellResult>& ended);
  size_t CellsInZygotes() const;
  size_t PlacesTaken() const;

  ProcessHost& host_;
  ZygoteOptions options_;
  Clock& clock_;
  LocalEngine cold_;
  std::deque<Waiting> queue_;
  std::map<std::string, Live> live_;
  std::map<std::string, int> deaths_;  // by key; a zygote that keeps dying is not started again
  int next_folder_ = 0;
  Statistics statistics_;
};

}  // namespace flce
