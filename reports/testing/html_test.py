"""Opens the HTML report in a headless Chromium: usage: html_test.py write_samples"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402


def check(ok, what):
    if not ok:
        raise SystemExit("html_test: " + what)


def no_problems(browser, what):
    check(not browser.problems, what + ": " + "; ".join(browser.problems)[:800])


def squares(browser):
    return browser.run("document.querySelectorAll('td.m[data-i]').length")


def sample(browser, folder):
    check(browser.open(folder + "/sample.report.html") >= 0, "the page does not say that it is drawn")
    headline = "Tier 1 on torch 2.8 to 2.12, Tier 2 since 2.13 (newest tried: 2.15); not affected on 2.7."
    check(browser.run("document.querySelector('h1').textContent") == headline, "another headline")
    total = squares(browser)
    check(total == 209, f"{total} squares instead of 209")
    check(browser.run("document.querySelectorAll('td.k-tier1').length") == 30, "Tier 1 squares")
    check(browser.run("document.querySelectorAll('td.changed').length") > 10, "no change points drawn")

    # Filters: a chip hides its cells, a list keeps only its own, a search looks into texts.
    browser.run("document.querySelector('.chip[data-mark] .k-tier1').closest('button').click()")
    check(squares(browser) == 179, "the chip does not hide Tier 1")
    browser.run("[...document.querySelectorAll('.link')].find((b) => b.textContent === 'Show all').click()")
    check(squares(browser) == 209, "Show all does not show all")
    browser.run("(() => { const s = document.querySelector('select[data-filter=fix]'); s.value = 'custom-op'; s.dispatchEvent(new Event('change')); })()")
    check(squares(browser) == 4, "the list of fixes does not filter")
    check(browser.run("document.getElementById('count').textContent") == "4 of 209 cells", "the count is not told")
    browser.run("[...document.querySelectorAll('.link')].find((b) => b.textContent === 'Show all').click()")
    browser.run("new Promise((done) => { const s = document.querySelector('input[type=search]'); s.value = 'Broadcast failed'; s.dispatchEvent(new Event('input')); setTimeout(done, 200); })")
    check(squares(browser) == 1, "the search does not find the one cell")
    browser.run("[...document.querySelectorAll('.link')].find((b) => b.textContent === 'Show all').click()")

    # A click opens a cell; keys move, open and close.
    browser.run("document.querySelector('td.k-tier2').click()")
    text = browser.run("document.getElementById('detail').textContent")
    for part in ("REPRODUCED: Tier 2", "tuned_addmm() takes 3 positional arguments but 4 were given", "aten.addmm.dtype", "torch/_inductor/lowering.py:534",
                 "out = decomp_fn(*args, **kwargs)", "cublasGemmEx", "2.13.0+cu130", "scripts/flce-repro --torch 2.13.0"):
        check(part in text, "the cell does not show " + part)
    browser.key("Escape")
    check(browser.run("document.getElementById('detail').hidden"), "Escape does not close the cell")
    before = browser.run("document.activeElement.dataset.i")
    browser.key("ArrowRight")
    browser.key("ArrowDown")
    after = browser.run("document.activeElement.dataset.i")
    check(after is not None and after != before, "arrow keys do not move")
    check(browser.run("document.activeElement.closest('table').querySelectorAll('td[tabindex=\"0\"]').length") == 1, "more than one square of a grid is in the tab order")
    browser.key("Enter")
    check(not browser.run("document.getElementById('detail').hidden"), "Enter does not open a cell")
    check(browser.run("[...document.querySelectorAll('td[role=gridcell][data-i]')].every((s) => s.getAttribute('aria-label'))"), "a square without a name")
    # The one with numbers: memory of all fixes, and the histogram.
    browser.run("[...document.querySelectorAll('td.over')].find((s) => s.getAttribute('aria-label').includes('gpu')).click()")
    text = browser.run("document.getElementById('detail').textContent")
    for part in ("39.5 GB", "931 MB", "79.7 GB", "over budget", "0.001953", "41,190", "grad_w"):
        check(part in text, "the cell with numbers does not show " + part)
    no_problems(browser, "sample")


def compared(browser, folder):
    browser.open(folder + "/compared.report.html")
    text = browser.run("document.getElementById('compared').textContent")
    check(text == "4 cells differ from run 20260926-021500-a1b2 of 2026-09-26: 3 Tier 2 → fixed, 1 fixed → Tier 2.", "the comparison says: " + text)
    browser.run("document.querySelector('input[data-filter=differs]').click()")
    check(squares(browser) == 4, "the filter does not keep what differs")
    browser.run("document.querySelector('td.differs').click()")
    check("Before: REPRODUCED" in browser.run("document.getElementById('detail').textContent"), "the cell does not say what was before")
    no_problems(browser, "compared")


def cases(browser, folder):
    """Cases of one place are rows of one map; one at two places keeps its own."""
    browser.open(folder + "/cases.report.html")
    check(squares(browser) == 21, "not every cell, of every seed, has a square")
    check(browser.run("document.querySelectorAll('table.map').length") == 2, "not one folded map and one of its own")
    rows = browser.run("[...document.querySelectorAll('table.folded tr')].map((row) => [...row.cells].map((cell) => cell.textContent).join('|')).join('\\n')")
    wanted = ["||torch", "case|seed|2.7.1|2.12.1|2.15.0", "addmm-out-dtype|own|–|1|2|", "flce-bf16-fp32-accum|own|–|1|2|Fused linear cross entropy, bf16 with an fp32 gradient accumulator",
              "flce-bias|own|–|1|2|", "flce-softcap|1|–|1|2|", "flce-softcap|2|–|1|2|"]
    check(rows == "\n".join(wanted), "the folded map is\n" + rows)
    check(browser.run("document.querySelector('table.folded').getAttribute('aria-label')") == "Liger 0.8.5, emulated 9.0, no fix", "what the cells share is not said")
    check(browser.run("document.querySelectorAll('table.folded td.across').length") == 10, "changes along torch are not marked")
    check(browser.run("[...document.querySelectorAll('section.case h2')].map((node) => node.textContent).join()") == "Liger 0.8.5, emulated 9.0, no fix,flce-sum", "other sections")
    browser.run("document.querySelectorAll('table.folded td.m')[0].click()")
    browser.key("Escape")
    browser.key("ArrowDown")
    browser.key("ArrowRight")
    browser.key("Enter")
    check("torch 2.12.1" in browser.run("document.getElementById('detail').textContent"), "keys do not move in the folded map")
    # One torch only: cases of one cell become a list.
    browser.run("(() => { const s = document.querySelector('select[data-filter=torch]'); s.value = '1'; s.dispatchEvent(new Event('change')); })()")
    check(squares(browser) == 7, "the list of torches does not filter")
    browser.open(folder + "/fixes.report.html")
    rows = browser.run("[...document.querySelectorAll('table.folded tr')].slice(0, 3).map((row) => [...row.cells].map((cell) => cell.textContent).join('|')).join('\\n')")
    check(rows == "|fix\ncase|no fix|guard\naddmm-out-dtype|2|2|", "fixes do not go across:\n" + rows)
    check(browser.run("document.querySelector('section.case h2').textContent") == "torch 2.15.0, Liger 0.8.5, emulated 9.0", "what the fixes share is not said")
    no_problems(browser, "cases")


def hostile(browser, folder):
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("hostile") and name.endswith(".report.html")):
            continue
        browser.open(os.path.join(folder, name))
        browser.run("document.querySelectorAll('td.m[data-i]').forEach((s) => s.click())")
        check(browser.run("typeof window.hacked") == "undefined", name + ": a text became a script")
        check(browser.run("document.querySelectorAll('img, iframe, object, embed').length") == 0, name + ": a text became an element")
        check(browser.run("document.querySelectorAll('script').length") == 2, name + ": a text became a script element")
        check(browser.run("document.querySelectorAll('a[href]').length - document.querySelectorAll('a[href^=\"https://github.com/\"], a.skip').length") == 0, name + ": a text became a link")
        no_problems(browser, name)


def large(browser, folder):
    browser.open(folder + "/large.report.html")
    check(squares(browser) == 5400, "not all squares of the large run are drawn")
    no_problems(browser, "large")


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        with Browser() as browser:
            sample(browser, folder)
            compared(browser, folder)
            cases(browser, folder)
            hostile(browser, folder)
            large(browser, folder)
    print("the page draws, filters, opens cells, and takes texts as texts")


if __name__ == "__main__":
    main()
