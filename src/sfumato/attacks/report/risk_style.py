"""The look of the risk report: light, quiet, readable on a telephone and on paper."""

STYLE = """
:root { --ink: #222; --faint: #5f5f5f; --rule: #e0e0e0;
  --open: #b34a00; --kept: #005a8c; --allowed: #00785a; }
* { box-sizing: border-box; }
body { margin: 0; background: #f7f7f5; color: var(--ink);
  font: 16px/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 54em; margin: 0 auto; padding: 2.2em 1.2em 4em; }
h1 { font-size: 2em; line-height: 1.2; margin: 0 0 .3em; letter-spacing: -.01em; }
h2 { font-size: 1.3em; line-height: 1.3; margin: 0 0 .5em; }
p { margin: .6em 0; max-width: 46em; }
.about { color: var(--faint); margin: 0 0 1.2em; }
.warning { border-left: 5px solid var(--open); background: #fbeee4;
  padding: .8em 1.1em; margin: 1.2em 0; max-width: 46em; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5em, 1fr));
  gap: .8em; margin: 1.4em 0; }
.tile { background: #fff; border: 1px solid var(--rule); border-radius: 8px; padding: .8em 1.1em; }
.tile b { display: block; font-size: 1.9em; line-height: 1.2; color: var(--open); }
.tile.kept b { color: var(--kept); }
section { background: #fff; border: 1px solid var(--rule); border-radius: 8px;
  padding: 1.4em 1.6em; margin: 1.4em 0; }
figure { margin: 1.1em 0 .4em; overflow-x: auto; }
figure img { display: block; width: 100%; height: auto; }
figcaption { color: var(--faint); font-size: .92em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .8em 0; font-size: .95em; }
th { text-align: left; font-weight: 600; color: var(--faint); border-bottom: 1px solid #bbb;
  padding: .35em 1em .35em 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--rule); padding: .4em 1em .4em 0;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.exact td { color: var(--open); }
.bar { display: block; position: relative; width: 9em; height: .9em; background: #eee; }
.bar i { position: absolute; inset: 0 auto 0 0; background: #7fb8dc; }
tr.exact .bar i { background: #e8a672; }
.bar u { position: absolute; top: -.15em; bottom: -.15em; width: 3px; background: var(--allowed); }
footer { color: var(--faint); font-size: .92em; }
code { background: #f1f1ee; padding: .1em .3em; border-radius: 3px; }
@media (max-width: 36em) { main { padding: 1.4em .8em 3em; }
  section { padding: 1.1em 1em; } h1 { font-size: 1.6em; }
  table { font-size: .88em; } th, td { padding-right: .6em; } td { white-space: normal; }
  .games th:nth-child(3), .games td:nth-child(3), .mark { display: none; } }
@media print { body { background: #fff; } section, .tile { break-inside: avoid; } }
"""
