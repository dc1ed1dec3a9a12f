"""Every case file fits its schema and the module it names."""

import ast
import json
import os
import unittest

import jsonschema

import cell_request

CASES = os.path.join(cell_request.ROOT, "cases")


class CaseFiles(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(CASES, "schema", "case.schema.json"), encoding="utf-8") as source:
            self.schema = json.load(source)
        self.cases = {name: cell_request.load_case(name) for name in cell_request.case_names()}

    def test_there_is_the_reported_case(self):
        case = self.cases["flce-bf16-fp32-accum"]
        self.assertEqual(case["shape"], {"bt": 8, "h": 16, "v": 32})
        self.assertEqual(case["parameters"], {"dtype": "bfloat16", "accum_dtype": "float32"})
        self.assertIs(case["compile"]["capture_scalar_outputs"], True)

    def test_each_fits_the_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)
        validator = jsonschema.Draft202012Validator(self.schema)
        for name, case in self.cases.items():
            with self.subTest(name):
                self.assertEqual([error.message for error in validator.iter_errors(case)], [])
                self.assertEqual(case["name"], name)

    def test_each_names_a_function_that_exists(self):
        for name, case in self.cases.items():
            with self.subTest(name), open(os.path.join(CASES, case["module"] + ".py"), encoding="utf-8") as source:
                functions = [node.name for node in ast.parse(source.read()).body if isinstance(node, ast.FunctionDef)]
                if case["name"] != "control-import-error":
                    self.assertIn(case["function"], functions)

    def test_a_wrong_file_does_not_fit(self):
        validator = jsonschema.Draft202012Validator(self.schema)
        for change in ({"format": 2}, {"name": "Upper"}, {"kind": "other"}, {"shape": {"bt": 0, "h": 1, "v": 1}},
                       {"extra": 1}, {"why": ""}, {"packages": []}, {"packages": ["transformers"]}, {"packages": ["Torch==2"]},
                       {"packages": "transformers==5"}, {"call": {"op": "matmul"}}):
            case = dict(self.cases["flce-bf16-fp32-accum"], **change)
            self.assertFalse(validator.is_valid(case), change)


if __name__ == "__main__":
    unittest.main()
