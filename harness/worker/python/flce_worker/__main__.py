"""`python -m flce_worker REQUEST.json`: the same cell without flce-worker, to debug a case by hand (no emulator link)."""

import os
import sys

from .cell import run


def main():
    with open(sys.argv[1], encoding="utf-8") as request:
        text = request.read()
    import json

    observation = run(text)
    target = os.path.join(json.loads(text)["output_dir"], "observation.json")
    with open(target + ".part", "w", encoding="utf-8") as out:
        out.write(observation)
    os.replace(target + ".part", target)


main()
