#include "cachet/report/page/style.h"

namespace cachet::report {

// Series colours keep apart for readers with any of the three colour deficiencies (they differ in lightness, too), on
// both backgrounds. Cells are one hue whose opacity is the value, so they need no second palette for the dark.
std::string_view style_sheet() {
  return R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1c1f24; --soft: #5d646e; --faint: #8b929c; --line: #e4e1da; --grid: #eeece6;
  --accent: #0b6e75; --good: #17713a; --warn: #8f5a00; --bad: #b3261e; --heat: #0b6e75; --miss: #c2410c; --on-heat: #ffffff;
  --s0: #1f66c1; --s1: #d9660b; --s2: #0d8f80; --s3: #b4338a; --s4: #a98600; --s5: #5b5ea6;
  --serif: "Iowan Old Style", "Charter", "Palatino Linotype", Palatino, "Source Serif 4", Georgia, "DejaVu Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) { :root {
  --paper: #121417; --card: #191c20; --ink: #e8e6e1; --soft: #a3a9b2; --faint: #7b828c; --line: #2c3036; --grid: #25292e;
  --accent: #5cc5c4; --good: #6fcf8e; --warn: #e5b454; --bad: #ff8a7d; --heat: #4fc3c0; --miss: #ff9a5c; --on-heat: #0c1214;
  --s0: #6aa9ff; --s1: #ff9d4d; --s2: #3fd0b8; --s3: #f07cc6; --s4: #e3c34a; --s5: #a9a8f0;
} }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; scroll-padding-top: 3.5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 var(--sans); font-variant-numeric: tabular-nums; }
header, main, footer { max-width: 1200px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 44px; }
h1 { font: 600 38px/1.15 var(--serif); letter-spacing: -0.012em; margin: 0; overflow-wrap: anywhere; }
h2 { font: 600 24px/1.25 var(--serif); letter-spacing: -0.005em; margin: 52px 0 4px; padding-top: 20px; border-top: 1px solid var(--line); }
h4 { font: 600 13px/1.3 var(--sans); margin: 0 0 4px; color: var(--soft); }
.eyebrow { display: flex; align-items: center; gap: 10px; margin: 0 0 10px; font-size: 12px; letter-spacing: 0.09em; text-transform: uppercase; color: var(--faint); }
.subtitle { font-size: 17px; color: var(--soft); margin: 6px 0 0; max-width: 76ch; overflow-wrap: anywhere; }
.lead { color: var(--soft); margin: 0 0 8px; max-width: 76ch; }
.status { display: inline-flex; align-items: center; gap: 7px; padding: 2px 11px 2px 9px; border-radius: 99px; border: 1px solid currentColor; font-weight: 600; letter-spacing: 0.03em; text-transform: none; }
.status::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: currentColor; }
.status.running { color: var(--accent); } .status.finished { color: var(--good); }
.status.interrupted { color: var(--warn); } .status.failed { color: var(--bad); }
.reason { margin: 18px 0 0; padding: 11px 16px; border-left: 3px solid var(--bad); background: var(--card); border-radius: 0 6px 6px 0; overflow-wrap: anywhere; white-space: pre-line; }
.reason.running, .reason.finished { border-color: var(--accent); } .reason.interrupted { border-color: var(--warn); }
.facts { display: flex; flex-wrap: wrap; margin: 28px 0 0; padding: 0; border: 1px solid var(--line); border-radius: 10px; background: var(--card); overflow: hidden; }
.facts > div { flex: 1 1 165px; padding: 14px 18px 13px; box-shadow: 1px 1px 0 0 var(--line); }
.facts dt { font-size: 12.5px; color: var(--soft); }
.facts dd { margin: 0; }
.facts .value { font: 600 20px/1.3 var(--serif); overflow-wrap: anywhere; }
.eyebrow span + span { text-transform: none; letter-spacing: 0; }
.facts .detail { font-size: 12.5px; color: var(--faint); overflow-wrap: anywhere; }
nav { position: sticky; top: 0; z-index: 5; margin-top: 26px; padding: 0 max(28px, 50% - 572px); background: var(--paper); border-bottom: 1px solid var(--line); display: flex; align-items: center; gap: 24px; }
.smoothing { display: flex; align-items: center; gap: 8px; font-size: 12.5px; color: var(--soft); }
.smoothing input { width: 120px; accent-color: var(--accent); }
nav ul { flex: 1; min-width: 0; margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0 24px; white-space: nowrap; }
nav a { display: block; padding: 10px 0; color: var(--soft); text-decoration: none; font-size: 13.5px; }
nav a:hover { color: var(--accent); box-shadow: inset 0 -2px 0 var(--accent); }
section:first-of-type h2 { border-top: 0; margin-top: 22px; }
.blocks { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 22px; margin-top: 18px; align-items: start; }
figure { margin: 0; padding: 18px 20px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; position: relative; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figcaption { font-weight: 600; font-size: 15px; margin: 0 90px 8px 0; }
.note { color: var(--soft); font-size: 13px; margin: 8px 0 0; max-width: 90ch; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0 0 6px -6px; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; }
.key { display: inline-flex; align-items: center; gap: 7px; padding: 1px 6px; border-radius: 5px; font-size: 13px; color: var(--soft); }
.js .key, .js .scale { cursor: pointer; }
.js .key:hover { background: var(--grid); color: var(--ink); }
.key[aria-pressed="false"] { text-decoration: line-through; opacity: 0.45; }
.swatch { width: 22px; height: 8px; flex: none; overflow: visible; }
.scale { display: none; position: absolute; top: 18px; right: 18px; font-size: 12px; color: var(--soft); border: 1px solid var(--line); border-radius: 99px; padding: 1px 10px; }
.js .scale { display: block; }
.scale:hover { color: var(--accent); border-color: var(--accent); }
button:focus-visible, a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.plot-box { position: relative; }
svg.plot { display: block; width: 100%; height: auto; font-family: var(--sans); overflow: visible; }
svg.hidden { display: none; }
svg.plot text { font-size: 12px; fill: var(--soft); }
svg.plot .axis-title { fill: var(--faint); } svg.plot .nothing { fill: var(--faint); font-size: 14px; }
.grid { stroke: var(--grid); } .base, .tick { stroke: var(--faint); stroke-opacity: 0.6; }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); }
.curve, .dots, .missing { fill: none; stroke: var(--c); stroke-linejoin: round; stroke-linecap: round; }
.curve { stroke-width: 1.9; } .panel .curve { stroke-width: 1.5; } .curve.noise { stroke-width: 1; } .panel .curve.noise { stroke-width: 0.8; } .dots { stroke-width: 5; } .missing { stroke-width: 1.3; }
.band { fill: var(--c); fill-opacity: 0.16; stroke: none; }
.smoothed .curve, .smoothed .dots { stroke-opacity: 0.25; } .smoothed .curve.smooth { stroke-opacity: 1; }
.d1 .curve { stroke-dasharray: 6 4; } .d2 .curve { stroke-dasharray: 1.5 4; }
svg.plot .direct { fill: var(--c); font-weight: 600; }
.mark { stroke: var(--soft); stroke-dasharray: 5 4; }
.off { display: none; }
.cursor { stroke: var(--faint); stroke-dasharray: 3 3; pointer-events: none; }
.spot { fill: var(--c); stroke: var(--card); stroke-width: 1.5; pointer-events: none; }
.readout { position: absolute; z-index: 4; pointer-events: none; min-width: 110px; max-width: 260px; padding: 7px 11px; border-radius: 8px; background: var(--card); border: 1px solid var(--line); box-shadow: 0 4px 18px rgba(0, 0, 0, 0.16); font-size: 12.5px; line-height: 1.5; }
.readout p { margin: 0; display: flex; justify-content: space-between; gap: 14px; white-space: nowrap; }
.readout p:first-child { color: var(--faint); } .readout span::before { content: "● "; color: var(--c); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 18px 22px; }
.heat { fill: var(--heat); } .absent, .outside { stroke: var(--line); }
.cell { fill: var(--faint); } .cell.right { fill: var(--heat); } .cell.wrong { fill: var(--miss); }
svg.plot .in-cell { fill: var(--ink); pointer-events: none; } svg.plot .in-cell.on-heat { fill: var(--on-heat); }
.beside { display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 10fr); gap: 34px; align-items: center; }
.matrix:only-child, .classes:only-child { grid-column: 1 / -1; }
.on-narrow { display: none; }
.fold > summary { font-size: 14px; color: var(--soft); padding: 4px 0; }
.small-charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(310px, 100%), 1fr)); gap: 18px; margin-top: 12px; align-items: start; }
.small figcaption { font-size: 14px; } figcaption small { font-weight: 400; color: var(--faint); }
.small .curve { stroke-width: 1.6; }
.numbers { display: flex; flex-wrap: wrap; gap: 8px 30px; margin: 4px 0 6px; }
.numbers .value { margin: 0; font: 600 22px/1.3 var(--serif); } .numbers dt { font-size: 12.5px; color: var(--faint); }
.panel .numbers { gap: 4px 18px; } .panel .numbers .value { font-size: 17px; }
.matrix svg.plot, svg.heat-map { margin: 0 auto 0 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { font-weight: 500; color: var(--soft); font-size: 12.5px; border-bottom: 1px solid var(--faint); vertical-align: bottom; }
th[scope="row"] { border-bottom-color: var(--grid); vertical-align: top; }
th, td { padding: 6px 14px 6px 0; text-align: left; }
td { border-bottom: 1px solid var(--grid); vertical-align: top; overflow-wrap: break-word; }
th:first-child, td:first-child { min-width: 6em; } table.plain td:first-child { min-width: 0; } table.plain td + td { overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
tr:last-child td, tr:last-child th[scope="row"] { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; } .number.long { white-space: normal; overflow-wrap: anywhere; }
td strong { color: var(--accent); font-weight: 700; }
details { margin-top: 8px; font-size: 13px; }
summary { cursor: pointer; color: var(--faint); width: fit-content; font-size: 12.5px; }
summary:hover { color: var(--accent); }
.pictures ul { list-style: none; margin: 6px 0 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(92px, 1fr)); gap: 16px 14px; }
.picture { display: flex; flex-direction: column; font-size: 12.5px; line-height: 1.35; min-width: 0; overflow-wrap: break-word; }
.maps ul { grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); }
.picture img, .no-picture { width: 100%; aspect-ratio: 1; object-fit: contain; image-rendering: pixelated; border-radius: 5px; background: #000; margin-bottom: 5px; }
.scenes ul { grid-template-columns: repeat(auto-fill, minmax(min(460px, 100%), 1fr)); }
.scenes .picture img { aspect-ratio: auto; }
.no-picture { display: grid; place-items: center; background: var(--grid); color: var(--faint); }
.predicted { font-weight: 600; } .predicted small { white-space: nowrap; font-weight: 400; color: var(--faint); }
.is-wrong .predicted { color: var(--miss); } .truth { color: var(--soft); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.6 var(--mono); tab-size: 4; }
pre code { font: inherit; } code { font: 0.92em var(--mono); } code b { color: var(--accent); font-weight: 600; } code i { color: var(--ink); font-style: normal; font-weight: 500; } code s { color: var(--faint); text-decoration: none; }
.code { color: var(--soft); }
.code figcaption { color: var(--ink); }
footer { padding-top: 46px; padding-bottom: 40px; color: var(--faint); font-size: 12.5px; }
@media (max-width: 900px) {
  .blocks, .beside { grid-template-columns: minmax(0, 1fr); }
  .on-wide { display: none; } .on-narrow { display: block; }
}
@media (max-width: 600px) {
  header, main, footer, nav { padding-left: 16px; padding-right: 16px; }
  header { padding-top: 26px; } h1 { font-size: 29px; } h2 { font-size: 21px; margin-top: 36px; }
  .facts > div { flex-basis: 40%; padding: 11px 14px; }
  figure { padding: 14px 13px 11px; border-radius: 8px; }
  nav { position: static; display: block; padding-bottom: 8px; } nav a { padding: 5px 0; } html { scroll-padding-top: 0; }
  svg.plot text { font-size: 18px; } svg.plot .direct { display: none; }
  .panel svg.plot text, .small svg.plot text { font-size: 12px; } .matrix svg.plot text, svg.heat-map text { font-size: 15px; }
  .curve { stroke-width: 2.6; } .smoothing input { width: 72px; }
  .pictures ul { grid-template-columns: repeat(auto-fill, minmax(84px, 1fr)); } .maps ul { grid-template-columns: repeat(auto-fill, minmax(130px, 1fr)); }
  .scenes ul { grid-template-columns: minmax(0, 1fr); }
  table.stacked, .stacked tbody, .stacked tr, .stacked td, .stacked th[scope="row"] { display: block; }
  .stacked thead { display: none; }
  .stacked tr { padding: 7px 0; border-bottom: 1px solid var(--grid); } .stacked tr:last-child { border-bottom: 0; }
  .stacked td, .stacked th[scope="row"] { border: 0; padding: 1px 0; min-width: 0; }
  .stacked td:first-child, .stacked th[scope="row"] { font-weight: 600; color: var(--ink); }
  .stacked td[data-label] { display: flex; justify-content: space-between; gap: 16px; text-align: right; white-space: normal; overflow-wrap: anywhere; }
  .stacked td[data-label]::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; max-width: 60%; overflow-wrap: break-word; }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --faint: #777; --line: #ccc; --grid: #e6e6e6;
    --accent: #0b6e75; --heat: #0b6e75; --miss: #c2410c; --on-heat: #fff; --good: #17713a; --warn: #8f5a00; --bad: #b3261e;
    --s0: #1f66c1; --s1: #d9660b; --s2: #0d8f80; --s3: #b4338a; --s4: #a98600; --s5: #5b5ea6; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10.5pt; } nav, details:not(.fold), .js .scale, .readout, .smoothing { display: none; } figure, .facts { break-inside: avoid; } figure.code, figure.table { break-inside: auto; }
  h2 { break-after: avoid; } pre { white-space: pre-wrap; }
}
)css";
}

}  // namespace cachet::report
