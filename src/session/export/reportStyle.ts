/** Style sheet of the report: light or dark as the reader's system is, light on paper. */
export const reportStyle = `
:root{--bg:#fff;--fg:#24292f;--quiet:#59636e;--card:#f8f8f8;--edge:#d9dee3;--grid:#e1e5e9;--band:#eef1f4;--good:#1a7f37;--warn:#8a6100;--bad:#c72e0f;
--line-p50:#005fb8;--line-p90:#2e7d32;--line-p99:#8a6100;--line-p999:#7b3fa0;--line-max:#b5200d;--line-offered:#b9c0c7;--line-sent:#005fb8;--line-received:#2e7d32;
--line-connected:#005fb8;--line-failed:#8a6100;--line-dropped:#7b3fa0;--line-errors:#b5200d;--line-due:#8a6100;--line-send:#59636e}
@media screen and (prefers-color-scheme:dark){:root{--bg:#1f1f1f;--fg:#d4d4d4;--quiet:#a2a2a2;--card:#181818;--edge:#333;--grid:#2f2f2f;--band:#242424;--good:#73c991;--warn:#cca700;--bad:#f14c4c;
--line-p50:#4daafc;--line-p90:#89d185;--line-p99:#cca700;--line-p999:#c586c0;--line-max:#f48771;--line-offered:#5a5a5a;--line-sent:#4daafc;--line-received:#89d185;
--line-connected:#4daafc;--line-failed:#cca700;--line-dropped:#c586c0;--line-errors:#f48771;--line-due:#cca700;--line-send:#a2a2a2}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,"Segoe UI","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1240px;margin:0 auto;padding:16px}
h1{margin:0;font-size:20px;overflow-wrap:anywhere}
h2{margin:0 0 8px;font-size:12px;letter-spacing:.04em;text-transform:uppercase;color:var(--quiet)}
p{margin:4px 0;overflow-wrap:anywhere}
.quiet,footer{color:var(--quiet)}
.verdict{margin:14px 0 8px;font-size:17px}
.verdict span{font-weight:700}
.verdict strong{font-weight:600}
.pass span{color:var(--good)}.fail span{color:var(--bad)}.invalid span,.incomplete span{color:var(--warn)}
.reasons{margin:6px 0;padding-left:20px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:10px;margin:12px 0}
.tile,.card{background:var(--card);border:1px solid var(--edge);border-radius:4px;padding:10px 12px}
.tile dt{color:var(--quiet);font-size:12px}.tile dd{margin:0}.tile b{font-size:22px;font-weight:600}.tile dd+dd{font-size:12px}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:12px}
figure,section.card{margin:0;min-width:0}
section.card{margin-top:12px}.grid>section.card,.grid section.card:first-child{margin-top:0}
.chart{overflow-x:auto}
.chart svg{display:block;width:100%;min-width:480px;height:auto}
svg text{fill:var(--quiet);font-size:11px;paint-order:stroke;stroke:var(--card);stroke-width:3px}
svg text.limit{fill:var(--bad)}
svg path{fill:none;stroke:var(--line);stroke-linejoin:round}
svg circle{fill:var(--line)}svg .dot{fill:var(--good)}svg .hollow{fill:var(--card);stroke:var(--bad);stroke-width:2}
svg .grid{stroke:var(--grid)}svg .limit{stroke:var(--bad);stroke-dasharray:5 4}svg text.limit{stroke:var(--card);stroke-dasharray:none}
svg .band{fill:var(--band)}svg .bare{fill:none}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:6px 0 0;padding:0;color:var(--quiet);font-size:12px}
.sample{width:24px;height:8px;vertical-align:middle}
details{margin-top:6px}summary{cursor:pointer;color:var(--quiet);font-size:12px}
.scroll{overflow:auto;max-height:480px}
table{border-collapse:collapse;width:100%;white-space:nowrap}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--edge);font-weight:400}
thead th{color:var(--quiet)}th.text,td.text{text-align:left}td.text{white-space:normal;min-width:120px;overflow-wrap:anywhere}
tbody th:first-child,thead th:first-child{text-align:left;padding-left:0}
h3{margin:0 0 6px;font-size:13px;font-weight:600}
.bars{display:grid;grid-template-columns:minmax(80px,max-content) 1fr;gap:5px 12px;align-items:center;max-width:760px;font-size:12px}
.bars span{overflow:hidden;text-overflow:ellipsis;max-width:220px;white-space:nowrap}
.bars i{position:relative;height:12px;background:var(--band);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bars b{position:absolute;top:1px;bottom:1px;min-width:2px;background:var(--line-p50);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bars u{position:absolute;top:0;bottom:0;border-left:2px solid var(--line-max)}
:focus-visible{outline:2px solid var(--line-p50);outline-offset:2px}
footer{margin-top:14px;font-size:12px}
@media print{@page{margin:12mm}body{font-size:11px}main{padding:0;max-width:none}.card,.tile{break-inside:avoid;background:none}.scroll{overflow:visible;max-height:none}.chart svg{min-width:0}details:not([open]){display:none}.grid{grid-template-columns:1fr 1fr}
svg .band{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`
  .trim()
  .replaceAll('\n', '');
