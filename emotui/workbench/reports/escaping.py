"""A report as Markdown, LaTeX or HTML. Whatever comes from data is escaped for the format that it lands in."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

# What a report looks like in each format. Values are escaped by `escaping`, not here.

_MARKDOWN = """\
# {{ title }}

{{ about }}
{% if runs %}

## Runs

| Run | Model | Dataset | Setting | Answered | Repeats | Seed | Started | emotui |
|---|---|---|---|---|---|---|---|---|
{% for run in runs %}
| {{ run.run }} | {{ run.model }} | {{ run.dataset }} | {{ run.setting }} | {{ run.answered }} | {{ run.repeats }} \
| {{ run.seed }} | {{ run.started }} | {{ run.version }} |
{% endfor %}
{% endif %}
{% for section in sections %}

## {{ section.title }}
{% for table in section.tables %}

### {{ table.title }}
{% if table.size %}

{{ table.size }}
{% endif %}
{% if table.counts %}

The greatest counts off the diagonal:

| {{ table.counts.row_head }} | {{ table.counts.group }} | count | of the row |
|---|---|---:|---:|
{% for pair in table.counts.greatest %}
| {{ pair.row }} | {{ pair.column }} | {{ pair.n }} | {{ pair.share }} |
{% endfor %}
{% else %}

| | Source |{% if table.sizes %} n |{% endif %}{% for column in table.columns %} {{ column.heading }} |{% endfor %}

|---|---|{% if table.sizes %}---:|{% endif %}{% for column in table.columns %}{% if column.words %}---|{% else %}
---:|{% endif %}{% endfor %}

{% for row in table.rows %}
| {{ row.label }}{% if row.mark %}<sup>{{ row.mark }}</sup>{% endif %} | {{ row.source }} |\
{% if table.sizes %} {{ row.size }} |{% endif %}{% for cell in row.cells %} \
{% if cell.best %}**{{ cell.figure }}**{% if cell.interval %} {{ cell.interval }}{% endif %}{% else %}
{{ cell.text }}{% endif %}{% if cell.mark %}<sup>{{ cell.mark }}</sup>{% endif %} |\
{% endfor %}

{% endfor %}
{% endif %}

{% for note in table.notes %}
- {{ note }}
{% endfor %}
{% for one in table.marked %}
- <sup>{{ one.mark }}</sup> {{ one.note }}
{% endfor %}
{% endfor %}
{% endfor %}
"""

_LATEX_TABLE = r"""<% if document %>
\documentclass[10pt,landscape,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage{graphicx}
\usepackage[margin=15mm]{geometry}
\begin{document}
<% endif %>
% << comment >>
<% if not document %>
% Include it by \input; graphicx fits wide tables into the line, booktabs draws its rules where it is loaded.
<% endif %>
\providecommand{\toprule}{\hline}
\providecommand{\midrule}{\hline}
\providecommand{\bottomrule}{\hline}
\providecommand{\emotuifit}[1]{\ifdefined\resizebox\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}%
\else#1\fi}
<% if runs %>

\begin{table*}[t]
\centering\small
\emotuifit{\begin{tabular}{lllllllll}
\toprule
Run & Model & Dataset & Setting & Answered & Repeats & Seed & Started & emotui \\
\midrule
<% for run in runs %>
{}<< run.run >> & << run.model >> & << run.dataset >> & << run.setting >> & << run.answered >> & << run.repeats >>%
 & << run.seed >> & << run.started >> & << run.version >> \\
<% endfor %>
\bottomrule
\end{tabular}}
\caption{Runs.}
\label{tab:<< runs_label >>}
\end{table*}
<% endif %>
<% for section in sections %>
<% for table in section.tables %>

<% if table.counts %>
\begin{figure*}[t]
\centering\small
\setlength{\unitlength}{<< table.counts.unit >>}
\emotuifit{\begin{picture}(<< table.counts.width + 6 >>,<< table.counts.height + 1 >>)(-6,0)
\linethickness{0.1pt}
\multiput(0,0)(1,0){<< table.counts.width + 1 >>}{\line(0,1){<< table.counts.height >>}}
\multiput(0,0)(0,1){<< table.counts.height + 1 >>}{\line(1,0){<< table.counts.width >>}}
<% for row in table.counts.rows %>
\put(-0.2,<< row.y >>){\makebox(0,0)[r]{\scriptsize << row.label >> << row.n >>}}
<% endfor %>
<% for column in table.counts.columns %>
\put(<< column.x >>,<< table.counts.height >>.5){\makebox(0,0){\scriptsize << column.n >>}}
<% endfor %>
<% for square in table.counts.squares %>
\put(<< square.x >>,<< square.y >>){\rule{<< square.side >>\unitlength}{<< square.side >>\unitlength}}
<% endfor %>
\end{picture}}
\caption[<< table.title >>]{<< table.caption >> Rows: gold; columns: << table.counts.group >><% if table.counts.named %>
 (<< table.counts.named >>)<% else %>, numbered as the rows are<% endif %>.
 The area of a square is its share of the row.
<% if table.counts.greatest %>
 Greatest off the diagonal: <% for pair in table.counts.greatest %>
<< pair.row >> as << pair.column >> (<< pair.n >>, << pair.share >>)<% if not loop.last %>; <% endif %><% endfor %>.
<% endif %>
}
<% else %>
\begin{<% if table.wide %>table*<% else %>table<% endif %>}[t]
\centering\small
\emotuifit{\begin{tabular}{l<% if table.sizes %>r<% endif %><% for column in table.columns %><% if column.words %>
l<% else %>r<% endif %>
<% endfor %>}
\toprule
<% if table.grouped %>
{}<% if table.sizes %> & <% endif %><% for group, span in table.groups %>
 & \multicolumn{<< span >>}{c}{<< group >>}<% endfor %> \\
<% endif %>
{}<% if table.sizes %> & $n$<% endif %><% for column in table.columns %> & << column.title >><% endfor %> \\
\midrule
<% for row in table.rows %>
<% if row.parted %>
\midrule
<% endif %>
{}<< row.label >><% if row.mark %>\textsuperscript{<< row.mark >>}<% endif %>
<% if table.sizes %> & << row.size >><% endif %><% for cell in row.cells %>
 & <% if cell.best %>\textbf{<< cell.figure >>}<% else %><< cell.figure >><% endif %>
<% if cell.mark %>\textsuperscript{<< cell.mark >>}<% endif %>
<% if cell.interval and not table.stacked %> {\small << cell.interval >>}<% endif %>
<% endfor %> \\
<% if table.stacked and row.intervals %>
{}<% if table.sizes %> & <% endif %><% for cell in row.cells %> & <% if cell.interval %>
{\scriptsize << cell.interval >>}<% endif %><% endfor %> \\
<% endif %>
<% endfor %>
\bottomrule
\end{tabular}}
\caption[<< table.title >>]{<< table.caption >>}
<% endif %>
\label{<% if table.counts %>fig<% else %>tab<% endif %>:<< table.label >>}
<% if table.notes or table.marked %>

\par\medskip
\begin{minipage}{\linewidth}\scriptsize\raggedright
<% if table.notes %>
\emph{Note.}<% for note in table.notes %> << note >><% endfor %>\par
<% endif %>
<% for one in table.marked %>
\textsuperscript{<< one.mark >>} << one.note >>\par
<% endfor %>
\end{minipage}
<% endif %>
\end{<% if table.counts %>figure*<% elif table.wide %>table*<% else %>table<% endif %>}
<% endfor %>
<% endfor %>
<% if document %>
\end{document}
<% endif %>
"""

_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; white-space: nowrap; }
th, td { padding: .15rem .6rem; text-align: right; }
th { border-bottom: 1px solid; vertical-align: bottom; }
th.group { text-align: center; }
th:first-child, td:first-child, .source, .runs td, .runs th { text-align: left; }
.source { font-size: 85%; opacity: .75; }
tr.published { opacity: .75; }
tr.parted td { border-top: 1px solid; }
td.words, th.words { text-align: left; }
tr.run td:first-child, tr.people td:first-child { font-weight: 600; }
tbody tr:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
ul, .size { font-size: 85%; max-width: 60rem; }
.size { margin: 0; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ about }}</p>
{% if runs %}
<h2>Runs</h2>
<div class="wide"><table class="runs">
<thead><tr><th>Run</th><th>Model</th><th>Dataset</th><th>Setting</th><th>Answered</th><th>Repeats</th><th>Seed</th>\
<th>Started</th><th>emotui</th></tr></thead>
<tbody>
{% for run in runs %}
<tr><td>{{ run.run }}</td><td>{{ run.model }}</td><td>{{ run.dataset }}</td><td>{{ run.setting }}</td>\
<td>{{ run.answered }}</td><td>{{ run.repeats }}</td><td>{{ run.seed }}</td><td>{{ run.started }}</td>\
<td>{{ run.version }}</td></tr>
{% endfor %}
</tbody>
</table></div>
{% endif %}
{% for section in sections %}
<h2>{{ section.title }}</h2>
{% for table in section.tables %}
<h3 id="{{ section.key }}-{{ table.key }}">{{ table.title }}</h3>
{% if table.size %}
<p class="size">{{ table.size }}</p>
{% endif %}
<div class="wide"><table>
<thead>
{% if table.grouped %}
<tr><th></th><th></th>{% if table.sizes %}<th></th>{% endif %}{% for group, span in table.groups %}
<th class="group" colspan="{{ span }}">{{ group }}</th>\
{% endfor %}</tr>
{% endif %}
<tr><th></th><th class="source">Source</th>{% if table.sizes %}<th>n</th>{% endif %}\
{% for column in table.columns %}\
<th{% if column.words %} class="words"{% endif %}>{{ column.title }}</th>{% endfor %}</tr>
</thead>
<tbody>
{% for row in table.rows %}
<tr class="{{ row.kind }}{% if row.parted %} parted{% endif %}">\
<td>{{ row.label }}{% if row.mark %}<sup>{{ row.mark }}</sup>{% endif %}</td>\
<td class="source">{{ row.source }}</td>{% if table.sizes %}
<td>{{ row.size }}</td>{% endif %}\
{% for cell in row.cells %}\
<td{% if cell.words %} class="words"{% endif %}\
{% if cell.shade %} style="background: color-mix(in srgb, royalblue {{ cell.shade }}%, transparent)"{% endif %}\
{% if cell.about %} title="{{ cell.about }}"{% endif %}>{% if cell.best %}
<strong>{{ cell.figure }}</strong> {{ cell.interval }}{% else %}{{ cell.text }}{% endif %}{% if cell.mark %}
<sup>{{ cell.mark }}</sup>{% endif %}</td>\
{% endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
<ul>
{% for note in table.notes %}
<li>{{ note }}</li>
{% endfor %}
{% for one in table.marked %}
<li><sup>{{ one.mark }}</sup> {{ one.note }}</li>
{% endfor %}
</ul>
{% endfor %}
{% endfor %}
</body>
</html>
"""

TEMPLATES = {".md": _MARKDOWN, ".tex": _LATEX_TABLE, ".html": _HTML}
"""By the file's ending."""


ENDINGS = tuple(TEMPLATES)


class Verbatim(str):
    """Text of this project's own that no format changes: a label, a comment."""

    __slots__ = ()


def rendered(ending: str, values: Mapping[str, Any]) -> str:
    """The report's values in the format of an ending, one of `ENDINGS`."""
    shown: Callable[[str], str] = {".md": markdown, ".tex": latex, ".html": one_line}[ending]
    # LaTeX is full of braces.
    marks = ("<%", "%>", "<<", ">>", "<#", "#>") if ending == ".tex" else ("{%", "%}", "{{", "}}", "{#", "#}")
    environment = jinja2.Environment(
        autoescape=ending == ".html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Verbatim) else shown(str(value)),
        block_start_string=marks[0],
        block_end_string=marks[1],
        variable_start_string=marks[2],
        variable_end_string=marks[3],
        comment_start_string=marks[4],
        comment_end_string=marks[5],
    )
    return environment.from_string(TEMPLATES[ending]).render(**values)


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, also in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$!])", r"\\\1", one_line(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "±": r"\ensuremath{\pm}",
    "†": r"\dag{}",
    "≥": r"\ensuremath{\geq}",
    "→": r"\ensuremath{\rightarrow}",
    "…": r"\ldots{}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": "{'}",
    "`": r"\textasciigrave{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
# A bracket or asterisk would be an argument of the line break before it.
_LATEX |= {sign: f"{{{sign}}}" for sign in "[]*"}


def latex(text: str) -> str:
    """Text that LaTeX shows as it is. A letter that its standard fonts lack stands as its code, such as `[U+4E2D]`."""
    plain = "".join(_latex_sign(sign) for sign in one_line(text))
    return re.sub(r"(?<=-)-|^-|-$", "{-}", plain)  # several would be a dash


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isascii() or ("À" <= sign <= "ÿ" and sign not in "×÷ÐÞðþ"):
        return sign
    plain = unicodedata.normalize("NFKD", sign)
    if plain.isascii() and plain.isalnum():
        return plain
    return f"{{[}}U+{ord(sign):04X}{{]}}"


def one_line(text: str) -> str:
    """Without control characters, and on one line."""
    return "".join(
        " " if sign in "\n\r\t" else "\N{REPLACEMENT CHARACTER}" if _control(sign) else sign for sign in text
    )


def _control(sign: str) -> bool:
    return (
        unicodedata.category(sign) in ("Cc", "Cs") or sign in "\u2028\u2029\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
    )
