#include "harness/cli/run_plan.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/cli/gpu_probe.h"
#include "harness/plan/matrix.h"

namespace flce {
namespace {

/// Adds what is not there yet, in order.
void AddNew(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& item : more)
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

Result<DeviceChoice> ChooseEmulated(const RunOptions& options, const DeviceCatalogue& catalogue) {
  constexpr const char* kDefaultCapability = "9.0";
  DeviceChoice choice;
  std::vector<std::string> wanted = options.capability;
  if (wanted == std::vector<std::string>{"all"}) wanted = catalogue.Capabilities();
  if (options.device != "auto" && options.device != "emulated") {
    if (!wanted.empty())
      return Error{ErrorKind::kUsage, "--device " + options.device + " is a card already: leave out --capability, or use --device emulated"};
    wanted = {options.device};
  }
  if (wanted.empty()) wanted = {kDefaultCapability};
  for (const std::string& text : wanted) {
    FLCE_TRY(DeviceSpec spec, catalogue.Emulated(text, options.device_count));
    choice.devices.push_back(std::move(spec));
  }
  return choice;
}

Result<DeviceChoice> ChooseReal(const RunOptions& options, const RealGpu& gpu) {
  for (const std::string& capability : options.capability)
    if (capability != gpu.capability)
      return Error{ErrorKind::kUsage, "--capability " + capability + ": the GPU of this machine (" + gpu.name + ") has " + gpu.capability +
                                          "; use --device emulated for others"};
  DeviceChoice choice;
  choice.kind = DeviceKind::kCuda;
  choice.flavour = Flavour::kFull;
  choice.devices = {DeviceSpec{DeviceKind::kCuda, gpu.capability, "", 1}};
  return choice;
}

}  // namespace

Result<DeviceChoice> ChooseDevices(const RunOptions& options, const DeviceCatalogue& catalogue) {
  if (options.device != "auto" && options.device != "cuda") return ChooseEmulated(options, catalogue);
  // A list of capabilities can only be meant for emulated devices: there is no need to ask the machine.
  if (options.device == "auto" && !options.capability.empty()) return ChooseEmulated(options, catalogue);
  std::string why;
  if (const std::optional<RealGpu> gpu = ProbeGpu(&why)) return ChooseReal(options, *gpu);
  if (options.device == "cuda")
    return Error{ErrorKind::kEnvironment, "--device cuda: no GPU answers (" + why + "); use --device emulated for a verdict without one"};
  FLCE_TRY(DeviceChoice choice, ChooseEmulated(options, catalogue));
  choice.note = "no GPU answers (" + why + "): the device is emulated";
  return choice;
}

Result<std::vector<std::string>> ChooseCases(const RunOptions& options, const CaseCatalogue& catalogue) {
  std::vector<std::string> chosen;
  for (const std::string& word : options.cases) {
    std::vector<std::string> names;
    for (const CaseFile& file : catalogue.cases()) {
      // Controls crash and hang on purpose: they are run when named, and by the gate.
      const bool is_control = file.kind == "control";
      if (word == "all" ? !is_control : file.HasTag(word)) names.push_back(file.name);
    }
    if (names.empty()) {
      FLCE_TRY(const std::vector<const CaseFile*> found, catalogue.Select(word));
      for (const CaseFile* file : found) names.push_back(file->name);
    }
    AddNew(chosen, names);
  }
  return chosen;
}

Result<std::vector<std::string>> ChooseFixes(const RunOptions& options, const fs::path& cases_dir) {
  std::vector<std::string> chosen;
  for (const std::string& word : options.fixes) {
    if (word == "all") {
      FLCE_TRY(const std::vector<FixDescription> fixes, LoadFixes(cases_dir));
      for (const FixDescription& fix : fixes) AddNew(chosen, {fix.name});
      continue;
    }
    FLCE_TRY(const FixDescription fix, FindFix(word, cases_dir));
    const bool is_file = !fix.files.empty() && fix.target.empty();
    AddNew(chosen, {is_file ? fix.files.front().string() : fix.name});
  }
  return chosen;
}

Result<std::vector<Cell>> PlanControls(const Cell& like, const RunData& data) {
  std::vector<Cell> controls;
  for (const ControlRole role : kRequiredControls) {
    const size_t before = controls.size();
    for (const CaseFile& file : data.cases.cases()) {
      if (file.kind != "control" || controls.size() > before) continue;
      Cell cell = like;
      cell.case_name = file.name;
      cell.fix = "none";
      cell.shape.reset();
      const ExpectationRule* rule = data.expectations.Find(FactsOf(cell));
      if (rule != nullptr && rule->control == role) controls.push_back(std::move(cell));
    }
    if (controls.size() == before) return Error{ErrorKind::kData, "cases/expectations.json: no control that must come out " + std::string(Text(role))};
  }
  return controls;
}

Result<std::vector<Cell>> PlanCells(const RunOptions& options, const RunData& data, const DeviceChoice& devices, const fs::path& cases_dir,
                                    Provisioner& provisioner) {
  SelectionSpec spec;
  FLCE_TRY(spec.cases, ChooseCases(options, data.cases));
  FLCE_TRY(spec.fixes, ChooseFixes(options, cases_dir));
  spec.devices = devices.devices;
  if (!options.shapes.empty()) spec.shapes.clear();
  for (const std::string& text : options.shapes) {
    FLCE_TRY(const Shape shape, ParseShape(text));
    spec.shapes.emplace_back(shape);
  }
  if (!options.seeds.empty()) spec.seeds.clear();
  // The default seed by its number is the default: one cell has one name.
  for (const int64_t seed : options.seeds) spec.seeds.push_back(seed == kDefaultSeed ? std::nullopt : std::optional<int64_t>(seed));
  for (const std::string& rule : options.exclude) {
    FLCE_TRY(CellPattern pattern, CellPattern::Parse(rule));
    spec.exclude.push_back(std::move(pattern));
  }
  if (!options.python.empty()) {
    FLCE_TRY(const Environment environment, provisioner.ProvideExternal(options.python));
    if (options.torch != std::vector<std::string>{"newest"})
      return Error{ErrorKind::kUsage, "--torch and --python: the interpreter already has torch " + environment.torch_version};
    spec.torch = {environment.torch_version};
  } else {
    for (const std::string& word : options.torch) {
      FLCE_TRY(const std::vector<std::string> versions, provisioner.ExpandTorch(word, devices.flavour));
      AddNew(spec.torch, versions);
    }
  }
  for (const std::string& word : options.liger) {
    FLCE_TRY(const std::vector<std::string> versions, provisioner.ExpandLiger(word));
    AddNew(spec.liger, versions);
  }
  return ExpandMatrix(spec);
}

}  // namespace flce
