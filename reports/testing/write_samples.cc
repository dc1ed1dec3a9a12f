// Writes every format of the sample runs to a folder: for tests that read them with other programs, and for the eye.
#include <iostream>

#include "harness/base/files.h"
#include "reports/html.h"
#include "reports/reporter.h"
#include "reports/terminal.h"
#include "reports/testing/sample_run.h"

namespace {

int Write(const flce::fs::path& path, const std::string& text) {
  const flce::Status status = flce::WriteFileAtomically(path, text);
  if (!status) std::cerr << status.error().message << "\n";
  return status ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_samples FOLDER\n";
    return 2;
  }
  const flce::fs::path folder = argv[1];
  if (!flce::MakeDirectories(folder)) return 1;
  using namespace flce::testing;
  const flce::ReportOptions options = SampleOptions();
  flce::RunRecord one = SampleRun();
  one.cells = {TierTwoCell()};
  // Its cases on one torch at one place, with two fixes.
  flce::RunRecord fixes = ManyCasesRun();
  std::erase_if(fixes.cells, [](const flce::CellRecord& cell) { return !cell.torch.starts_with("2.15") || cell.seed || cell.capability != "9.0"; });
  for (size_t i = 0, count = fixes.cells.size(); i < count; ++i) {
    flce::CellRecord cell = fixes.cells[i];
    cell.fix = "guard";
    cell.id += "/guard";
    fixes.cells.push_back(std::move(cell));
  }
  std::vector<std::pair<std::string, flce::RunRecord>> runs = {{"one", one}, {"sample", SampleRun()}, {"later", LaterSampleRun()}, {"cases", ManyCasesRun()}, {"fixes", fixes}, {"large", LargeRun(5000)}};
  for (uint64_t seed = 0; seed < 12; ++seed) runs.emplace_back("hostile" + std::to_string(seed), HostileRun(seed));
  int failed = 0;
  for (const auto& [name, run] : runs) {
    for (const flce::Reporter& reporter : flce::Reporters())
      failed |= Write(folder / (name + "." + std::string(reporter.file_name)), reporter.render(run, options));
    for (size_t width : {80, 120}) {
      flce::TerminalOptions terminal;
      terminal.color = true;
      terminal.width = width;
      failed |= Write(folder / (name + ".terminal" + std::to_string(width) + ".txt"), RenderTerminal(run, options, terminal));
    }
  }
  flce::TerminalOptions plain;
  plain.width = 80;
  flce::ReportOptions with_path = options;
  with_path.report_path = "/state/runs/r/report.json";
  failed |= Write(folder / "one.terminal.txt", RenderTerminal(one, with_path, plain));
  const flce::RunRecord before = SampleRun();
  failed |= Write(folder / "compared.report.html", flce::RenderHtml(LaterSampleRun(), options, &before));
  return failed;
}
