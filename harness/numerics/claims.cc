#include "harness/numerics/claims.h"

#include <array>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

struct KindRow {
  ClaimKind kind;
  const char* name;
};
constexpr std::array<KindRow, 4> kKinds = {{
    {ClaimKind::kBitwise, "bitwise"},
    {ClaimKind::kChunkRounding, "chunk_rounding"},
    {ClaimKind::kSummation, "summation"},
    {ClaimKind::kReference, "reference"},
}};

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {}

  Error Bad(const std::string& where, const std::string& what) const {
    return Error{ErrorKind::kData, path_.string() + ": " + where + " " + what};
  }

  Result<std::string> Text(const Json& object, const std::string& where, const char* key) const {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || !found->is_string() || found->get<std::string>().empty()) {
      return Bad(where, std::string("needs a text '") + key + "'");
    }
    return found->get<std::string>();
  }

  Result<double> Factor(const Json& object, const std::string& where, const char* key) const {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || !found->is_number() || found->get<double>() < 1) {
      return Bad(where, std::string("needs a number '") + key + "' of at least 1");
    }
    return found->get<double>();
  }

  Result<TensorClaim> ReadTensor(const Json& json, const std::string& where) const {
    FLCE_TRY(const std::string name, Text(json, where, "claim"));
    FLCE_TRY(std::string why, Text(json, where, "why"));
    std::vector<std::string> known;
    for (const KindRow& row : kKinds) {
      if (name == row.name) return TensorClaim{row.kind, std::move(why)};
      known.emplace_back(row.name);
    }
    return Bad(where, "has an " + UnknownName("claim", name, known));
  }

  Result<Claim> ReadClaim(const Json& json, const std::string& where) const {
    FLCE_TRY(std::string fix, Text(json, where, "fix"));
    FLCE_TRY(const std::string range, Text(json, where, "liger"));
    Result<VersionRange> liger = VersionRange::Parse(range);
    if (!liger) return Bad(where, "has no valid range 'liger': " + liger.error().message);
    Claim claim{std::move(fix), std::move(liger).value(), {}};
    const auto tensors = json.find("tensors");
    for (const char* name : {"loss", "grad_x", "grad_w", "*"}) {
      const std::string place = where + ".tensors." + name;
      if (tensors == json.end() || !tensors->is_object() || !tensors->contains(name))
        return Bad(place, "is missing");
      FLCE_TRY(claim.tensors[name], ReadTensor((*tensors)[name], place));
    }
    return claim;
  }

 private:
  fs::path path_;
};

}  // namespace

Result<Tolerances> Tolerances::Load(const fs::path& path) {
  FLCE_TRY(const std::string text, ReadFile(path));
  const Reader reader(path);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return reader.Bad("the file", "is no JSON object");
  if (json.value("format", Json()) != kFormat)
    return reader.Bad("format", "is not " + std::to_string(kFormat));

  Tolerances tolerances;
  FLCE_TRY(tolerances.eager_error_factor,
           reader.Factor(json.value("eager_error", Json()), "eager_error", "factor"));
  FLCE_TRY(tolerances.memory_ratio, reader.Factor(json.value("memory", Json()), "memory", "max_ratio"));
  FLCE_TRY(tolerances.no_fp32_accumulator,
           reader.ReadTensor(json.value("no_fp32_accumulator", Json()), "no_fp32_accumulator"));
  const Json parameters = json.value("parameters", Json::object());
  if (!parameters.is_object()) return reader.Bad("parameters", "is no object");
  for (const auto& [name, claim] : parameters.items()) {
    FLCE_TRY(tolerances.parameters[name], reader.ReadTensor(claim, "parameters." + name));
  }
  const Json claims = json.value("claims", Json());
  if (!claims.is_array() || claims.empty()) return reader.Bad("claims", "needs at least one entry");
  for (size_t i = 0; i < claims.size(); ++i) {
    FLCE_TRY(Claim claim, reader.ReadClaim(claims[i], "claims[" + std::to_string(i) + "]"));
    tolerances.claims.push_back(std::move(claim));
  }
  return tolerances;
}

Result<const Claim*> Tolerances::For(const std::string& fix, const Version& liger) const {
  for (const std::string& name : {fix, std::string("*")}) {
    for (const Claim& claim : claims) {
      if (claim.fix == name && claim.liger.Contains(liger)) return &claim;
    }
  }
  return Error{ErrorKind::kUsage, "no claim is made for the fix '" + fix + "' with Liger " + liger.text()};
}

const TensorClaim& Claim::For(const std::string& tensor) const {
  const auto named = tensors.find(tensor);
  return named != tensors.end() ? named->second : tensors.at("*");
}

std::string ClaimName(ClaimKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

}  // namespace flce
