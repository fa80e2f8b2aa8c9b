// Raw records of a round or a turn, with their places in the log. The table of records is parsed
// when its first record is shown.

import { type Child, html } from '../../../page/kit/html.ts'
import { folded, more, quote } from '../../../page/kit/parts.ts'
import { count, elapsed } from '../../../terminal/text/quantities.ts'
import type { Places, RecordTable, ReportData } from '../data.ts'

export type RecordsView = { block(places: Places): Child }

/** The number of records to show at once: a long stream has thousands of parts. */
const shownMax = 60

/** `read`: parses the table. */
export function recordsView(read: () => RecordTable, data: ReportData): RecordsView {
  let table: RecordTable | undefined
  return {
    block([from, to]) {
      if (to <= from) return null
      return folded('records', count(to - from, 'raw record'), () => {
        table ??= read()
        const shown = table
        const base = Number(shown.rows[from]?.[2] ?? 0)
        const lines = (first: number, end: number) =>
          shown.rows.slice(first, end).map((row) => recordView(shown, row, data, base))
        const end = Math.min(to, from + shownMax)
        return html`<div class="record-list">
          ${lines(from, end)} ${end < to && more(`Show ${to - end} more`, () => lines(end, to))}
        </div>`
      })
    },
  }
}

function recordView(
  table: RecordTable,
  row: (string | number)[],
  { partition, topicPrefix, imported }: ReportData,
  base: number,
): Child {
  const [topic, offset, time, id, type, ...fields] = row
  const shape = table.types[Number(type)]
  const address = `${topicPrefix}${table.topics[Number(topic)]}/${partition}/${offset}`
  const word =
    shape?.type ??
    (type === -2 ? 'left out: the page would be too large' : 'cannot be decoded by this Weir')
  const late = Number(time) - base
  const after = imported === null && `${late < 0 ? '−' : '+'}${elapsed(Math.abs(late))}`
  const summary = html`<code class="address">${address}</code>
    <span class=${shape === undefined ? 'warning' : ''}>${word}</span>
    <span class="faint digits">${after}</span>`
  return folded('record', summary, () => {
    const body = Object.fromEntries(
      (shape?.fields ?? []).map((field, index) => [field, table.values[Number(fields[index])]]),
    )
    const about = id === '' ? 'observed' : `derived, id ${id}`
    return html`
      <p class="faint note">
        ${new Date(Number(time)).toISOString()}${imported === null ? '' : ' (made up)'}, ${about}
      </p>
      ${quote(JSON.stringify(body, null, 2), 'json')}`
  })
}
