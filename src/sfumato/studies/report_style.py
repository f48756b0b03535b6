"""The CSS of the report."""

STYLE = """
:root { --ink: #222; --faint: #6f6f6f; --rule: #e3e3e3; --agrees: #00785a; --misprint: #b34a00;
 --unsafe: #9b3f78; --differs: #222; }
* { box-sizing: border-box; }
body { margin: 0; background: #fafafa; color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 68em; margin: 0 auto; padding: 2.5em 1.2em 5em; }
h1 { font-size: 2em; margin: 0 0 .6em; letter-spacing: -.01em; }
h2 { font-size: 1.3em; margin: 0; }
a { color: #005a8c; text-decoration: none; }
a:hover { text-decoration: underline; }
header p { max-width: 56em; }
section { background: #fff; border: 1px solid var(--rule); border-radius: 8px;
 padding: 1.6em 1.8em; margin: 1.6em 0; }
.source { color: var(--faint); margin: .15em 0 .9em; }
.sentence { max-width: 52em; font-size: 1.05em; }
figure { margin: 1em 0 1.4em; text-align: center; }
img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .4em 0 1em; font-size: .93em; }
th { text-align: left; font-weight: 600; color: var(--faint); border-bottom: 1px solid #bbb;
 padding: .35em 1em .35em 0; white-space: nowrap; }
td { border-bottom: 1px solid var(--rule); padding: .4em 1em .4em 0; vertical-align: top; }
td:first-child { min-width: 13em; }
td.number { font-variant-numeric: tabular-nums; min-width: 6.5em; }
td.number small { display: block; color: var(--faint); }
td.why { color: #444; min-width: 14em; max-width: 34em; }
td.count { text-align: center; color: #bbb; }
table.right { margin-top: 1.6em; }
table.overview td { white-space: nowrap; }
table.overview small { color: var(--faint); margin-left: .6em; }
.badge { display: inline-block; border-radius: 1em; padding: .05em .7em; font-size: .9em;
 white-space: nowrap; background: #eee; }
.badge.agrees { background: #dff3ec; color: var(--agrees); }
.badge.misprint { background: #fbe6d8; color: var(--misprint); }
.badge.unsafe { background: #f6e3ee; color: var(--unsafe); }
.badge.differs { background: #222; color: #fff; }
.totals { display: flex; flex-wrap: wrap; gap: .8em; margin: 0 0 1.2em; }
.total { background: #fff; border: 1px solid var(--rule); border-radius: 8px; padding: .6em 1.2em;
 min-width: 7.5em; }
.total b { display: block; font-size: 1.7em; line-height: 1.2; }
.total span { color: var(--faint); }
.total.agrees b { color: var(--agrees); }
.total.misprint b { color: var(--misprint); }
.total.unsafe b { color: var(--unsafe); }
.legend { display: grid; grid-template-columns: max-content 1fr; gap: .45em 1em; max-width: 56em; }
.legend dd { margin: 0; }
@media print { body { background: #fff; } section { break-inside: avoid; border: 0; padding: 0; } }
"""
