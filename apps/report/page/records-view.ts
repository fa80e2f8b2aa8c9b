// Raw records of a round or a turn, with their places in the log. The table of records is parsed
// when its first record is shown.

import { count, elapsed } from '../../terminal/text/quantities.ts'
import type { Places, RecordTable, ReportData } from './data.ts'
import { element, fill } from './element.ts'
import { quote } from './words.ts'

export type RecordsView = {
  block(data: ReportData, places: Places): HTMLElement | null
}

/** The number of records to show at once: a long stream has thousands of parts. */
const shownMax = 60

/** `read`: parses the table. */
export function recordsView(read: () => RecordTable): RecordsView {
  let table: RecordTable | undefined

  function list(data: ReportData, from: number, to: number, base: number): HTMLElement[] {
    table ??= read()
    return table.rows
      .slice(from, to)
      .map((row) => recordNode(table as RecordTable, row, data, base))
  }

  return {
    block(data, [from, to]) {
      if (to <= from) return null
      const body = element('div', { class: 'record-list' })
      const node = element(
        'details',
        { class: 'records' },
        element('summary', {}, `${count(to - from, 'raw record')}`),
        body,
      )
      node.addEventListener('toggle', () => {
        if (!node.open || body.childElementCount > 0) return
        table ??= read()
        const base = Number(table.rows[from]?.[2] ?? 0)
        const end = Math.min(to, from + shownMax)
        fill(body, list(data, from, end, base), end < to && moreButton(data, end, to, base))
      })
      return node
    },
  }

  function moreButton(data: ReportData, from: number, to: number, base: number): HTMLElement {
    const button = element('button', { type: 'button', class: 'more' }, `Show ${to - from} more`)
    button.addEventListener('click', () => button.replaceWith(...list(data, from, to, base)))
    return button
  }
}

function recordNode(
  table: RecordTable,
  row: (string | number)[],
  data: ReportData,
  base: number,
): HTMLElement {
  const { partition, topicPrefix, imported } = data
  const [topic, offset, time, id, type, ...fields] = row
  const shape = table.types[Number(type)]
  const address = `${topicPrefix}${table.topics[Number(topic)]}/${partition}/${offset}`
  const word =
    shape?.type ??
    (type === -2 ? 'left out: the page would be too large' : 'cannot be decoded by this Weir')
  const late = Number(time) - base
  const node = element(
    'details',
    { class: 'record' },
    element(
      'summary',
      {},
      element('code', { class: 'address' }, address),
      element('span', { class: shape === undefined ? 'warning' : '' }, word),
      element(
        'span',
        { class: 'faint digits' },
        imported === null && `${late < 0 ? '−' : '+'}${elapsed(Math.abs(late))}`,
      ),
    ),
  )
  node.addEventListener('toggle', () => {
    if (!node.open || node.childElementCount > 1) return
    const body = Object.fromEntries(
      (shape?.fields ?? []).map((field, index) => [field, table.values[Number(fields[index])]]),
    )
    const about = id === '' ? 'observed' : `derived, id ${id}`
    node.append(
      element(
        'p',
        { class: 'faint note' },
        `${new Date(Number(time)).toISOString()}${imported === null ? '' : ' (made up)'}, ${about}`,
      ),
      quote(JSON.stringify(body, null, 2), 'json'),
    )
  })
  return node
}
