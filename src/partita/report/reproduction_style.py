"""How the pages of a reproduction look: one style sheet, embedded in each."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2125; --soft: #5b6470; --line: #d5d9de; --ground: #ffffff; --shade: #f4f5f7;
  --good: #00664c; --bad: #a63a00; --link: #005a8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e9; --soft: #a3abb5; --line: #3b4149; --ground: #16181b;
  --shade: #1f2327; --good: #5fd0ae; --bad: #ff9a66; --link: #7fc4f5; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin-bottom: .25rem; } a { color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem !important; } }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.key, .printed, .spread { color: var(--soft); } .key { font-size: .9rem; }
.wide { overflow-x: auto; position: relative; } ul { padding-left: 1.3rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  white-space: nowrap; }
th[scope=row] { text-align: left; font-weight: 500; } thead th { background: var(--shade); text-align: right;
  white-space: normal; vertical-align: bottom; } thead th:first-child { text-align: left; }
.ours { font-weight: 600; } .better { color: var(--good); } .worse { color: var(--bad); }
.sign { display: inline-block; width: 1.1em; font-weight: 700; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
figure { margin: 1rem 0; } img { max-width: 100%; background: #ffffff; padding: .4rem; border: 1px solid var(--line); }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--link); }
@media print { body { font-size: 10pt; } main { max-width: none; padding: 0; } nav { display: none; }
  tr, figure, li { break-inside: avoid; } h2, h3 { break-after: avoid; } .wide { overflow: visible; }
  table { font-size: 7.5pt; } thead { display: table-header-group; } }
"""
