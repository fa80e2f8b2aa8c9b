// The page of a sweep: the savings and the denied calls of each value of a threshold.

import { render } from 'preact'
import { html } from '../../page/kit/html.ts'
import { wideTable } from '../../page/kit/parts.ts'
import { chart, type Series } from '../../page/kit/plot.ts'
import { cellsOf, headsOf, isUnknown, notesOf, type SweepPage } from '../sweep-table.ts'

function start(node: HTMLElement): void {
  const sweep: SweepPage = JSON.parse(document.getElementById('sweep')?.textContent ?? '')
  const draw = () => render(view(sweep), node)
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

const page = document.getElementById('page')
if (page !== null) start(page)
