"""Checks reports against the shipped schema: usage: schema_test.py write_samples schema.json"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema


def main():
    program, schema_path = sys.argv[1:]
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        reports = sorted(path for path in pathlib.Path(folder).glob("*.report.json") if not path.name.startswith("large"))
        assert len(reports) >= 15, reports
        for path in reports:
            errors = [f"{path.name}: {list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(json.loads(path.read_text()))]
            assert not errors, errors[:5]
        sample = json.loads((pathlib.Path(folder) / "one.report.json").read_text())

    def wrong(change):
        report = copy.deepcopy(sample)
        change(report)
        return not validator.is_valid(report)

    def right(change):
        return not wrong(change)

    cell = lambda report: report["cells"][0]
    assert wrong(lambda r: r.update(schema_version="2.0"))
    assert wrong(lambda r: r.pop("summary"))
    assert wrong(lambda r: cell(r).update(outcome="passed"))
    assert wrong(lambda r: cell(r).update(reason="luck"))
    assert wrong(lambda r: cell(r).update(stage="warp"))
    assert wrong(lambda r: cell(r).update(signature=None)), "reproduced without a signature"
    assert wrong(lambda r: cell(r).update(shape="8x16"))
    assert wrong(lambda r: cell(r)["device"].update(kind="tpu"))
    assert wrong(lambda r: cell(r)["exception"].update(chain=[]))
    assert wrong(lambda r: cell(r)["memory"].update(eager_peak_bytes=-1))
    assert wrong(lambda r: r["summary"]["by_outcome"].update(passed=1))
    assert wrong(lambda r: r["run"].update(started="yesterday"))
    assert right(lambda r: r.update(schema_version="1.12", later={"x": 1}))
    assert right(lambda r: (cell(r).update(later=1), cell(r)["exception"]["chain"][0].update(later=1)))
    assert right(lambda r: [cell(r).pop(name) for name in ("expectation", "explanation", "findings", "origin", "seconds", "folder", "shape")])
    print(f"{len(reports)} reports are as the schema says")


if __name__ == "__main__":
    main()
