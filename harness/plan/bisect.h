#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// What probing one point of an axis gave.
struct Probe {
  std::string identity;  ///< two points with the same identity behave the same; "" when nothing could be told
  std::string why;       ///< why nothing could be told ("torch 2.99 cannot be provisioned")
};

struct BisectSpec {
  std::vector<std::string> points;  ///< coarse, in order: the newest patch of each minor release, every Liger, commits
  /// All points there are, in order, `points` among them. Between two coarse points that differ, the finer ones are
  /// looked at too. Empty: as `points`.
  std::vector<std::string> fine;
  /// Probes to spend. What bisection leaves of them goes into stretches that it took to be unchanged, largest first.
  int budget = 8;
  std::map<std::string, Probe> known;  ///< results that need no run
};

/// Between two neighbouring points that were probed and differ.
struct ChangePoint {
  std::string before, after;  ///< points
  std::string from, to;       ///< identities
  std::vector<std::string> unclear;  ///< points between them that could not be probed: the change is at one of them or at `after`
};

struct BisectReport {
  std::vector<ChangePoint> changes;                          ///< in order
  std::vector<std::pair<std::string, Probe>> probed;         ///< in the order of the axis
  std::vector<std::string> assumed;                          ///< not probed, between two that behave the same
  int ran = 0, reused = 0;                                   ///< probes made, and taken from `known`
  /// "certain" if nothing is assumed or unclear, else what the finding rests on.
  std::string confidence;
};

/// Finds every change point on an axis, not only one: both ends are probed first, then every stretch whose ends differ is
/// halved until its ends are neighbours. A point that cannot be probed is replaced by its nearest neighbour. Each point is
/// probed once. An end that cannot be probed is kEnvironment; fewer than two points are kUsage.
Result<BisectReport> Bisect(const BisectSpec& spec, const std::function<Probe(const std::string& point)>& probe);

/// "2.9.2" -> "2.9.0", "2.9.1", "2.9.2": the patch releases that came before each of `newest`, each in its place. A number
/// that was never released cannot be provisioned, and is skipped as such.
std::vector<std::string> WithEarlierPatches(const std::vector<std::string>& newest);

}  // namespace flce
