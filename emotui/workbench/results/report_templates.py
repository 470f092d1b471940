"""What a report looks like in each format. Values are escaped by `report_formats`, not here."""

_MARKDOWN = """\
# {{ title }}

{{ about }}

## Runs

| Run | Model | Dataset | Setting | Answered | Repeats | Seed | Started | emotui |
|---|---|---|---|---|---|---|---|---|
{% for run in runs %}
| {{ run.run }} | {{ run.model }} | {{ run.dataset }} | {{ run.setting }} | {{ run.answered }} | {{ run.repeats }} \
| {{ run.seed }} | {{ run.started }} | {{ run.version }} |
{% endfor %}
{% for section in sections %}

## {{ section.title }}
{% for table in section.tables %}

### {{ table.title }}

| | Source |{% for column in table.columns %} {{ column.heading }} |{% endfor %}

|---|---|{% for column in table.columns %}{% if column.words %}---|{% else %}---:|{% endif %}{% endfor %}

{% for row in table.rows %}
| {{ row.label }} | {{ row.source }} |{% for cell in row.cells %} {{ cell.text }} |{% endfor %}

{% endfor %}

{% for note in table.notes %}
{{ loop.index }}. {{ note }}
{% endfor %}
{% endfor %}
{% endfor %}
"""

_LATEX = r"""\documentclass[10pt,landscape,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{graphicx}
\usepackage[margin=15mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\tabcolsep}{4pt}
\newcommand{\fit}[1]{\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{#1}}
\begin{document}
\section*{<< title >>}
<< about >>

\subsection*{Runs}
\fit{\begin{tabular}{lllllllll}
\hline
Run & Model & Dataset & Setting & Answered & Repeats & Seed & Started & emotui \\
\hline
<% for run in runs %>
{}<< run.run >> & << run.model >> & << run.dataset >> & << run.setting >> & << run.answered >> & << run.repeats >>%
 & << run.seed >> & << run.started >> & << run.version >> \\
<% endfor %>
\hline
\end{tabular}}
<% for section in sections %>

\clearpage
\section*{<< section.title >>}
<% for table in section.tables %>

<% if not loop.first %>
\clearpage
<% endif %>
\subsection*{<< table.title >>}
\fit{\begin{tabular}{ll<% for column in table.columns %><% if column.words %>l<% else %>r<% endif %><% endfor %>}
\hline
<% if table.grouped %>
 & <% for group, span in table.groups %> & \multicolumn{<< span >>}{c}{<< group >>}<% endfor %> \\
<% endif %>
 & Source<% for column in table.columns %> & << column.title >><% endfor %> \\
\hline
<% for row in table.rows %>
<% if row.parted %>
\hline
<% endif %>
{}<< row.label >> & << row.source >><% for cell in row.cells %> & << cell.text >><% endfor %> \\
<% endfor %>
\hline
\end{tabular}}

\smallskip
{\footnotesize
<% for note in table.notes %>
\textsuperscript{<< loop.index >>} << note >>\par
<% endfor %>
}
<% endfor %>
<% endfor %>
\end{document}
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
ol { font-size: 85%; max-width: 60rem; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ about }}</p>
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
{% for section in sections %}
<h2>{{ section.title }}</h2>
{% for table in section.tables %}
<h3 id="{{ section.key }}-{{ table.key }}">{{ table.title }}</h3>
<div class="wide"><table>
<thead>
{% if table.grouped %}
<tr><th></th><th></th>{% for group, span in table.groups %}<th class="group" colspan="{{ span }}">{{ group }}</th>\
{% endfor %}</tr>
{% endif %}
<tr><th></th><th class="source">Source</th>\
{% for column in table.columns %}\
<th{% if column.words %} class="words"{% endif %}>{{ column.title }}</th>{% endfor %}</tr>
</thead>
<tbody>
{% for row in table.rows %}
<tr class="{{ row.kind }}{% if row.parted %} parted{% endif %}">\
<td>{{ row.label }}</td><td class="source">{{ row.source }}</td>\
{% for cell in row.cells %}\
<td{% if cell.words %} class="words"{% endif %}\
{% if cell.shade %} style="background: color-mix(in srgb, royalblue {{ cell.shade }}%, transparent)"{% endif %}\
{% if cell.about %} title="{{ cell.about }}"{% endif %}>{{ cell.text }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
<ol>
{% for note in table.notes %}
<li>{{ note }}</li>
{% endfor %}
</ol>
{% endfor %}
{% endfor %}
</body>
</html>
"""

TEMPLATES = {".md": _MARKDOWN, ".tex": _LATEX, ".html": _HTML}
"""By the file's ending."""
