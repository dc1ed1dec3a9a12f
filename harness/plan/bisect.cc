#include "harness/plan/bisect.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace flce {
namespace {

class Bisection {
 public:
  Bisection(const BisectSpec& spec, const std::function<Probe(const std::string&)>& probe)
      : spec_(spec), axis_(spec.fine.empty() ? spec.points : spec.fine), probe_(probe) {}

  Result<BisectReport> Run() {
    for (const std::string& point : spec_.points) {
      const auto at = std::find(axis_.begin(), axis_.end(), point);
      if (at == axis_.end()) return Error{ErrorKind::kInternal, "bisect: '" + point + "' is not on the axis"};
      coarse_.push_back(static_cast<size_t>(at - axis_.begin()));
    }
    if (coarse_.size() < 2) return Error{ErrorKind::kUsage, "bisect needs two different ends"};
    for (size_t end : {coarse_.front(), coarse_.back()})
      if (Look(end).identity.empty()) return Error{ErrorKind::kEnvironment, "the end " + axis_[end] + " cannot be decided: " + Look(end).why};
    Halve(coarse_);
    SpendTheRest();
    RefineChanges();
    return Report();
  }

 private:
  const Probe& Look(size_t point) {
    const auto seen = results_.find(point);
    if (seen != results_.end()) return seen->second;
    if (const auto known = spec_.known.find(axis_[point]); known != spec_.known.end()) {
      ++reused_;
      return results_.emplace(point, known->second).first->second;
    }
    ++ran_;
    return results_.emplace(point, probe_(axis_[point])).first->second;
  }

  /// The point nearest to the middle of `points` (without its ends) that can be probed.
  std::optional<size_t> ProbeMiddle(const std::vector<size_t>& points) {
    std::vector<size_t> inner(points.begin() + 1, points.end() - 1);
    const size_t middle = points[points.size() / 2];
    // By distance in steps, so that the halves stay even.
    const auto steps = [&](size_t p) {
      const auto at = [&](size_t q) { return std::find(points.begin(), points.end(), q) - points.begin(); };
      return std::abs(at(p) - at(middle));
    };
    std::stable_sort(inner.begin(), inner.end(), [&](size_t a, size_t b) { return steps(a) < steps(b); });
    for (size_t point : inner)
      if (!Look(point).identity.empty()) return point;
    return std::nullopt;
  }

  /// Both ends of `points` are decided. Stretches with equal ends are left alone.
  void Halve(const std::vector<size_t>& points) {
    if (points.size() <= 2 || Look(points.front()).identity == Look(points.back()).identity) return;
    Split(points);
  }

  void Split(const std::vector<size_t>& points) {
    const std::optional<size_t> middle = ProbeMiddle(points);
    if (!middle) return;
    const auto at = std::find(points.begin(), points.end(), *middle);
    Halve({points.begin(), at + 1});
    Halve({at, points.end()});
  }

  /// Stretches between decided points that hold something unprobed.
  std::optional<std::vector<size_t>> LargestAssumed() const {
    std::vector<size_t> best, current;
    size_t best_open = 0, open = 0;
    for (size_t point : coarse_) {
      const auto seen = results_.find(point);
      current.push_back(point);
      if (seen == results_.end()) {
        ++open;
      } else if (!seen->second.identity.empty()) {
        if (open > best_open) best = current, best_open = open;
        current = {point};
        open = 0;
      }
    }
    if (best_open == 0) return std::nullopt;
    return best;
  }

  void SpendTheRest() {
    while (ran_ < spec_.budget) {
      const std::optional<std::vector<size_t>> stretch = LargestAssumed();
      if (!stretch) return;
      // Only the unprobed points count: skipped ones stay skipped.
      std::vector<size_t> points = {stretch->front()};
      for (size_t i = 1; i + 1 < stretch->size(); ++i)
        if (!results_.count((*stretch)[i])) points.push_back((*stretch)[i]);
      points.push_back(stretch->back());
      Split(points);
    }
  }

  /// Finer points between coarse neighbours that differ: patch releases, where they matter.
  void RefineChanges() {
    for (const auto& [from, to] : Changes()) {
      std::vector<size_t> points;
      for (size_t point = from; point <= to; ++point) {
        const auto seen = results_.find(point);
        if (point == from || point == to || seen == results_.end()) points.push_back(point);
      }
      Halve(points);
    }
  }

  /// Decided neighbours that differ.
  std::vector<std::pair<size_t, size_t>> Changes() const {
    std::vector<std::pair<size_t, size_t>> changes;
    std::optional<size_t> last;
    for (const auto& [point, result] : results_) {
      if (result.identity.empty()) continue;
      if (last && results_.at(*last).identity != result.identity) changes.emplace_back(*last, point);
      last = point;
    }
    return changes;
  }

  BisectReport Report() const {
    BisectReport report;
    report.ran = ran_;
    report.reused = reused_;
    bool unclear = false;
    for (const auto& [from, to] : Changes()) {
      ChangePoint change{axis_[from], axis_[to], results_.at(from).identity, results_.at(to).identity, {}};
      for (size_t point = from + 1; point < to; ++point) change.unclear.push_back(axis_[point]);
      unclear |= !change.unclear.empty();
      report.changes.push_back(std::move(change));
    }
    std::vector<std::string> skipped;
    for (const auto& [point, result] : results_) {
      report.probed.emplace_back(axis_[point], result);
      if (result.identity.empty()) skipped.push_back(axis_[point]);
    }
    const auto in_change = [&](size_t point) {
      for (const auto& [from, to] : Changes())
        if (point > from && point < to) return true;
      return false;
    };
    for (size_t point : coarse_)
      if (!results_.count(point) && !in_change(point)) report.assumed.push_back(axis_[point]);
    std::vector<std::string> parts;
    if (!report.assumed.empty()) parts.push_back(Join(report.assumed, ", ") + " not probed, taken to behave as both neighbours do");
    if (!skipped.empty()) parts.push_back(Join(skipped, ", ") + " could not be decided");
    if (unclear) parts.push_back("a change lies within a gap");
    report.confidence = parts.empty() ? "certain: every point was probed" : Join(parts, "; ");
    return report;
  }

  const BisectSpec& spec_;
  std::vector<std::string> axis_;
  std::function<Probe(const std::string&)> probe_;
  std::vector<size_t> coarse_;  // indices into axis_
  std::map<size_t, Probe> results_;
  int ran_ = 0, reused_ = 0;
};

}  // namespace

Result<BisectReport> Bisect(const BisectSpec& spec, const std::function<Probe(const std::string&)>& probe) {
  return Bisection(spec, probe).Run();
}

std::vector<std::string> WithEarlierPatches(const std::vector<std::string>& newest) {
  std::vector<std::string> all;
  for (const std::string& text : newest) {
    const std::optional<Version> version = Version::Parse(text);
    if (version && !version->IsPreRelease() && version->release().size() == 3) {
      const std::string series = std::to_string(version->release()[0]) + "." + std::to_string(version->release()[1]) + ".";
      for (int patch = 0; patch < version->release()[2]; ++patch) all.push_back(series + std::to_string(patch));
    }
    all.push_back(text);
  }
  return all;
}

}  // namespace flce
