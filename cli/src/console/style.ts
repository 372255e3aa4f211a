/** The style sheet of the console, served by the console itself. Colours follow the theme of the system. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --surface: #ffffff; --raised: #fafbfc; --line: #e1e5ea; --line-strong: #c9d0d8;
  --text: #1a2129; --soft: #56616e; --accent: #2b5fd9; --accent-ground: #e9effc; --on-accent: #ffffff;
  --good: #137547; --good-ground: #e3f4ea; --warn: #8a5a00; --warn-ground: #fdf1d8;
  --bad: #b3261e; --bad-ground: #fce8e6; --shadow: 0 1px 2px rgb(20 30 45 / 6%), 0 2px 8px rgb(20 30 45 / 4%);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1318; --surface: #171c23; --raised: #1c222a; --line: #2a323d; --line-strong: #3d4856;
    --text: #e7ebf0; --soft: #9aa6b4; --accent: #86abff; --accent-ground: #1c2a47; --on-accent: #0f1318;
    --good: #6fd39d; --good-ground: #14301f; --warn: #f0c060; --warn-ground: #352a10;
    --bad: #ff9b92; --bad-ground: #3a1a18; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, .mono { font-family: var(--mono); font-size: 0.9em; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.05rem; margin: 0; }
p { margin: 0; }
.skip { position: absolute; left: -999px; top: 8px; padding: 8px 12px; background: var(--surface); z-index: 2; }
.skip:focus { left: 8px; }
.frame { display: grid; grid-template-columns: 224px minmax(0, 1fr); min-height: 100vh; }
.side {
  background: var(--surface); border-right: 1px solid var(--line); padding: 20px 12px;
  display: flex; flex-direction: column; gap: 20px; position: sticky; top: 0; height: 100vh; overflow-y: auto;
}
.brand { display: flex; align-items: center; gap: 10px; padding: 0 10px; font-weight: 650; color: var(--text); }
.brand:hover { text-decoration: none; }
.brand svg { width: 26px; height: 26px; color: var(--accent); flex: none; }
.brand small { display: block; font-weight: 400; color: var(--soft); font-size: 0.78rem; line-height: 1.2; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: 2px; }
nav a {
  display: flex; justify-content: space-between; align-items: center; gap: 8px;
  padding: 7px 10px; border-radius: 7px; color: var(--soft);
}
nav a:hover { background: var(--raised); color: var(--text); text-decoration: none; }
nav a[aria-current] { background: var(--accent-ground); color: var(--accent); font-weight: 600; }
.side footer { margin-top: auto; padding: 0 10px; color: var(--soft); font-size: 0.8rem; }
.side form { margin-top: 8px; }
main { padding: 24px 32px 56px; max-width: 1240px; width: 100%; }
.bar { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: center; margin-bottom: 20px; }
.bar > div { flex: 1 1 240px; }
.bar p { color: var(--soft); font-size: 0.9rem; margin-top: 2px; }
.card {
  background: var(--surface); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow);
  margin-bottom: 20px; overflow: hidden;
}
.card > header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; justify-content: space-between; padding: 14px 18px; border-bottom: 1px solid var(--line); }
.card > .pad { padding: 16px 18px; }
.stats { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 14px; margin-bottom: 20px; }
.stat {
  display: block; background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 14px 16px;
  box-shadow: var(--shadow); color: var(--text);
}
a.stat:hover { border-color: var(--accent); text-decoration: none; }
.stat b { display: block; font-size: 1.7rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; }
.stat span { color: var(--soft); font-size: 0.86rem; }
.stat.bad b { color: var(--bad); } .stat.warn b { color: var(--warn); }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 20px; align-items: start; }
.grid > .card { margin: 0; }
.grid { margin-bottom: 20px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 10px 18px; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 550; font-size: 0.8rem; background: var(--raised); white-space: nowrap; }
tbody tr:last-child td, tbody tr:last-child th { border-bottom: 0; }
tbody tr:hover { background: var(--raised); }
td.num, th.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td small, .soft { color: var(--soft); }
td small { display: block; overflow-wrap: break-word; }
td { max-width: 46rem; overflow-wrap: break-word; }
.badge {
  display: inline-block; padding: 1px 9px; border-radius: 999px; font-size: 0.8rem; font-weight: 550; white-space: nowrap;
  background: var(--raised); color: var(--soft); border: 1px solid var(--line);
}
.badge.good { background: var(--good-ground); color: var(--good); border-color: transparent; }
.badge.warn { background: var(--warn-ground); color: var(--warn); border-color: transparent; }
.badge.bad { background: var(--bad-ground); color: var(--bad); border-color: transparent; }
.chip {
  display: inline-block; font-family: var(--mono); font-size: 0.8rem; padding: 1px 7px; border-radius: 5px;
  background: var(--raised); border: 1px solid var(--line); margin: 1px 2px 1px 0; overflow-wrap: anywhere;
}
details > summary { cursor: pointer; list-style: none; padding: 12px 18px; display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: baseline; }
details > summary::-webkit-details-marker { display: none; }
details > summary::before { content: "›"; color: var(--soft); font-weight: 700; width: 0.7em; display: inline-block; }
details[open] > summary::before { transform: rotate(90deg); }
details > summary:hover { background: var(--raised); }
details > summary:focus-visible { outline-offset: -2px; }
details .inner { padding: 4px 18px 16px 40px; }
.rows > details + details { border-top: 1px solid var(--line); }
dl { display: grid; grid-template-columns: minmax(110px, max-content) minmax(0, 1fr); gap: 6px 20px; margin: 0; font-size: 0.92rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
ul.hits { list-style: none; margin: 0; padding: 6px 0; } ul.hits li { padding: 5px 18px; overflow-wrap: anywhere; }
ul.hits + .note { padding-top: 4px; }
dl.answer { padding: 16px 18px; row-gap: 12px; } dl.answer dt { font-weight: 600; color: var(--soft); }
dl.answer dd > div { font-family: var(--mono); font-size: 0.86rem; line-height: 1.6; white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
ol.steps { margin: 0; padding-left: 1.4em; } ol.steps li { margin: 2px 0; }
pre { margin: 0; padding: 14px 18px; overflow-x: auto; font: 0.86rem/1.55 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
form.search { display: flex; gap: 8px; }
input, select, textarea, button { font: inherit; color: var(--text); }
input[type="text"], input[type="search"], input[type="password"], select, textarea {
  background: var(--surface); border: 1px solid var(--line-strong); border-radius: 8px; padding: 7px 11px; width: 100%; min-width: 0;
}
textarea { font-family: var(--mono); font-size: 0.88rem; resize: vertical; }
.button { background: var(--accent); color: var(--on-accent); border: 1px solid transparent; border-radius: 8px; padding: 7px 16px; font-weight: 600; cursor: pointer; white-space: nowrap; }
.button:hover { filter: brightness(1.08); }
.button.quiet { background: transparent; color: var(--soft); border-color: var(--line-strong); font-weight: 500; }
.fields { display: grid; grid-template-columns: 130px minmax(0, 1fr); gap: 14px; }
.fields .wide { grid-column: 1 / -1; }
label { display: block; font-size: 0.86rem; color: var(--soft); }
label > * { margin-top: 4px; }
.note { padding: 12px 18px; color: var(--soft); font-size: 0.92rem; }
.alert { border-left: 4px solid var(--bad); padding: 12px 16px; background: var(--bad-ground); border-radius: 8px; margin-bottom: 20px; }
.pager { display: flex; justify-content: space-between; align-items: center; padding: 12px 18px; color: var(--soft); font-size: 0.9rem; border-top: 1px solid var(--line); }
.pager a, .pager span { padding: 2px 4px; }
.filterbar { display: flex; flex-wrap: wrap; gap: 6px; }
.filterbar a { padding: 3px 12px; border: 1px solid var(--line-strong); border-radius: 999px; font-size: 0.86rem; color: var(--soft); }
.filterbar a[aria-current] { background: var(--accent-ground); color: var(--accent); border-color: var(--accent); }
.signin { min-height: 100vh; display: grid; place-items: center; padding: 20px; }
.signin .card { width: min(420px, 100%); padding: 28px; margin: 0; overflow: visible; }
.signin .brand { padding: 0; }
.signin h1 { font-size: 1.15rem; margin-top: 18px; }
.signin form { display: grid; gap: 14px; margin-top: 18px; }
@media (max-width: 820px) {
  .frame { display: block; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 12px; gap: 10px; }
  .side footer { display: flex; align-items: center; gap: 12px; margin: 0; }
  .side form { margin: 0; }
  nav ul { flex-direction: row; flex-wrap: wrap; }
  main { padding: 18px 14px 40px; }
  th, td { padding: 9px 12px; }
  .fields { grid-template-columns: 1fr; }
  .stats { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  dl { grid-template-columns: 1fr; gap: 2px; } dd { margin-bottom: 8px; }
}
@media (prefers-reduced-motion: no-preference) { a, .stat, .button { transition: background-color 0.12s, border-color 0.12s; } }
`;
