"""A report as one self-contained HTML file, in light and dark colours."""
import html

from programs import Report

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --grid: #d5dae0; --series-0: #0969da;
  --series-1: #bc4c00; --series-2: #1a7f37; --series-3: #8250df; --series-4: #cf222e; --series-5: #7d6a00;
  --series-6: #0f7b8a }
@media (prefers-color-scheme: dark) { :root { --paper: #0f1318; --ink: #e4e8ec; --soft: #9aa4ae; --grid: #3a424c;
  --series-0: #58a6ff; --series-1: #f0883e; --series-2: #56d364; --series-3: #bc8cff; --series-4: #ff7b72;
  --series-5: #e3c65b; --series-6: #56c7d6 } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2.5rem 0 0 }
p { color: var(--soft); margin: .3rem 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { border-bottom: 1px solid var(--grid); padding: .3rem .7rem; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
svg { height: auto; max-width: 46rem; width: 100% }
"""


def render(report: Report) -> str:
    parts = [f"<h1>{html.escape(report.title)}</h1>", _table(report)]
    parts += [f"<p>{html.escape(note)}</p>" for note in report.notes]
    for heading, text, svg in report.charts:
        parts.append(f"<figure><h2>{html.escape(heading)}</h2><p>{html.escape(text)}</p>{svg}</figure>")
    body = "\n".join(parts)
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(report.title)}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
            f"<style>{_STYLE}figure {{ margin: 0 }}</style></head><body>\n{body}\n</body></html>\n")


def _table(report: Report) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in report.columns)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in report.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
