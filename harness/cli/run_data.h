#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/classify/signature_book.h"
#include "harness/cli/locations.h"
#include "harness/plan/case_catalogue.h"
#include "harness/plan/device_catalogue.h"
#include "harness/provision/fixes.h"
#include "harness/verdict/decide.h"
#include "harness/verdict/expectations.h"

namespace flce {

/// Everything that is read from cases/ before a run: checked whole, so that a typing error in a data file costs no
/// provisioning.
struct RunData {
  CaseCatalogue cases;
  DeviceCatalogue devices;
  SignatureBook signatures;
  Expectations expectations;
  double memory_budget = 0;      ///< compiled peak allowed, times eager's (cases/tolerances.json)
  std::string signatures_sha256;

  static Result<RunData> Load(const Locations& at);
  /// What the case says about the call in question.
  Result<CaseFacts> FactsOf(const std::string& case_name) const;
};

}  // namespace flce
