// The pages of a replay: of a sweep, with the savings and the denied calls of each value of a threshold,
// and of a scan.

import { render } from 'preact'
import { html } from '../../page/kit/html.ts'
import { wideTable } from '../../page/kit/parts.ts'
import { chart, type Series } from '../../page/kit/plot.ts'
import type { ScanScreen } from '../scan/scan-screen.ts'
import { cellsOf, headsOf, isUnknown, notesOf, type SweepPage } from '../sweep-table.ts'

function start(node: HTMLElement): void {
  const scan = document.getElementById('scan')?.textContent
  const sweep = document.getElementById('sweep')?.textContent ?? ''
  const data: SweepPage | ScanScreen = JSON.parse(scan ?? sweep)
  const draw = () => render('verdict' in data ? scanView(data) : view(data), node)
  node.replaceChildren()
  addEventListener('resize', draw)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  draw()
}

function view(sweep: SweepPage) {
  const { key, rows } = sweep
  const series: Series[] = [
    {
      colour: 'good',
      shape: 'line',
      values: rows.map((row) => (isUnknown(row) ? null : row.roundsSaved)),
    },
    { colour: 'bad', shape: 'line', values: rows.map(({ falseAlarms }) => falseAlarms) },
  ]
  const values = rows.map(({ value }) => value)
  return html`<main class="index">
    <p class="origin"><span class="wordmark">weir replay</span></p>
    <h1 class="sentence">Savings and denied calls by the value of <code>${key}</code></h1>
    <figure>
      <div class="chart" aria-hidden="true" ref=${chart(values, series, { x: 'numbers' })}></div>
      <figcaption>
        <span class="series good">rounds saved in that turn, at most</span>
        <span class="series bad">good calls denied</span>
      </figcaption>
    </figure>
    ${wideTable(`Values of ${key}`, {
      rows: rows.map(cellsOf),
      columns: headsOf(key).map((title, place) => ({
        title,
        class: 'digits',
        cell: (cells: string[]) => cells[place],
      })),
    })}
    ${notesOf(sweep).map((note) => html`<p class="faint">${note}</p>`)}
  </main>`
}

function scanView({ agents, verdict, loops, lists, notes, commands }: ScanScreen) {
  return html`<main class="index">
    <p class="origin"><span class="wordmark">weir scan</span></p>
    <h1 class=${`sentence ${verdict.isBad ? 'bad' : 'good'}`}>${verdict.text}</h1>
    ${agents.map((text) => html`<p>${text}</p>`)}
    ${loops.map(
      ({ title, reason, file }) => html`<section>
        <h2>${title}</h2>
        <p>${reason}</p>
        <p class="faint"><code>${file}</code></p>
      </section>`,
    )}
    ${lists.map(
      ({ title, lines }) => html`<section>
        <h2>${title}</h2>
        <ul>${lines.map((text) => html`<li>${text}</li>`)}</ul>
      </section>`,
    )}
    ${notes.map((text) => html`<p class="faint">${text}</p>`)}
    ${commands.map((text) => html`<p><code>${text}</code></p>`)}
  </main>`
}

const page = document.getElementById('page')
if (page !== null) start(page)
