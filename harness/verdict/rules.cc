#include "harness/verdict/rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/model/identity.h"

namespace flce {
namespace {

constexpr size_t kAxes = 3;
constexpr std::array<const char*, kAxes> kAxisNames = {"torch", "liger", "capability"};

using Point = std::array<size_t, kAxes>;  // indices into the axes' sorted values
struct Box {
  Point low, high;  // both inclusive
  bool Holds(const Point& p) const {
    for (size_t a = 0; a < kAxes; ++a)
      if (p[a] < low[a] || p[a] > high[a]) return false;
    return true;
  }
};

/// The tested values of an axis, ascending; a text that is no version (a checkout) has no place on it.
std::vector<Version> Values(std::set<std::string> texts) {
  std::vector<Version> values;
  for (const std::string& text : texts)
    if (std::optional<Version> version = Version::Parse(text)) values.push_back(std::move(*version));
  std::sort(values.begin(), values.end(), [](const Version& a, const Version& b) { return a < b; });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// "2.8.0" -> "2.8": a bound at the first of a series is the series itself.
std::string Bound(const Version& version) {
  const std::string text = version.Public();
  if (!version.IsPreRelease() && version.release().size() == 3 && version.release()[2] == 0) return text.substr(0, text.rfind('.'));
  return text;
}

class Group {
 public:
  void Add(const CellRecord& cell) { cells_.push_back(&cell); }

  RuleGroup Derive(const KnownReleases& known) {
    RuleGroup group;
    group.cells = static_cast<int>(cells_.size());
    BuildAxes();
    Place(group);
    FindBoxes(group);
    FindGaps(group, known);
    return group;
  }

 private:
  static std::array<std::string, kAxes> Coordinates(const CellRecord& cell) { return {cell.torch, cell.liger, cell.capability}; }

  void BuildAxes() {
    std::array<std::set<std::string>, kAxes> texts;
    for (const CellRecord* cell : cells_)
      for (size_t a = 0; a < kAxes; ++a)
        if (Version::Parse(Coordinates(*cell)[a])) texts[a].insert(Version::Parse(Coordinates(*cell)[a])->Public());
    for (size_t a = 0; a < kAxes; ++a) axes_[a] = Values(texts[a]);
  }

  std::optional<Point> PointOf(const CellRecord& cell) const {
    Point point{};
    for (size_t a = 0; a < kAxes; ++a) {
      const std::optional<Version> version = Version::Parse(Coordinates(cell)[a]);
      if (!version) return std::nullopt;
      point[a] = static_cast<size_t>(std::find(axes_[a].begin(), axes_[a].end(), *version) - axes_[a].begin());
    }
    return point;
  }

  std::string Name(const Point& point) const {
    std::vector<std::string> parts;
    for (size_t a = 0; a < kAxes; ++a) parts.push_back(std::string(kAxisNames[a]) + " " + axes_[a][point[a]].text());
    return Join(parts, ", ");
  }

  void Place(RuleGroup& group) {
    std::map<Point, std::set<std::string>> seen;
    for (const CellRecord* cell : cells_) {
      const std::optional<Point> point = PointOf(*cell);
      if (!point) {
        group.gaps.push_back("liger '" + cell->liger + "' is no release and stands in no rule");
      } else if (!Decides(cell->verdict)) {
        undecided_[*point] = IdentityOf(cell->verdict);
      } else {
        seen[*point].insert(IdentityOf(cell->verdict));
      }
    }
    for (const auto& [point, identities] : seen) {
      if (identities.size() > 1) {
        group.contradictions.push_back(Name(point) + ": " + Join({identities.begin(), identities.end()}, " and "));
      } else {
        decided_[point] = *identities.begin();
      }
      undecided_.erase(point);
    }
  }

  bool Pure(const Box& box, const std::string& identity) const {
    return std::all_of(decided_.begin(), decided_.end(), [&](const auto& entry) { return entry.second == identity || !box.Holds(entry.first); });
  }
  int Covers(const Box& box, const std::set<Point>& points) const {
    return static_cast<int>(std::count_if(points.begin(), points.end(), [&](const Point& p) { return box.Holds(p); }));
  }

  /// Grows a box in the six directions, in the given order of axes, one step at a time, as far as it stays pure.
  Box Grow(const Point& seed, const std::array<size_t, kAxes>& order, const std::string& identity) const {
    Box box{seed, seed};
    for (size_t axis : order) {
      for (bool up : {true, false})
        for (;;) {
          Box wider = box;
          if (up) {
            if (box.high[axis] + 1 >= axes_[axis].size()) break;
            ++wider.high[axis];
          } else {
            if (box.low[axis] == 0) break;
            --wider.low[axis];
          }
          if (!Pure(wider, identity)) break;
          box = wider;
        }
    }
    return box;
  }

  void FindBoxes(RuleGroup& group) {
    std::map<std::string, std::set<Point>> left;
    for (const auto& [point, identity] : decided_) left[identity].insert(point);
    std::vector<std::pair<Box, DerivedRule>> found;
    for (auto& [identity, points] : left) {
      const std::set<Point> all = points;
      while (!points.empty()) {
        Box best{*points.begin(), *points.begin()};
        int best_gain = 0;
        std::array<size_t, kAxes> order = {0, 1, 2};
        do {
          for (const Point& seed : points) {
            const Box box = Grow(seed, order, identity);
            const int gain = Covers(box, points);
            if (gain > best_gain) best = box, best_gain = gain;
          }
        } while (std::next_permutation(order.begin(), order.end()));
        found.push_back({best, {Describe(best), identity, Covers(best, all)}});
        std::erase_if(points, [&](const Point& p) { return best.Holds(p); });
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second.cells > b.second.cells; });
    for (const auto& [box, rule] : found) {
      group.rules.push_back(rule);
      boxes_.push_back(box);
    }
  }

  std::string Describe(const Box& box) const {
    std::vector<std::string> parts;
    for (size_t a = 0; a < kAxes; ++a) {
      std::vector<std::string> bounds;
      if (box.low[a] > 0) bounds.push_back(">=" + Bound(axes_[a][box.low[a]]));
      if (box.high[a] + 1 < axes_[a].size()) bounds.push_back("<" + Bound(axes_[a][box.high[a] + 1]));
      if (!bounds.empty()) parts.push_back(std::string(kAxisNames[a]) + " " + Join(bounds, ","));
    }
    return parts.empty() ? "always" : Join(parts, "; ");
  }

  void FindGaps(RuleGroup& group, const KnownReleases& known) {
    for (const auto& [point, identity] : undecided_) group.gaps.push_back(Name(point) + ": " + identity + ", decides nothing");
    const size_t product = axes_[0].size() * axes_[1].size() * axes_[2].size();
    const size_t tested = decided_.size() + undecided_.size() + group.contradictions.size();
    if (tested < product) group.gaps.push_back(std::to_string(product - tested) + " of " + std::to_string(product) + " combinations of the tested versions were not run");
    const std::array<const std::vector<std::string>*, 2> releases = {&known.torch, &known.liger};
    for (size_t a = 0; a < releases.size(); ++a) ReleaseGaps(a, *releases[a], group);
  }

  /// Releases that exist beside those tested: at a boundary they decide where it is, beyond the ends they are unknown.
  void ReleaseGaps(size_t axis, const std::vector<std::string>& releases, RuleGroup& group) {
    if (axes_[axis].empty()) return;
    std::set<size_t> boundaries;  // a rule ends between value i - 1 and value i
    for (const Box& box : boxes_) {
      if (box.low[axis] > 0) boundaries.insert(box.low[axis]);
      if (box.high[axis] + 1 < axes_[axis].size()) boundaries.insert(box.high[axis] + 1);
    }
    std::vector<std::string> newer;
    std::map<size_t, std::vector<std::string>> at_boundary;
    for (const Version& release : Values({releases.begin(), releases.end()})) {
      if (release.IsPreRelease() || std::find(axes_[axis].begin(), axes_[axis].end(), release) != axes_[axis].end()) continue;
      if (release > axes_[axis].back()) newer.push_back(release.text());
      for (size_t boundary : boundaries)
        if (release > axes_[axis][boundary - 1] && release < axes_[axis][boundary]) at_boundary[boundary].push_back(release.text());
    }
    for (const auto& [boundary, texts] : at_boundary)
      group.gaps.push_back(std::string(kAxisNames[axis]) + " " + Join(texts, ", ") + ": not tested, at the boundary below " + axes_[axis][boundary].text());
    if (!newer.empty()) group.gaps.push_back(std::string(kAxisNames[axis]) + " " + Join(newer, ", ") + ": newer than anything tested");
  }

  std::vector<const CellRecord*> cells_;
  std::array<std::vector<Version>, kAxes> axes_;
  std::map<Point, std::string> decided_, undecided_;
  std::vector<Box> boxes_;
};

}  // namespace

std::vector<RuleGroup> DeriveRules(const std::vector<CellRecord>& cells, const KnownReleases& known) {
  std::map<std::array<std::string, 3>, Group> groups;
  for (const CellRecord& cell : cells) {
    std::string device(Text(cell.device_kind));
    if (cell.shape) device += " " + Text(*cell.shape);
    groups[{cell.case_name, cell.fix, device}].Add(cell);
  }
  std::vector<RuleGroup> derived;
  for (auto& [key, group] : groups) {
    RuleGroup result = group.Derive(known);
    result.case_name = key[0];
    result.fix = key[1];
    result.device = key[2];
    derived.push_back(std::move(result));
  }
  return derived;
}

}  // namespace flce
